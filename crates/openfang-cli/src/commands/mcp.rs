//! `openfang mcp`: without a subcommand the MCP server for an IDE; its subcommands manage MCP servers.

use std::sync::Arc;

use crate::args::{McpArgs, McpCommand};
use crate::error::{CliError, Exit};
use crate::session::Session;

mod add;
mod choose;
mod import;
mod logs;
mod look;
mod manage;
mod registry;
mod review;
mod serve;

pub(super) use import::import_servers;

pub(super) async fn run(session: &Arc<Session>, args: McpArgs) -> Result<Exit, CliError> {
    let Some(command) = args.command else { return serve::run(session, args).await };
    match command {
        McpCommand::Add(args) => add::run(session, *args).await,
        McpCommand::List => look::list(session).await,
        McpCommand::Show { name } => look::show(session, &name).await,
        McpCommand::Enable { names } => choose::enable(session, &names, true).await,
        McpCommand::Disable { names } => choose::enable(session, &names, false).await,
        McpCommand::Tools { name, choice } => choose::tools(session, &name, choice).await,
        McpCommand::Logs { name, lines, follow } => logs::run(session, &name, lines, follow).await,
        McpCommand::Test { name } => manage::test(session, &name).await,
        McpCommand::Restart { name } => manage::restart(session, &name).await,
        McpCommand::Remove { names } => manage::remove(session, &names).await,
        McpCommand::Review { name } => review::run(session, name.as_ref()).await,
        McpCommand::Accept { name, tool } => manage::accept(session, &name, tool.as_deref()).await,
        McpCommand::Search { words } => registry::search(session, &words).await,
        McpCommand::Import(args) => import::run(session, args).await,
    }
}
