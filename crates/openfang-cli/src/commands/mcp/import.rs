//! `openfang mcp import`: the MCP servers of other programs, shown first and written when that was wanted.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

use openfang_kernel::config_edit::Existing;
use openfang_kernel::config_file;
use openfang_kernel::mcp_control::preview;
use openfang_types::config::McpServerConfigEntry;
use openfang_types::limits::MCP_IMPORT_FILE_BYTES;
use serde_json::{Value, json};

use super::look;
use crate::args::ImportArgs;
use crate::backend::Servers;
use crate::error::{CliError, Exit};
use crate::import::{self, Client, Found, Planned, Source, What};
use crate::output::one_line;
use crate::session::Session;

type Plan = Vec<(Source, Vec<Planned>)>;

pub(super) async fn run(session: &Session, args: ImportArgs) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let known = session.config(&[])?.mcp_servers;
    let found = found(session, args.from.as_deref())?;
    let plan = import::plan(found, &known, session.config(&[])?.api_listen);
    let adds: Vec<McpServerConfigEntry> = plan.iter().flat_map(|(_, planned)| planned).filter_map(added).collect();
    if !session.output.is_json() {
        show(session, &plan)?;
    }
    let is_wanted = args.yes || (!adds.is_empty() && !session.output.is_json() && agrees(session, adds.len())?);
    let mut written = Vec::new();
    for entry in adds.iter().filter(|_| is_wanted) {
        match servers.add(entry.clone(), Existing::Keep).await {
            Ok(_) => written.push(entry.name.clone()),
            Err(error) => session.output.error(&error),
        }
    }
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "files": plan.iter().map(document).collect::<Vec<_>>(), "written": written }))?;
    } else if !written.is_empty() {
        let path = session.home.config();
        session.output.text(&format!("wrote {} servers to {}", written.len(), path.display()))?;
        session
            .output
            .note(&format!("see how they are doing with `{}`", session.command("mcp list")));
    }
    if adds.is_empty() || is_wanted {
        return Ok(if written.len() == adds.len() { Exit::Ok } else { Exit::Failed });
    }
    session
        .output
        .note(&format!("nothing was written; `{}` writes", session.command("mcp import --yes")));
    Ok(Exit::Usage)
}

/// What the files say. A file that makes no sense is an error only if it was named.
fn found(session: &Session, from: Option<&str>) -> Result<Vec<(Source, Vec<Found>)>, CliError> {
    let directories = config_file::directories();
    let here = std::env::current_dir().ok();
    let mut sources = import::places(&directories, here.as_deref());
    if let Some(from) = from {
        match Client::ALL.into_iter().find(|client| client.word() == from) {
            Some(client) => sources.retain(|source| source.client == client),
            None if Path::new(from).exists() => sources = vec![import::source_of_file(Path::new(from))],
            None => {
                let words = Client::ALL.map(Client::word).join(", ");
                return Err(CliError::Usage(format!(
                    "there is no file {from}; name one that is there, or one of {words}"
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
                    "{} cannot be taken over: {}; correct it first",
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
            "nothing was found; name a file with --from. Looked at: {}",
            places.join(", ")
        )));
    }
    Ok(found)
}

fn path(source: &Source) -> String {
    one_line(&source.path.display().to_string())
}

/// None where there is no file. One that is far too large holds no settings.
fn text_of(path: &Path) -> Result<Option<String>, CliError> {
    let unusable = |why: &dyn std::fmt::Display| {
        CliError::Usage(format!("{} cannot be read: {why}; choose what to import with --from", path.display()))
    };
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => Ok(None),
        Ok(file) if file.len() > MCP_IMPORT_FILE_BYTES => Err(unusable(&"it is too large")),
        Ok(_) => std::fs::read_to_string(path).map(Some).map_err(|cause| unusable(&cause)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(unusable(&cause)),
    }
}

fn added(planned: &Planned) -> Option<McpServerConfigEntry> {
    match &planned.what {
        What::Add(usable) => Some(usable.entry.clone()),
        What::Skip(_) => None,
    }
}

fn show(session: &Session, plan: &Plan) -> Result<(), CliError> {
    let output = &session.output;
    for (source, planned) in plan.iter().filter(|(_, planned)| !planned.is_empty()) {
        output.text(&format!("{}, {}", source.client.title(), path(source)))?;
        for Planned { name, what } in planned {
            match what {
                What::Skip(why) => output.text(&format!("  - {}: {}", one_line(name), one_line(why)))?,
                What::Add(usable) => {
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
        output.note("no MCP servers of other programs were found; name a file with --from");
    }
    Ok(())
}

fn document((source, planned): &(Source, Vec<Planned>)) -> Value {
    let server = |planned: &Planned| match &planned.what {
        What::Skip(why) => json!({ "name": planned.name, "skipped": why }),
        What::Add(usable) => {
            let (entry, given) = preview(&usable.entry);
            json!({ "name": planned.name, "entry": entry, "given": given, "remarks": usable.remarks })
        }
    };
    let servers: Vec<Value> = planned.iter().map(server).collect();
    json!({ "client": source.client.word(), "path": source.path, "servers": servers })
}

/// Asks whoever sits at the terminal; nobody else is asked.
fn agrees(session: &Session, count: usize) -> Result<bool, CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    let path = session.home.config();
    session
        .output
        .question(&format!("Write these {count} servers to {}? [y/N] ", path.display()));
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(CliError::Input)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
