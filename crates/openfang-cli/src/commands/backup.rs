//! `openfang backup`: copies a consistent snapshot of the database while other processes use it, and the files beside it.

use std::path::Path;

use openfang_kernel::home::create_private_directory;
use openfang_kernel::maintenance;
use serde_json::json;

use super::restore::copy;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// The names in a backup directory.
pub(super) const DATABASE: &str = "openfang.db";
pub(super) const CONFIG: &str = "config.toml";
pub(super) const AGENTS: &str = "agents";
pub(super) const SECRET_KEY: &str = "secret.key";
pub(super) const SECRETS: &str = "secrets.json";
/// What is remembered of MCP servers: their tools, and which definitions were accepted.
pub(super) const MCP: &str = "mcp";
/// What is remembered of external agents: their cards, and which were accepted.
pub(super) const A2A: &str = "a2a";
/// The skills of the operator.
pub(super) const SKILLS: &str = "skills";
/// Which skills are trusted, and their private copies.
pub(super) const SKILL_TRUST: &str = "skill_trust";

/// Writes a directory with everything, or with a name that ends in `.db` the database alone.
pub(super) fn run(session: &Session, to: &Path, with_key: bool) -> Result<Exit, CliError> {
    let is_database = to.extension().is_some_and(|kind| kind == "db");
    if is_database && with_key {
        return Err(CliError::Usage("--with-key needs a directory; leave out the ending .db".to_owned()));
    }
    let bytes = if is_database { maintenance::backup(&session.home, to)? } else { directory(session, to, with_key)? };
    let output = &session.output;
    if output.is_json() {
        output.document(&json!({ "path": to, "bytes": bytes }))?;
        return Ok(Exit::Ok);
    }
    output.text(&format!("wrote {} ({bytes} bytes of database)", to.display()))?;
    output.note(match (is_database, with_key) {
        (true, _) => "config.toml, agents and data/secret.key are not included",
        (false, true) => {
            "it contains secret.key: whoever has it can forge tokens of this server and open its stored secrets"
        }
        (false, false) => {
            "data/secret.key is not included, and stored secrets cannot be opened without it; --with-key adds it"
        }
    });
    output.note(&format!("restore it with `{}`", session.command(&format!("restore {}", to.display()))));
    Ok(Exit::Ok)
}

fn directory(session: &Session, to: &Path, with_key: bool) -> Result<u64, CliError> {
    if to.exists() {
        return Err(CliError::Usage(format!("{} exists already; choose another name", to.display())));
    }
    let home = &session.home;
    create_private_directory(to)?;
    let bytes = maintenance::backup(home, &to.join(DATABASE))?;
    let mut files = vec![
        (home.config(), CONFIG),
        (home.agents(), AGENTS),
        (home.secrets(), SECRETS),
        (home.mcp(), MCP),
        (home.external_agents(), A2A),
        (home.skills(), SKILLS),
        (home.skill_data(), SKILL_TRUST),
    ];
    if with_key {
        files.push((home.secret_key(), SECRET_KEY));
    }
    for (from, name) in files.into_iter().filter(|(from, _)| from.exists()) {
        copy(&from, &to.join(name))?;
    }
    Ok(bytes)
}
