//! `openfang secret`: secrets that entries refer to as `${secret:NAME}`. Values come in and never go out.

use openfang_kernel::SystemClock;
use openfang_kernel::vault::{SecretUser, SecretView};
use openfang_types::clock::Clock as _;
use openfang_types::ids::SecretName;
use openfang_types::secret::Secret;
use serde_json::json;

use super::argument_or_stdin;
use crate::args::SecretCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::Table;
use crate::prompt;
use crate::session::Session;
use crate::times::ago;

pub(super) async fn run(session: &Session, command: SecretCommand) -> Result<Exit, CliError> {
    match command {
        SecretCommand::Set { name } => set(session, &name).await,
        SecretCommand::List => list(session).await,
        SecretCommand::Remove { name } => remove(session, &name).await,
        SecretCommand::Allow { name, user } => allow(session, &name, user).await,
    }
}

async fn set(session: &Session, name: &SecretName) -> Result<Exit, CliError> {
    let value = value_of(session, name)?;
    let secret = Backend::open(session).await?.set_secret(name, value).await?;
    if session.output.is_json() {
        session.output.document(&secret)?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("stored {name}"))?;
    if secret.uses.is_empty() {
        session.output.note(&format!(
            "write ${{secret:{name}}} in a header, in env or in a URL of an MCP server or an A2A agent, or as the api_key of a provider"
        ));
    }
    Ok(Exit::Ok)
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let secrets = Backend::open(session).await?.secrets().await?;
    if session.output.is_json() {
        session.output.document(&json!({ "secrets": secrets }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["SECRET", "STORED", "LAST USED", "USED BY"]);
    let now = SystemClock.now();
    for secret in &secrets {
        let used = secret.last_used.map_or_else(|| "never".to_owned(), |at| ago(at, now));
        table.row([(&secret.name).into(), ago(secret.created_at, now).into(), used.into(), users(secret).into()]);
    }
    session.output.table(&table)?;
    if secrets.is_empty() {
        let set = session.command("secret set NAME");
        session.output.note(&format!("no secrets; store one with `{set}`"));
    }
    Ok(Exit::Ok)
}

async fn remove(session: &Session, name: &SecretName) -> Result<Exit, CliError> {
    Backend::open(session).await?.remove_secret(name).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "removed": name }))?;
    } else {
        session.output.text(&format!("removed {name}"))?;
    }
    Ok(Exit::Ok)
}

async fn allow(session: &Session, name: &SecretName, user: SecretUser) -> Result<Exit, CliError> {
    let secret = Backend::open(session).await?.allow_secret(name, user).await?;
    if session.output.is_json() {
        session.output.document(&secret)?;
    } else {
        session.output.text(&format!("{name} is used by {}", users(&secret)))?;
    }
    Ok(Exit::Ok)
}

fn users(secret: &SecretView) -> String {
    match secret.uses.as_slice() {
        [] => "nobody yet".to_owned(),
        uses => uses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The value: typed without an echo, or all of standard input.
fn value_of(session: &Session, name: &SecretName) -> Result<Secret, CliError> {
    if prompt::can_ask() {
        return prompt::secret(&session.output, &format!("the value of {name}: ")).map(Secret::new);
    }
    argument_or_stdin("-".to_owned()).map(Secret::new)
}
