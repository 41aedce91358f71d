//! `openfang mcp`: the MCP server on standard input and output, for an IDE. Only the protocol goes to standard output.

use std::io::IsTerminal as _;
use std::sync::Arc;

use openfang_kernel::mcp::View;
use openfang_types::ids::AgentName;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::McpArgs;
use crate::commands::connect;
use crate::error::{CliError, Exit};
use crate::mcp::McpBackend;
use crate::mcp::endpoint::{Content, Endpoint};
use crate::mcp::relay::Relay;
use crate::session::Session;
use crate::signals::Signals;

/// The text for somebody who runs this in a terminal: the entry for an IDE, as `openfang connect` writes it.
fn explanation(session: &Session, args: &McpArgs) -> Result<String, CliError> {
    let command = connect::program()?.display().to_string();
    let mut words = connect::arguments(session, args.agent.as_ref().map(AgentName::as_str), args.profile.as_ref());
    if args.lazy {
        words.retain(|word| word != "--tools");
        words.push("--lazy".to_owned());
    }
    if let Some(server) = &args.server {
        words.retain(|word| word != "--tools");
        words.extend(["--server".to_owned(), server.to_string()]);
    }
    let args = words;
    let entry = json!({ "mcpServers": { "openfang": { "command": command, "args": args } } });
    let connect = session.command("connect");
    Ok(format!(
        "This is an MCP server for an IDE to start. It speaks JSON-RPC on standard input and output.
`{connect}` writes it into the settings of your IDE. By hand, add this to Cursor, Claude Desktop or Claude Code:

{entry:#}

VS Code uses \"servers\" instead of \"mcpServers\". To try it here, type one message per line; Ctrl-D ends it."
    ))
}

pub(super) async fn run(session: &Arc<Session>, args: McpArgs) -> Result<Exit, CliError> {
    if std::io::stdin().is_terminal() {
        session.output.announce(&explanation(session, &args)?);
    }
    let backend = McpBackend::open(session).await?;
    if let Some(agent) = &args.agent {
        backend.check_agent(agent).await?;
    }
    let (endpoint, stop) = (endpoint(args), CancellationToken::new());
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let serve = serve(session, backend, endpoint, stop.clone());
    tokio::pin!(serve);
    let served = tokio::select! {
        served = &mut serve => served,
        _ = signals.next() => {
            stop.cancel();
            tokio::select! {
                served = &mut serve => served,
                // A second one may not wait.
                again = signals.next() => return Ok(again.exit()),
            }
        }
    };
    served?;
    Ok(Exit::Ok)
}

async fn serve(
    session: &Arc<Session>,
    backend: McpBackend,
    endpoint: Endpoint,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let served = match backend {
        McpBackend::Daemon(daemon) => {
            endpoint.check(&daemon).await?;
            Relay::serve((session, endpoint, daemon), (input, output), stop).await
        }
        McpBackend::InProcess(kernel, caller) => {
            let server = endpoint.open(&kernel, caller).await?;
            let stopped = async {
                stop.cancelled().await;
                kernel.begin_drain();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                served = server.serve(input, output) => served,
                () = stopped => Ok(()),
            }
        }
    };
    Ok(served?)
}

fn endpoint(args: McpArgs) -> Endpoint {
    let is_lazy = args.lazy;
    let content = match (args.server, args.agent, args.tools || is_lazy) {
        (Some(server), _, _) => Content::Server(server),
        (None, Some(name), tools) => Content::Home(View::Agent { name, tools }),
        (None, None, true) => Content::Home(View::Everything),
        // A profile names tools, so they are shown.
        (None, None, false) if args.profile.is_some() => Content::Home(View::Everything),
        (None, None, false) => Content::Home(View::Agents),
    };
    let content = match content {
        Content::Home(view) if is_lazy => Content::Home(View::Lazy(Box::new(view))),
        content => content,
    };
    Endpoint { content, profile: args.profile }
}
