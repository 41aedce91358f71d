//! Imports MCP servers from the settings of other programs.
//!
//! `clients` lists the files, `json` and `codex` parse them, `variables` translates `${...}`, and [`plan`] decides which
//! servers are added. Nothing is written here.

use std::net::SocketAddr;
use std::path::Path;

use openfang_types::config::{McpServerConfigEntry, McpTransportEntry, ToolPattern, ToolSelection};
use openfang_types::ids::ServerName;

use crate::clients::Source;

mod codex;
mod json;
mod jsonc;
mod variables;

/// A server in the settings of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignServer {
    /// Its name in those settings.
    pub(crate) name: String,
    /// The entry, under a provisional name, or the reason why it cannot be imported.
    pub(crate) server: Result<ImportableServer, String>,
}

/// A server that can be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportableServer {
    pub(crate) entry: McpServerConfigEntry,
    /// The differences from the original settings.
    pub(crate) remarks: Vec<String>,
}

/// A server and the decision about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanEntry {
    /// Its name in the settings of the other program.
    pub(crate) name: String,
    pub(crate) decision: Decision,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The server is added.
    Add(Box<ImportableServer>),
    /// The server is skipped, with the reason.
    Skip(String),
}

/// Reads a settings file. `home` is the user's home directory.
pub(crate) fn read(source: &Source, text: &str, home: Option<&Path>) -> Result<Vec<ForeignServer>, String> {
    if source.path.extension().is_some_and(|extension| extension == "toml") {
        return codex::read(text);
    }
    json::read(source, text, home)
}

/// Decides, file by file, which servers are added beside the known ones.
pub(crate) fn plan(
    found: Vec<(Source, Vec<ForeignServer>)>,
    known: &[McpServerConfigEntry],
    ourselves: SocketAddr,
) -> Vec<(Source, Vec<PlanEntry>)> {
    let mut taken: Vec<McpServerConfigEntry> = known.to_vec();
    let is_known = |name: &ServerName| known.iter().any(|entry| entry.name == *name);
    let mut decide = |found: ForeignServer| {
        let ForeignServer { name, server } = found;
        let decision = match server {
            Err(why) => Decision::Skip(why),
            Ok(usable) if is_ourselves(&usable.entry, ourselves) => Decision::Skip("it is openfang itself".to_owned()),
            Ok(ImportableServer { entry, .. }) if entry.own_variable().is_some() => Decision::Skip(format!(
                "it uses {}, a variable of OpenFang itself, which no server may have",
                entry.own_variable().unwrap_or_default()
            )),
            Ok(ImportableServer { entry, .. }) if !entry.secrets().is_empty() => Decision::Skip(
                "it refers to a secret of OpenFang, which the settings of other programs cannot do".to_owned(),
            ),
            Ok(usable) if is_known(&usable.entry.name) => {
                Decision::Skip(format!("a server {} already exists", usable.entry.name))
            }
            Ok(mut usable) => match taken.iter().find(|held| is_same(held, &usable.entry)) {
                Some(held) => Decision::Skip(format!("it is the same as {}", held.name)),
                None => {
                    usable.entry.name = free_name(&usable.entry.name, &taken);
                    if usable.entry.name.as_str() != name {
                        usable.remarks.insert(0, format!("renamed to {}", usable.entry.name));
                    }
                    taken.push(usable.entry.clone());
                    Decision::Add(Box::new(usable))
                }
            },
        };
        PlanEntry { name, decision }
    };
    let mut planned = Vec::new();
    for (source, servers) in found {
        planned.push((source, servers.into_iter().map(&mut decide).collect()));
    }
    planned
}

/// What is relative in a command depends on where the other program was started.
fn relative_path(entry: &McpServerConfigEntry) -> Option<String> {
    let McpTransportEntry::Stdio { command, args } = &entry.transport else { return None };
    let is_relative = |word: &str| word.starts_with("./") || word.starts_with("../");
    let word = std::iter::once(command).chain(args).find(|word| is_relative(word))?;
    let is_placed = entry.cwd.is_some();
    (!is_placed).then(|| format!("{word} is a relative path: set cwd, or write the whole path"))
}

/// Imports the working directory. A relative path depends on where the other program was started.
fn set_directory(entry: &mut McpServerConfigEntry, cwd: String, remark: impl FnOnce(String)) {
    if Path::new(&cwd).is_absolute() || cwd.starts_with("${") {
        entry.cwd = Some(cwd);
    } else {
        remark("its working directory is a relative path and is not imported; set cwd".to_owned());
    }
}

/// Imports the lists of enabled and disabled tools.
fn set_tools(
    entry: &mut McpServerConfigEntry,
    (enabled, disabled): (Vec<String>, Vec<String>),
    remark: impl FnOnce(String),
) {
    let patterns = |names: &[String]| names.iter().map(|name| name.parse()).collect::<Result<Vec<ToolPattern>, _>>();
    match (patterns(&enabled), patterns(&disabled)) {
        (Ok(include), Ok(exclude)) => entry.tools = ToolSelection { include, exclude },
        (Err(error), _) | (_, Err(error)) => remark(format!("its lists of tools are not imported: {error}")),
    }
}

/// Turns a name into a valid server name. Invalid characters become hyphens.
fn valid_name(text: &str) -> Option<ServerName> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name = name.trim_start_matches(['-', '_', '.']);
    let name: String = name.chars().take(openfang_types::limits::SERVER_NAME_MAX_BYTES).collect();
    let name = name.trim_end_matches('-');
    (if name.is_empty() { "server" } else { name }).parse().ok()
}

/// The name, with a number appended if it is in use.
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

/// Whether the entry runs `openfang mcp`, or names the address that this server listens on.
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

/// Parses JSON with comments and trailing commas. The error does not quote the text.
pub(crate) fn parse_json(text: &str) -> Result<serde_json::Value, String> {
    jsonc::parse(text)
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
