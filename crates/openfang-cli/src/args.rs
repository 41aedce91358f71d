//! What can be typed. Every command has a help text with an example.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use openfang_types::ids::{AgentName, TaskId, ToolName};

pub(crate) use audit::{AuditCommand, AuditTailArgs};
pub(crate) use mcp::{ImportArgs, McpAddArgs, McpArgs, McpCommand, Transport};
pub(crate) use task::{TaskCommand, TaskListArgs};
pub(crate) use users::{KeyCommand, KeyCreateArgs, UserAddArgs, UserCommand, UserPasswordArgs};

mod audit;
mod mcp;
mod task;
mod users;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the request was refused, the tool or task failed, or a check found something wrong
  2    wrong usage
  3    `status`: no daemon runs
  64   the configuration or an agent's manifest is wrong
  69   a daemon is needed, or the one there is cannot be reached
  130  stopped at once by a second Ctrl-C (143: by a second SIGTERM)

Examples:
  openfang start
  openfang agent send starter 'Ada'
  openfang tool call add_numbers --args '{\"a\":3,\"b\":7}'";

/// Agents and tools meet here: one daemon, one guarded pipeline, every call visible.
#[derive(Debug, Parser)]
#[command(name = "openfang", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Global {
    /// The directory everything is kept in [default: $OPENFANG_HOME, else ~/.openfang]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON: one document, or one per line for what streams; errors as JSON on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show what goes over the wire to the daemon, without its token
    #[arg(long, global = true)]
    pub(crate) trace_wire: bool,
    /// Do the work in this process, even when a daemon runs
    #[arg(long, global = true)]
    pub(crate) in_process: bool,
    /// How much is logged, to standard error
    #[arg(long, global = true, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) log_level: Option<String>,
    /// Print results and errors only, no remarks
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the daemon, in the foreground; the first run writes the home
    #[command(after_help = "Example:\n  openfang start --listen 127.0.0.1:8080")]
    Start(StartArgs),
    /// Stop the daemon of this home; running work gets its time
    #[command(after_help = "Example:\n  openfang stop")]
    Stop,
    /// Make the daemon of this home take over what config.toml and agents/ say now
    ///
    /// A running daemon does so by itself within seconds, except for what lets more callers in: another api_listen,
    /// allowed_hosts or trusted_proxies, a trusted MCP server, or the last credential gone. A file with a fault changes
    /// nothing. SIGHUP does the same.
    #[command(after_help = "Example:\n  openfang reload --json")]
    Reload,
    /// Say whether a daemon runs, and where (exit code 3 if none does)
    #[command(after_help = "Example:\n  openfang status --json")]
    Status,
    /// Serve MCP on standard input and output, for an IDE to start; or look after the MCP servers of the house
    #[command(
        after_help = "Examples:\n  openfang mcp --tools\n  openfang mcp --agent starter\n  openfang mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/projects"
    )]
    Mcp(McpArgs),
    /// Talk to agents
    #[command(subcommand, after_help = "Example:\n  openfang agent send starter 'Ada'")]
    Agent(AgentCommand),
    /// Look at tools and call them
    #[command(subcommand, after_help = "Example:\n  openfang tool call add_numbers --args '{\"a\":3,\"b\":7}'")]
    Tool(ToolCommand),
    /// Look at tasks, follow and cancel them
    #[command(subcommand, after_help = "Example:\n  openfang task list --state working")]
    Task(TaskCommand),
    /// Look after users: who may use this server from elsewhere, and for what
    #[command(subcommand, after_help = "Example:\n  openfang user add ada --grant 'agent:starter/*'")]
    User(UserCommand),
    /// Make, list and revoke the keys of users
    #[command(subcommand, after_help = "Example:\n  openfang key create ada --label laptop")]
    Key(KeyCommand),
    /// Check and show the configuration
    #[command(subcommand, after_help = "Example:\n  openfang config check")]
    Config(ConfigCommand),
    /// Explain what an agent may do, and why
    #[command(subcommand, after_help = "Example:\n  openfang policy explain starter add_numbers")]
    Policy(PolicyCommand),
    /// Look at the audit log: who did what, and whether anybody has changed it since
    #[command(subcommand, after_help = "Example:\n  openfang audit tail -n 50")]
    Audit(AuditCommand),
    /// Copy the database to a new file, whole and as of now, also while a daemon runs
    #[command(after_help = "Example:\n  openfang backup openfang-backup.db")]
    Backup {
        /// Where to; a file that is there is not overwritten
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Look after the database
    #[command(subcommand, after_help = "Example:\n  openfang db check")]
    Db(DbCommand),
    /// Look after the home: what it had and has no more
    #[command(subcommand, after_help = "Example:\n  openfang home accept")]
    Home(HomeCommand),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  openfang completions bash > ~/.local/share/bash-completion/completions/openfang"
    )]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// Where to listen, instead of api_listen of the config; port 0 takes any free port
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents
    #[command(after_help = "Example:\n  openfang agent list")]
    List,
    /// Show one agent and the tools it can use
    #[command(after_help = "Example:\n  openfang agent show starter")]
    Show {
        /// Which agent
        name: AgentName,
    },
    /// Send a message and print what comes of it; exit code 1 if the task fails
    #[command(
        after_help = "Examples:\n  openfang agent send starter 'Ada'\n  openfang agent send starter '/add_numbers {\"a\":3,\"b\":7}'\n  echo Ada | openfang agent send starter -"
    )]
    Send(SendArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SendArgs {
    /// Which agent
    pub(crate) name: AgentName,
    /// What to say; - reads it from standard input
    pub(crate) text: String,
    /// Continue this task, which waits for an answer
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<TaskId>,
    /// Print the task's id and do not wait for its end (needs a daemon)
    #[arg(long, conflicts_with = "stream")]
    pub(crate) no_wait: bool,
    /// Print what comes as it comes
    #[arg(long)]
    pub(crate) stream: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the tools you may call, or those an agent can use
    #[command(after_help = "Example:\n  openfang tool list --agent starter")]
    List {
        /// Only what this agent can use
        #[arg(long, value_name = "NAME")]
        agent: Option<AgentName>,
    },
    /// Show what a tool takes and how it behaves
    #[command(after_help = "Example:\n  openfang tool show add_numbers")]
    Show {
        /// Which tool
        name: ToolName,
    },
    /// Call a tool and print its result; exit code 1 if it fails or is refused
    #[command(
        after_help = "Examples:\n  openfang tool call add_numbers --args '{\"a\":3,\"b\":7}'\n  openfang tool call add_numbers --args - < arguments.json"
    )]
    Call {
        /// Which tool
        name: ToolName,
        /// Its arguments, a JSON object; - reads them from standard input
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration; exit code 64 if something is wrong
    #[command(after_help = "Example:\n  openfang config check")]
    Check,
    /// Show the configuration in force, file, environment and flags together; secrets are hidden
    #[command(after_help = "Example:\n  openfang config show --json")]
    Show,
    /// Print where the configuration file is
    #[command(after_help = "Example:\n  $EDITOR \"$(openfang config path)\"")]
    Path,
    /// Print the JSON Schema of the configuration, for editors
    #[command(after_help = "Example:\n  openfang config schema > openfang.schema.json")]
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Check that everything in the database fits together; exit code 1 if something does not
    #[command(after_help = "Example:\n  openfang db check")]
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HomeCommand {
    /// Give up what the home has lost (a database, users, an api_key, a secret.key) when a start is refused for it
    ///
    /// Nothing is deleted: files that cannot be used are moved aside. The audit log says what was given up. Without users
    /// and api_key, everybody on this machine is let in from the next start on.
    #[command(after_help = "Example:\n  openfang home accept")]
    Accept,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Explain what would happen if an agent called a tool
    #[command(after_help = "Example:\n  openfang policy explain starter add_numbers")]
    Explain {
        /// Which agent
        agent: AgentName,
        /// Which tool
        tool: ToolName,
    },
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
