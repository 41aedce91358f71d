//! `openfang mcp search`, and `openfang mcp add` of a server of the registry. The whole command is shown before it is written.

use openfang_kernel::config_edit::Existing;
use openfang_kernel::mcp_control::preview;
use openfang_types::ids::{SecretName, ServerName};
use openfang_types::secret::Secret;
use serde_json::json;

use super::{add, look};
use crate::args::McpAddArgs;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Table, one_line};
use crate::prompt::{self, Otherwise};
use crate::registry::{Inputs, Missing, Publication, Registry, RegistryRef, new_entry, published};
use crate::session::Session;

pub(super) async fn search(session: &Session, words: &[String]) -> Result<Exit, CliError> {
    let found = Registry::of(&session.config(&[])?)?.search(&words.join(" ")).await?;
    if session.output.is_json() {
        let row = |found: &Publication| {
            let server = &found.server;
            json!({
                "name": server.name, "version": server.version, "description": server.description,
                "publishedAt": found.published_at(), "status": found.status(),
            })
        };
        session
            .output
            .document(&json!({ "servers": found.iter().map(row).collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "VERSION", "DESCRIPTION"]);
    for Publication { server, .. } in &found {
        table.row([
            one_line(&server.name).into(),
            one_line(&server.version).into(),
            one_line(&server.description).into(),
        ]);
    }
    session.output.table(&table)?;
    session.output.note(&match found.first() {
        Some(first) => {
            format!("add one with `{}`", session.command(&format!("mcp add {}", one_line(&first.server.name))))
        }
        None => "nothing found; the registry compares names only, so try one word of the name".to_owned(),
    });
    Ok(Exit::Ok)
}

/// Adds a server of the registry.
pub(super) async fn add(session: &Session, wanted: &RegistryRef, args: McpAddArgs) -> Result<Exit, CliError> {
    let found = Registry::of(&session.config(&[])?)?.server(wanted).await?;
    if found.status() == "deleted" {
        return Err(CliError::Usage(format!("{} was deleted from the registry", wanted.name)));
    }
    let name = match args.name_here.clone().or_else(|| wanted.server_name()) {
        Some(name) => name,
        None => return Err(CliError::Usage("choose a name with --name".to_owned())),
    };
    add_published(session, found, name, args).await
}

/// Adds a server that is published in a file or at a URL.
pub(super) async fn add_from(
    session: &Session,
    name: ServerName,
    source: &str,
    args: McpAddArgs,
) -> Result<Exit, CliError> {
    let found = published(&session.config(&[])?, source, name.as_str()).await?;
    add_published(session, found, name, args).await
}

/// Shows what would be added, asks, and adds it.
async fn add_published(
    session: &Session,
    found: Publication,
    name: ServerName,
    args: McpAddArgs,
) -> Result<Exit, CliError> {
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let mut given = given(&args)?;
    let published_name = one_line(&found.server.name);
    let unusable = |why: String| CliError::Usage(format!("{published_name} cannot be added: {}", one_line(&why)));
    let mut new = new_entry(&found.server, name.clone(), &given).map_err(unusable)?;
    describe(session, &found);
    if !new.missing.is_empty() {
        ask(session, &name, &new.missing, &mut given).await?;
        new = new_entry(&found.server, name, &given).map_err(unusable)?;
    }
    let entry = add::with_options(new.entry, args.clone())?;
    let (shown, _) = preview(&entry);
    session.output.announce(&format!("it runs: {}", look::way(&shown)));
    if !args.yes && !prompt::confirm(&session.output, &format!("Add {} to config.toml?", entry.name), Otherwise::No)? {
        session.output.note("nothing was written; confirm with --yes");
        return Ok(Exit::Usage);
    }
    add::write(session, entry, existing).await
}

/// Who published what, when, and where its source is.
fn describe(session: &Session, found: &Publication) {
    let server = &found.server;
    let (publisher, _) = server.name.split_once('/').unwrap_or((&server.name, ""));
    let mut text = format!("{} {}: {}", server.name, server.version, server.description);
    text.push_str(&format!("\npublished by {publisher}"));
    if let Some(at) = found.published_at() {
        text.push_str(&format!(", {at}"));
    }
    if let Some(repository) = server.repository.as_ref().filter(|repository| !repository.url.is_empty()) {
        text.push_str(&format!(", {}", repository.url));
    }
    let lines: Vec<String> = text.lines().map(one_line).collect();
    session.output.announce(&lines.join("\n"));
    if found.status() == "deprecated" {
        session.output.complaint("its author does not maintain this version any more");
    }
}

/// Values from the command line: `-e NAME=VALUE`, `-H 'NAME: VALUE'`, and `--input NAME=VALUE` for arguments.
fn given(args: &McpAddArgs) -> Result<Inputs, CliError> {
    let mut given = Inputs::new();
    for text in args.env.iter().chain(&args.input) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (text.as_str(), format!("${{{text}}}")),
        };
        given.insert(name.to_owned(), value);
    }
    for header in &args.header {
        let wrong = || CliError::Usage("--header takes 'NAME: VALUE'".to_owned());
        let (name, value) = header.split_once(':').ok_or_else(wrong)?;
        given.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(given)
}

/// Asks for what is missing. Secrets are stored, and the entry refers to them.
async fn ask(session: &Session, name: &ServerName, missing: &[Missing], given: &mut Inputs) -> Result<(), CliError> {
    if !prompt::can_ask() {
        let names: Vec<String> = missing.iter().map(|one| one_line(&one.name)).collect();
        return Err(CliError::Usage(format!(
            "it needs {}; pass variables with -e NAME=VALUE, headers with -H 'NAME: VALUE' and arguments with --input NAME=VALUE",
            names.join(", ")
        )));
    }
    for one in missing {
        let question = format!("{} ({}): ", one_line(&one.name), one_line(&one.description));
        let value = if one.is_secret {
            let value = Secret::new(prompt::secret(&session.output, &question)?);
            let secret: SecretName = format!("{name}.{}", one.name)
                .parse()
                .map_err(|error| CliError::Usage(format!("{error}")))?;
            Backend::open(session).await?.set_secret(&secret, value).await?;
            format!("${{secret:{secret}}}")
        } else {
            prompt::text(&session.output, &question)?
        };
        given.insert(one.name.clone(), value);
    }
    Ok(())
}
