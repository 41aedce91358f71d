//! `openfang mcp`: the MCP server on standard input and output, for an IDE. Only the protocol goes to standard output.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use openfang_kernel::mcp::View;
use tokio_util::sync::CancellationToken;

use crate::args::McpArgs;
use crate::error::{CliError, Exit};
use crate::mcp::McpBackend;
use crate::mcp::relay::Relay;
use crate::session::Session;
use crate::signals::Signals;

const ON_A_TERMINAL: &str = "\
This is an MCP server for an IDE to start. It speaks JSON-RPC on standard input and output.
Add it to the MCP configuration of Cursor, Claude Desktop or Claude Code:

  { \"mcpServers\": { \"openfang\": { \"command\": \"openfang\", \"args\": [\"mcp\"] } } }

VS Code uses \"servers\" instead of \"mcpServers\". To try it here, type one message per line; Ctrl-D ends it.";

pub(super) async fn run(session: &Arc<Session>, args: McpArgs) -> Result<Exit, CliError> {
    if std::io::stdin().is_terminal() {
        session.output.announce(ON_A_TERMINAL);
    }
    let backend = McpBackend::open(session).await?;
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
