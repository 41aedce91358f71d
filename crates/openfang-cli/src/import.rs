//! MCP servers in the settings of other programs: where these are, what they say, and what of it can be taken over.
//!
//! Everything here is a function of texts. `places` knows the files, `json` and `codex` their forms, `variables` what
//! `${...}` means there, and [`plan`] decides what would be added. Nothing is written here.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use openfang_types::config::{McpServerConfigEntry, McpTransportEntry};
use openfang_types::ids::ServerName;

pub(crate) use places::{Client, Source, places, source_of_file};

mod codex;
mod json;
mod jsonc;
mod places;
mod variables;

/// What a file says of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// What it is called there.
    pub(crate) name: String,
    /// The entry under a name that is not final, or why it cannot be taken over.
    pub(crate) server: Result<Usable, String>,
}

/// A server that can be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usable {
    pub(crate) entry: McpServerConfigEntry,
    /// What is different from how it was there.
    pub(crate) remarks: Vec<String>,
}

/// What would be done with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// What it is called where it comes from.
    pub(crate) name: String,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// It is added.
    Add(Box<Usable>),
    /// It is left out, and why.
    Skip(String),
}

/// Reads a file of a program. `home` is the user's own directory.
pub(crate) fn read(source: &Source, text: &str, home: Option<&Path>) -> Result<Vec<Found>, String> {
    if source.path.extension().is_some_and(|extension| extension == "toml") {
        return codex::read(text);
    }
    json::read(source, text, home)
}

/// Decides what is added of what was found, file by file, beside the servers there are.
pub(crate) fn plan(
    found: Vec<(Source, Vec<Found>)>,
    known: &[McpServerConfigEntry],
    ourselves: SocketAddr,
) -> Vec<(Source, Vec<Planned>)> {
    let mut taken: Vec<McpServerConfigEntry> = known.to_vec();
    let is_known = |name: &ServerName| known.iter().any(|entry| entry.name == *name);
    let mut decide = |found: Found| {
        let Found { name, server } = found;
        let what = match server {
            Err(why) => What::Skip(why),
            Ok(usable) if is_ourselves(&usable.entry, ourselves) => What::Skip("this is openfang itself".to_owned()),
            Ok(Usable { entry, .. }) if entry.own_variable().is_some() => What::Skip(format!(
                "it asks for {}, a variable of openfang itself; no server is given one",
                entry.own_variable().unwrap_or_default()
            )),
            Ok(usable) if is_known(&usable.entry.name) => {
                What::Skip(format!("there is a server {} already", usable.entry.name))
            }
            Ok(mut usable) => match taken.iter().find(|held| is_same(held, &usable.entry)) {
                Some(held) => What::Skip(format!("it is the same as {}", held.name)),
                None => {
                    usable.entry.name = free_name(&usable.entry.name, &taken);
                    if usable.entry.name.as_str() != name {
                        usable.remarks.insert(0, format!("is called {} here", usable.entry.name));
                    }
                    taken.push(usable.entry.clone());
                    What::Add(Box::new(usable))
                }
            },
        };
        Planned { name, what }
    };
    let mut planned = Vec::new();
    for (source, servers) in found {
        planned.push((source, servers.into_iter().map(&mut decide).collect()));
    }
    planned
}

/// A name of another program as one of ours: what we do not take becomes a hyphen.
fn valid_name(text: &str) -> Option<ServerName> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name = name.trim_start_matches(['-', '_', '.']);
    let name: String = name.chars().take(openfang_types::limits::SERVER_NAME_MAX_BYTES).collect();
    let name = name.trim_end_matches('-');
    (if name.is_empty() { "server" } else { name }).parse().ok()
}

/// The name, or the name with a number, as long as another server has it.
fn free_name(name: &ServerName, taken: &[McpServerConfigEntry]) -> ServerName {
    let is_taken = |name: &ServerName| taken.iter().any(|held| held.name == *name);
    let numbered = |number: usize| {
        let ending = format!("-{number}");
        let room = openfang_types::limits::SERVER_NAME_MAX_BYTES - ending.len();
        let kept: String = name.as_str().chars().take(room).collect();
        format!("{kept}{ending}").parse().ok()
    };
    let candidates = std::iter::once(name.clone()).chain((2..=taken.len() + 2).filter_map(numbered));
    candidates.into_iter().find(|name| !is_taken(name)).unwrap_or_else(|| name.clone())
}

fn is_same(held: &McpServerConfigEntry, other: &McpServerConfigEntry) -> bool {
    held.transport == other.transport && held.env == other.env
}

/// `openfang mcp` as a program, or the URL this house listens on.
fn is_ourselves(entry: &McpServerConfigEntry, ourselves: SocketAddr) -> bool {
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => {
            let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
            let words = std::iter::once(program).chain(args.iter().map(String::as_str));
            let mut words = words.skip_while(|word| !matches!(*word, "openfang" | "openfang.exe"));
            words.next().is_some() && words.any(|word| word == "mcp")
        }
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => {
            let authority = url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
            let hosts = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
            let own = std::iter::once(ourselves.ip().to_string()).chain(hosts);
            let ours = own.map(|host| format!("{host}:{}", ourselves.port())).collect::<Vec<_>>();
            authority.is_some_and(|authority| ours.iter().any(|held| held == authority))
        }
    }
}

/// The directory of the project that a file belongs to.
fn project_of(path: &Path) -> Option<PathBuf> {
    let directory = path.parent()?;
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_settings = matches!(name, ".vscode" | ".cursor" | ".zed" | ".codex");
    if is_settings { directory.parent().map(Path::to_owned) } else { Some(directory.to_owned()) }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
