//! Which commands can be sent to a server on another machine, and which concern this one.

use openfang_kernel::config_file;

use crate::args::{
    AgentCommand, ApprovalCommand, Command, EventCommand, Global, KeyCommand, McpCommand, ModelCommand, PolicyCommand,
    QueueCommand, ScheduleCommand, SecretCommand, SkillCommand, TaskCommand, ToolCommand, UserCommand,
};
use crate::error::CliError;

/// Where a command does its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// At a server, which may be on another machine.
    Server,
    /// On this machine: its files, programs and processes.
    ThisMachine,
    /// On this machine and without a doubt, so that `OPENFANG_URL` is not meant for it.
    Certainly,
}

/// Settles which server a command is for. A command that concerns this machine refuses `--url`.
pub(crate) fn choose_server(global: &mut Global, command: &Command) -> Result<(), CliError> {
    let reach = reach(command);
    let refused = |by: &str| {
        CliError::Usage(format!("this command works on this machine only, and {by} names another server; leave it out"))
    };
    if global.url.is_some() && (global.in_process || global.trace_wire) {
        return Err(CliError::Usage("--url goes neither with --in-process nor with --trace-wire".to_owned()));
    }
    match (&global.url, config_file::remote_url(), reach) {
        (Some(_), _, Reach::ThisMachine | Reach::Certainly) => Err(refused("--url")),
        (None, Some(_), Reach::ThisMachine) if !global.in_process => Err(refused("OPENFANG_URL")),
        (None, Some(url), Reach::Server) if !global.in_process => {
            global.url = Some(url);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether a command looks at something and changes nothing, so that it needs no home.
pub(crate) fn only_reads(command: &Command) -> bool {
    match command {
        Command::Agent(command) => matches!(command, AgentCommand::List | AgentCommand::Show { .. }),
        Command::Tool(command) => matches!(command, ToolCommand::List { .. } | ToolCommand::Show { .. }),
        Command::Task(command) => {
            matches!(command, TaskCommand::List(_) | TaskCommand::Show { .. } | TaskCommand::Watch { .. })
        }
        Command::User(command) => matches!(command, UserCommand::List),
        Command::Key(command) => matches!(command, KeyCommand::List { .. }),
        Command::Secret(command) => matches!(command, SecretCommand::List),
        Command::Skill(command) => {
            matches!(command, SkillCommand::List | SkillCommand::Show { .. } | SkillCommand::Validate { .. })
        }
        Command::Policy(PolicyCommand::Explain { .. } | PolicyCommand::Test { .. }) | Command::Usage(_) => true,
        Command::Approval(command) => matches!(command, ApprovalCommand::List { .. } | ApprovalCommand::Show { .. }),
        Command::Model(command) => matches!(command, ModelCommand::List | ModelCommand::Show { .. }),
        Command::Queue(command) => matches!(command, QueueCommand::List { .. }),
        Command::Event(command) => matches!(command, EventCommand::List { .. }),
        Command::Schedule(command) => matches!(command, ScheduleCommand::List | ScheduleCommand::Show { .. }),
        Command::Mcp(args) => matches!(args.command, Some(McpCommand::List | McpCommand::Show { .. })),
        Command::A2a(_)
        | Command::Audit(_)
        | Command::Backup { .. }
        | Command::Chat(_)
        | Command::Completions(_)
        | Command::Config(_)
        | Command::Connect(_)
        | Command::Db(_)
        | Command::Demo
        | Command::Doctor(_)
        | Command::Home(_)
        | Command::Init(_)
        | Command::Login { .. }
        | Command::Logout { .. }
        | Command::Logs(_)
        | Command::Manual { .. }
        | Command::Openapi
        | Command::Reload
        | Command::Restore { .. }
        | Command::Service(_)
        | Command::Start(_)
        | Command::Status { .. }
        | Command::Stop => false,
    }
}

/// Whether a subcommand of `mcp` asks a server, or works on files and programs of this machine.
fn reach_of_mcp(command: &McpCommand) -> Reach {
    match command {
        McpCommand::List
        | McpCommand::Show { .. }
        | McpCommand::Test { .. }
        | McpCommand::Restart { .. }
        | McpCommand::Remove { .. }
        | McpCommand::Enable { .. }
        | McpCommand::Disable { .. }
        | McpCommand::Tools { .. }
        | McpCommand::Logs { .. }
        | McpCommand::Review { .. }
        | McpCommand::Accept { .. } => Reach::Server,
        McpCommand::Add(_) | McpCommand::Import(_) => Reach::ThisMachine,
        McpCommand::Search { .. } => Reach::Certainly,
    }
}

fn reach(command: &Command) -> Reach {
    match command {
        Command::Agent(AgentCommand::New(_)) => Reach::ThisMachine,
        Command::A2a(_)
        | Command::Agent(_)
        | Command::Approval(_)
        | Command::Chat(_)
        | Command::Event(_)
        | Command::Key(_)
        | Command::Model(_)
        | Command::Policy(_)
        | Command::Queue(_)
        | Command::Reload
        | Command::Schedule(_)
        | Command::Task(_)
        | Command::Tool(_)
        | Command::Usage(_)
        | Command::User(_) => Reach::Server,
        Command::Mcp(args) => match &args.command {
            None => Reach::Certainly,
            Some(command) => reach_of_mcp(command),
        },
        Command::Completions(_)
        | Command::Config(_)
        | Command::Demo
        | Command::Login { .. }
        | Command::Logout { .. }
        | Command::Manual { .. }
        | Command::Openapi
        | Command::Start(_) => Reach::Certainly,
        Command::Audit(_)
        | Command::Backup { .. }
        | Command::Connect(_)
        | Command::Db(_)
        | Command::Doctor(_)
        | Command::Home(_)
        | Command::Init(_)
        | Command::Logs(_)
        | Command::Restore { .. }
        | Command::Secret(_)
        | Command::Service(_)
        | Command::Skill(_)
        | Command::Status { .. }
        | Command::Stop => Reach::ThisMachine,
    }
}
