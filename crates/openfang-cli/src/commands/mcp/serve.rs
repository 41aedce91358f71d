//! `openfang mcp`: the MCP server on standard input and output, for an IDE. Only the protocol goes to standard output.

use std::io::IsTerminal as _;
use std::sync::Arc;

use openfang_kernel::SystemClock;
use openfang_kernel::mcp::serving::{HouseHost, Parts, Server, Shared};
use openfang_kernel::mcp::{HomeSeal, View};
use openfang_types::limits::Limits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::args::McpArgs;
use crate::error::{CliError, Exit};
use crate::mcp::{McpBackend, McpHouse};
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
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    let seal = HomeSeal::open(&session.home)?;
    let server = Server::new(Parts {
        host: HouseHost::new(McpHouse::new(Arc::clone(session), backend, tracker.clone()), view(args))
            .of_instance(seal.instance()),
        seal: Arc::new(seal),
        clock: Arc::new(SystemClock),
        tracker: tracker.clone(),
        stop: stop.clone(),
        shared: Shared::new(&Limits::default()),
    });
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let serve = server.serve_stdio((), tokio::io::stdin(), tokio::io::stdout());
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
    tracker.close();
    tracker.wait().await;
    served?;
    Ok(Exit::Ok)
}

fn view(args: McpArgs) -> View {
    match (args.agent, args.tools) {
        (Some(name), tools) => View::Agent { name, tools },
        (None, true) => View::Everything,
        (None, false) => View::Agents,
    }
}
