//! `openfang mcp import`: previews the MCP servers of other programs, and writes them after confirmation.

use std::path::Path;

use openfang_kernel::config_edit::Existing;
use openfang_kernel::config_file;
use openfang_kernel::mcp_control::{preview, take_tokens};
use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;
use openfang_types::limits::MCP_IMPORT_FILE_BYTES;
use serde_json::{Value, json};

use super::look;
use crate::args::ImportArgs;
use crate::backend::{Backend, Servers};
use crate::clients::{self, Client, Source};
use crate::error::{CliError, Exit};
use crate::import::{self, Decision, ForeignServer, PlanEntry};
use crate::output::one_line;
use crate::prompt::{self, Otherwise};
use crate::session::Session;

type Plan = Vec<(Source, Vec<PlanEntry>)>;

pub(super) async fn run(session: &Session, args: ImportArgs) -> Result<Exit, CliError> {
    let plan = planned(session, args.from.as_deref())?;
    let adds = plan.iter().flat_map(|(_, planned)| planned).filter_map(added).count();
    if !session.output.is_json() {
        show(session, &plan)?;
    }
    let wanted = wanted(session, &plan, args.yes)?;
    let tokens = if args.keep_tokens { Tokens::Keep } else { Tokens::Store };
    let written = write(session, &wanted, tokens, args.yes).await?;
    if session.output.is_json() {
        let names: Vec<&ServerName> = written.iter().map(|entry| &entry.name).collect();
        session
            .output
            .document(&json!({ "files": plan.iter().map(document).collect::<Vec<_>>(), "written": names }))?;
    }
    if adds == 0 || !wanted.is_empty() {
        return Ok(if written.len() == wanted.len() { Exit::Ok } else { Exit::Failed });
    }
    session
        .output
        .note(&format!("nothing was written; write with `{}`", session.command("mcp import --yes")));
    Ok(Exit::Usage)
}

/// Imports for `openfang init`: without a terminal only if that was asked for. How many servers were written.
pub(in crate::commands) async fn import_servers(session: &Session, is_asked: bool) -> Result<usize, CliError> {
    let plan = planned(session, None)?;
    let adds: Vec<McpServerConfigEntry> = plan.iter().flat_map(|(_, planned)| planned).filter_map(added).collect();
    if adds.is_empty() {
        return Ok(0);
    }
    if !session.output.is_json() {
        show(session, &plan)?;
    }
    let wanted = wanted(session, &plan, is_asked)?;
    if wanted.is_empty() {
        session
            .output
            .note(&format!("found {} MCP servers; import them with --import", adds.len()));
    }
    Ok(write(session, &wanted, Tokens::Store, is_asked).await?.len())
}

fn planned(session: &Session, from: Option<&str>) -> Result<Plan, CliError> {
    let config = session.config(&[])?;
    Ok(import::plan(found(session, from)?, &config.mcp_servers, config.api_listen))
}

/// The servers to write: all of them if that was asked for, else those that are chosen on the terminal.
fn wanted(session: &Session, plan: &Plan, is_asked: bool) -> Result<Vec<McpServerConfigEntry>, CliError> {
    let adds: Vec<McpServerConfigEntry> = plan.iter().flat_map(|(_, planned)| planned).filter_map(added).collect();
    if is_asked || adds.is_empty() {
        return Ok(adds);
    }
    if session.output.is_json() || !prompt::can_ask() {
        return Ok(Vec::new());
    }
    let items: Vec<String> = adds
        .iter()
        .map(|entry| format!("{}: {}", entry.name, look::way(&preview(entry).0)))
        .collect();
    let all: Vec<usize> = (0..adds.len()).collect();
    let chosen = prompt::choose(&session.output, "Import which servers?", &items, &all)?;
    Ok(chosen.into_iter().map(|index| adds[index].clone()).collect())
}

/// What happens with tokens that entries contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tokens {
    /// They are stored as secrets.
    Store,
    /// They are written to config.toml.
    Keep,
}

/// Writes the servers one by one; those that were written.
async fn write(
    session: &Session,
    wanted: &[McpServerConfigEntry],
    tokens: Tokens,
    is_asked: bool,
) -> Result<Vec<McpServerConfigEntry>, CliError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = match tokens {
        Tokens::Store => with_stored_tokens(session, wanted, is_asked).await?,
        Tokens::Keep => wanted.to_vec(),
    };
    let servers = Servers::open(session).await?;
    let mut written = Vec::new();
    for entry in &wanted {
        match servers.add(entry.clone(), Existing::Keep).await {
            Ok(_) => written.push(entry.clone()),
            Err(error) => session.output.error(&error),
        }
    }
    if !session.output.is_json() && !written.is_empty() {
        let path = session.home.config();
        session.output.text(&format!("wrote {} servers to {}", written.len(), path.display()))?;
        session.output.note(&format!("check their state with `{}`", session.command("mcp list")));
    }
    Ok(written)
}

/// The entries with references in the place of their tokens, which are stored as secrets. Asks, unless that was asked for.
async fn with_stored_tokens(
    session: &Session,
    wanted: &[McpServerConfigEntry],
    is_asked: bool,
) -> Result<Vec<McpServerConfigEntry>, CliError> {
    let mut entries = wanted.to_vec();
    let tokens: Vec<_> = entries.iter_mut().flat_map(take_tokens).collect();
    if tokens.is_empty() {
        return Ok(entries);
    }
    let names: Vec<&str> = tokens.iter().map(|(name, _)| name.as_str()).collect();
    let question = format!("Store {} as secrets, instead of writing them to config.toml?", names.join(", "));
    if !is_asked && !prompt::confirm(&session.output, &question, Otherwise::Yes)? {
        return Ok(wanted.to_vec());
    }
    let backend = Backend::open(session).await?;
    for (name, value) in &tokens {
        backend.set_secret(name, value.clone()).await?;
    }
    session
        .output
        .note(&format!("stored {} as secrets; see `{}`", names.join(", "), session.command("secret list")));
    Ok(entries)
}

/// Reads the files. An invalid file is an error only if `--from` named it.
fn found(session: &Session, from: Option<&str>) -> Result<Vec<(Source, Vec<ForeignServer>)>, CliError> {
    let directories = config_file::directories();
    let here = std::env::current_dir().ok();
    let mut sources = clients::places(&directories, here.as_deref());
    if let Some(from) = from {
        match Client::from_word(from) {
            Some(client) => sources.retain(|source| source.client == client),
            None if Path::new(from).exists() => sources = vec![clients::source_of_file(Path::new(from))],
            None => {
                let words = Client::words();
                return Err(CliError::Usage(format!(
                    "no such file: {from}; --from takes an existing file or one of {words}"
                )));
            }
        }
    }
    let mut found = Vec::new();
    for source in &sources {
        let Some(text) = text_of(&source.path)? else { continue };
        match import::read(source, &text, directories.home.as_deref()) {
            Ok(servers) => found.push((source.clone(), servers)),
            Err(why) if from.is_some() => {
                return Err(CliError::Usage(format!(
                    "cannot import {}: {}; correct the file first",
                    path(source),
                    one_line(&why)
                )));
            }
            Err(why) => session.output.note(&format!("{}: {}", path(source), one_line(&why))),
        }
    }
    if from.is_some() && found.is_empty() {
        let places: Vec<String> = sources.iter().map(path).collect();
        return Err(CliError::Usage(format!(
            "no settings found; name a file with --from. Searched: {}",
            places.join(", ")
        )));
    }
    Ok(found)
}

fn path(source: &Source) -> String {
    one_line(&source.path.display().to_string())
}

/// The text of a file, or `None` if it does not exist. A file over the size limit is an error.
fn text_of(path: &Path) -> Result<Option<String>, CliError> {
    let unusable = |why: &dyn std::fmt::Display| {
        CliError::Usage(format!("cannot read {}: {why}; choose what to import with --from", path.display()))
    };
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => Ok(None),
        Ok(file) if file.len() > MCP_IMPORT_FILE_BYTES => Err(unusable(&"it is too large")),
        Ok(_) => std::fs::read_to_string(path).map(Some).map_err(|cause| unusable(&cause)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(unusable(&cause)),
    }
}

fn added(planned: &PlanEntry) -> Option<McpServerConfigEntry> {
    match &planned.decision {
        Decision::Add(usable) => Some(usable.entry.clone()),
        Decision::Skip(_) => None,
    }
}

fn show(session: &Session, plan: &Plan) -> Result<(), CliError> {
    let output = &session.output;
    for (source, planned) in plan.iter().filter(|(_, planned)| !planned.is_empty()) {
        output.text(&format!("{}, {}", source.client.title(), path(source)))?;
        for PlanEntry { name, decision } in planned {
            match decision {
                Decision::Skip(why) => output.text(&format!("  - {}: {}", one_line(name), one_line(why)))?,
                Decision::Add(usable) => {
                    let (entry, given) = preview(&usable.entry);
                    output.text(&format!("  + {}: {}", entry.name, look::way(&entry)))?;
                    for line in given.iter().chain(&usable.remarks) {
                        output.text(&format!("      {}", one_line(line)))?;
                    }
                }
            }
        }
    }
    if plan.iter().all(|(_, planned)| planned.is_empty()) {
        output.note("no MCP servers of other programs found; name a file with --from");
    }
    Ok(())
}

fn document((source, planned): &(Source, Vec<PlanEntry>)) -> Value {
    let server = |planned: &PlanEntry| match &planned.decision {
        Decision::Skip(why) => json!({ "name": planned.name, "skipped": why }),
        Decision::Add(usable) => {
            let (entry, given) = preview(&usable.entry);
            json!({ "name": planned.name, "entry": entry, "given": given, "remarks": usable.remarks })
        }
    };
    let servers: Vec<Value> = planned.iter().map(server).collect();
    json!({ "client": source.client.word(), "path": source.path, "servers": servers })
}
