//! `openfang mcp`: the MCP server on standard input and output, for an IDE. Only the protocol goes to standard output.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use openfang_kernel::mcp::View;
use openfang_types::ids::AgentName;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::McpArgs;
use crate::commands::connect;
use crate::error::{CliError, Exit};
use crate::mcp::McpBackend;
use crate::mcp::relay::Relay;
use crate::session::Session;
use crate::signals::Signals;

/// The text for somebody who runs this in a terminal: the entry for an IDE, as `openfang connect` writes it.
fn explanation(session: &Session, agent: Option<&str>) -> Result<String, CliError> {
    let (command, args) = (connect::program()?.display().to_string(), connect::arguments(session, agent));
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
        let agent = args.agent.as_ref().map(AgentName::as_str);
        session.output.announce(&explanation(session, agent)?);
    }
    let backend = McpBackend::open(session).await?;
    if let Some(agent) = &args.agent {
        backend.check_agent(agent).await?;
    }
    let (view, stop) = (view(args), CancellationToken::new());
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let serve = serve(session, backend, view, stop.clone());
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

async fn serve(session: &Arc<Session>, backend: McpBackend, view: View, stop: CancellationToken) -> io::Result<()> {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    match backend {
        McpBackend::Daemon(daemon) => Relay::serve((session, view, daemon), (input, output), stop).await,
        McpBackend::InProcess(kernel, caller) => {
            let server = kernel.mcp_server(view);
            let stopped = async {
                stop.cancelled().await;
                kernel.begin_drain();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                served = server.serve_stdio(caller, input, output) => served,
                () = stopped => Ok(()),
            }
        }
    }
}

fn view(args: McpArgs) -> View {
    match (args.agent, args.tools) {
        (Some(name), tools) => View::Agent { name, tools },
        (None, true) => View::Everything,
        (None, false) => View::Agents,
    }
}
