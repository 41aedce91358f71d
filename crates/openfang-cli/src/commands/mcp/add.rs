//! `openfang mcp add`: writes an entry to config.toml. A running daemon connects to the server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use openfang_kernel::config_edit::Existing;
use openfang_kernel::mcp_control::McpServerDetails;
use openfang_types::config::{EnvEntry, McpSandbox, McpServerConfigEntry, McpTransportEntry, ToolSelection};
use openfang_types::ids::ServerName;
use openfang_types::limits::{MCP_SETTLE_GRACE, MCP_SETTLE_POLL};
use openfang_types::mcp_status::McpServerState;
use openfang_types::secret::Secret;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{look, registry};
use crate::args::{McpAddArgs, Transport};
use crate::backend::Servers;
use crate::commands::doctor::missing_program;
use crate::error::{CliError, Exit};
use crate::prompt::{self, Otherwise};
use crate::registry::AddTarget;
use crate::session::Session;

pub(super) async fn run(session: &Session, args: McpAddArgs) -> Result<Exit, CliError> {
    let name = match args.name.clone() {
        AddTarget::Named(name) => match args.from.clone() {
            Some(source) => return registry::add_from(session, name, &source, args).await,
            None => name,
        },
        AddTarget::Registry(wanted) => return registry::add(session, &wanted, args).await,
    };
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let entry = entry_of(name, args)?;
    write(session, entry, existing).await
}

/// Writes an entry to config.toml, and says what became of the server.
pub(super) async fn write(
    session: &Session,
    entry: McpServerConfigEntry,
    existing: Existing,
) -> Result<Exit, CliError> {
    let servers = Servers::open(session).await?;
    let added = servers.add(entry, existing).await?;
    let output = &session.output;
    let path = session.home.config();
    let name = added.configured.name.clone();
    output.announce(&format!("wrote {name} to {}: {}", path.display(), look::way(&added.configured)));
    let added = if servers.is_daemon() { settled(session, &servers, added).await? } else { added };
    // Without a daemon nothing is connected, but a program that is not there will not be there for the daemon either.
    let missing = if servers.is_daemon() { None } else { missing_program(session, &added.configured) };
    let is_broken = added.connected.state == McpServerState::Failed || missing.is_some();
    let exit = if is_broken { Exit::Failed } else { Exit::Ok };
    if output.is_json() {
        output.document(&json!({ "path": path, "server": added, "problem": missing }))?;
        return Ok(exit);
    }
    match &missing {
        Some(why) => output.complaint(&format!("{name} cannot start: {why}")),
        None => look::outcome(session, &added.connected)?,
    }
    let stays = !is_broken || keep_or_remove(session, &servers, &added).await?;
    if stays && !servers.is_daemon() {
        let (test, effect) = (session.command(&format!("mcp test {name}")), session.effect().await);
        output.note(&format!("{effect}. Test the server with `{test}`"));
    }
    Ok(exit)
}

/// Asks whether a server that does not work stays configured, and whether it does. Without a terminal it stays.
async fn keep_or_remove(session: &Session, servers: &Servers, added: &McpServerDetails) -> Result<bool, CliError> {
    let name = &added.configured.name;
    let question = format!("Keep {name} in config.toml? The daemon retries it.");
    if !prompt::can_ask() {
        let remove = session.command(&format!("mcp remove {name}"));
        session.output.note(&format!("remove it with `{remove}`"));
    } else if !prompt::confirm(&session.output, &question, Otherwise::No)? {
        servers.remove(name).await?;
        session.output.text(&format!("removed {name} from {}", session.home.config().display()))?;
        return Ok(false);
    }
    Ok(true)
}

/// Waits until the server is ready or has failed.
pub(super) async fn settled(
    session: &Session,
    servers: &Servers,
    mut added: McpServerDetails,
) -> Result<McpServerDetails, CliError> {
    let name = added.configured.name.clone();
    let begun = Instant::now();
    let patience = added.configured.startup_timeout() + MCP_SETTLE_GRACE;
    let mut has_said = false;
    loop {
        let limit = match added.connected.state {
            McpServerState::Starting => patience,
            McpServerState::Configured => MCP_SETTLE_GRACE,
            McpServerState::Ready | McpServerState::Degraded | McpServerState::Failed | McpServerState::Disabled => {
                return Ok(added);
            }
        };
        if begun.elapsed() >= limit {
            return Ok(added);
        }
        if !std::mem::replace(&mut has_said, true) {
            session.output.note(&format!("connecting to {name} ..."));
        }
        sleep(MCP_SETTLE_POLL).await;
        added = servers.show(&name).await?;
    }
}

fn entry_of(name: ServerName, args: McpAddArgs) -> Result<McpServerConfigEntry, CliError> {
    let transport = transport_of(&args)?;
    let env: Vec<EnvEntry> = args.env.iter().cloned().map(EnvEntry::new).collect();
    if env.iter().any(|variable| !is_variable(variable.name())) {
        return Err(CliError::Usage("-e takes NAME or NAME=VALUE, as in -e API_TOKEN".to_owned()));
    }
    with_options(McpServerConfigEntry { env, ..McpServerConfigEntry::new(name, transport) }, args)
}

/// An entry with the options of the command line that do not depend on where the server is.
pub(super) fn with_options(
    mut entry: McpServerConfigEntry,
    args: McpAddArgs,
) -> Result<McpServerConfigEntry, CliError> {
    if let Some(cwd) = args.cwd {
        let absolute =
            std::path::absolute(&cwd).map_err(|error| CliError::Usage(format!("--cwd {}: {error}", cwd.display())))?;
        let text = absolute.into_os_string().into_string();
        entry.cwd = Some(text.map_err(|_| CliError::Usage("--cwd takes a path in UTF-8".to_owned()))?);
    }
    if args.sandbox {
        let absolute = |path: PathBuf| std::path::absolute(&path).map_err(CliError::Input);
        let read = args.read.into_iter().map(absolute).collect::<Result<_, _>>()?;
        let write = args.write.into_iter().map(absolute).collect::<Result<_, _>>()?;
        entry.sandbox = Some(McpSandbox { read, write, network: args.network });
    }
    entry.tools = ToolSelection { include: args.only, exclude: args.except };
    entry.trusted = args.trusted;
    entry.interactive = args.interactive;
    entry.protocol = args.protocol.unwrap_or_default();
    entry.on_change = args.on_change.unwrap_or_default();
    entry.new_tools = args.new_tools.unwrap_or_default();
    entry.timeout_secs = args.timeout.unwrap_or(entry.timeout_secs);
    entry.startup_timeout_secs = args.startup_timeout.unwrap_or(entry.startup_timeout_secs);
    Ok(entry)
}

/// A program after `--`, or a URL.
fn transport_of(args: &McpAddArgs) -> Result<McpTransportEntry, CliError> {
    let wrong = |why: &str| CliError::Usage(why.to_owned());
    let url = args.url.as_ref().or(args.place.as_ref());
    match (args.words.split_first(), url, args.transport) {
        (Some((command, words)), None, None | Some(Transport::Stdio)) => {
            Ok(McpTransportEntry::Stdio { command: command.clone(), args: words.to_vec() })
        }
        (Some(_), ..) => Err(wrong("a program uses the stdio transport; omit --transport")),
        (None, Some(url), _) if !(url.starts_with("http://") || url.starts_with("https://") || url.contains("${")) => {
            Err(wrong(
                "this is not a URL; for a program, write it after `--`, as in `openfang mcp add NAME -- npx -y server`",
            ))
        }
        (None, Some(url), None | Some(Transport::Http)) => {
            Ok(McpTransportEntry::Http { url: url.clone(), headers: headers(&args.header)? })
        }
        (None, Some(url), Some(Transport::Sse)) => {
            Ok(McpTransportEntry::Sse { url: url.clone(), headers: headers(&args.header)? })
        }
        (None, Some(_), Some(Transport::Stdio)) => Err(wrong("a URL uses the transport http or sse")),
        (None, None, _) => Err(wrong(
            "a program or a URL is missing: use `openfang mcp add NAME -- command args`, or `openfang mcp add NAME --url URL`",
        )),
    }
}

/// Parses headers. The error does not quote the text, because the value may be a secret.
fn headers(texts: &[String]) -> Result<BTreeMap<String, Secret>, CliError> {
    let wrong = || CliError::Usage("--header takes 'NAME: VALUE', as in --header 'X-Key: ${KEY}'".to_owned());
    let header = |text: &String| {
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte))
        };
        let name = Some(name.trim()).filter(|name| is_name(name)).ok_or_else(wrong)?;
        Ok((name.to_owned(), Secret::new(value.trim().to_owned())))
    };
    texts.iter().map(header).collect()
}

fn is_variable(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
#[path = "add_tests.rs"]
mod tests;
