//! The commands and flags of the command line. Every command has a help text with an example.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use openfang_types::ids::{AgentName, Owner, ToolName};

use crate::names;
use crate::task_ref::TaskRef;

pub(crate) use a2a::{A2aAddArgs, A2aCommand};
pub(crate) use approval::ApprovalCommand;
pub(crate) use audit::{AuditCommand, AuditTailArgs};
pub(crate) use chat::ChatArgs;
pub(crate) use connect::{ConnectArgs, DoctorArgs, InitArgs};
pub(crate) use event::EventCommand;
pub(crate) use mcp::{ImportArgs, McpAddArgs, McpArgs, McpCommand, ToolChoiceArgs, Transport};
pub(crate) use models::{AgentNewArgs, ModelCommand, UsageArgs};
pub(crate) use queue::QueueCommand;
pub(crate) use schedule::ScheduleCommand;
pub(crate) use secret::SecretCommand;
pub(crate) use service::{CompletionsArgs, LogsArgs, ServiceCommand, ServiceScope};
pub(crate) use skill::{SkillCommand, SkillInstallArgs, SkillTrustArgs};
pub(crate) use task::{TaskCommand, TaskListArgs, WhoseArgs};
pub(crate) use users::{KeyCommand, KeyCreateArgs, UserAddArgs, UserCommand, UserPasswordArgs};

mod a2a;
mod approval;
mod audit;
mod chat;
mod connect;
mod event;
mod mcp;
mod models;
mod queue;
mod schedule;
mod secret;
mod service;
mod skill;
mod task;
mod users;

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    the request was refused, the tool or task failed, or a check found a problem
  2    wrong usage
  3    `status`: no daemon is running
  64   the configuration or an agent's manifest is invalid
  69   a daemon is needed but is not running or cannot be reached
  130  stopped by Ctrl-C; `start` and `mcp`: immediately, by a second Ctrl-C (143: by SIGTERM)

Examples:
  openfang start
  openfang agent send starter 'Ada'
  openfang tool call add_numbers a=3 b=7";

/// A gateway for agents and tools: MCP and A2A in one binary, with access control and an audit log
#[derive(Debug, Parser)]
#[command(name = "openfang", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The flags that every command takes.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The home directory: config, agents and data [default: $OPENFANG_HOME, else ~/.openfang]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON: one document, or one per line for streams; errors go to standard error as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print the requests to the daemon and its responses, without the token
    #[arg(long, global = true)]
    pub(crate) trace_wire: bool,
    /// Send the command to this server instead of the daemon of the home; stands before the command [default: $OPENFANG_URL]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Run in this process, even if a daemon is running
    #[arg(long, global = true)]
    pub(crate) in_process: bool,
    /// The log level; logs go to standard error
    #[arg(long, global = true, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) log_level: Option<String>,
    /// Print only results and errors, no hints
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up OpenFang: create the home, connect IDEs and import their MCP servers
    #[command(
        after_help = "Examples:\n  openfang init\n  openfang init --yes\n  openfang init --connect claude-code,cursor --import"
    )]
    Init(InitArgs),
    /// Connect IDEs and agents: write an entry for OpenFang into their settings
    ///
    /// Shows the changes, keeps a backup, writes, and starts the entry once as the program would. A file that cannot be
    /// parsed is never written.
    #[command(
        after_help = "Examples:\n  openfang connect claude-code cursor\n  openfang connect --all --dry-run\n  openfang connect vscode --project\n  openfang connect --undo --all"
    )]
    Connect(ConnectArgs),
    /// Show in a few seconds how a hostile MCP server is stopped, in a home of its own that is removed afterwards
    #[command(after_help = "Example:\n  openfang demo")]
    Demo,
    /// Run the daemon in the foreground; the first run creates the home directory
    #[command(after_help = "Examples:\n  openfang start --listen 127.0.0.1:8080\n  openfang start --background")]
    Start(StartArgs),
    /// Stop the daemon of this home; running work gets time to finish
    #[command(after_help = "Example:\n  openfang stop")]
    Stop,
    /// Reload config.toml and agents/ in the daemon of this home
    ///
    /// A running daemon reloads changed files within seconds. Changes that widen access wait for this command: a wider
    /// api_listen, allowed_hosts or trusted_proxies, a trusted MCP server, or the removal of the last credential. An
    /// invalid file changes nothing. SIGHUP does the same.
    #[command(after_help = "Example:\n  openfang reload --json")]
    Reload,
    /// Check the home, the daemon, MCP servers and connected programs; exit code 1 if something fails
    #[command(after_help = "Examples:\n  openfang doctor\n  openfang doctor --fix")]
    Doctor(DoctorArgs),
    /// Show whether a daemon is running, and where (exit code 3 if none is)
    #[command(visible_alias = "top", after_help = "Examples:\n  openfang status --json\n  openfang status --watch")]
    Status {
        /// Draw the state of servers and tasks anew every second, until `q`; with --json a line each time
        #[arg(short, long)]
        watch: bool,
    },
    /// Run the daemon as a service of this user
    #[command(subcommand, after_help = "Example:\n  openfang service install")]
    Service(ServiceCommand),
    /// Show the log of the daemon, where it is written to a file
    #[command(after_help = "Examples:\n  openfang logs -f\n  openfang logs --level warn --server files")]
    Logs(LogsArgs),
    /// Serve MCP on standard input and output, for an IDE to start; or manage MCP servers
    #[command(
        after_help = "Examples:\n  openfang mcp --tools\n  openfang mcp --agent starter\n  openfang mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/projects"
    )]
    Mcp(McpArgs),
    /// Manage and call A2A agents of other servers
    #[command(subcommand, after_help = "Example:\n  openfang a2a add research https://research.example.com")]
    A2a(A2aCommand),
    /// Create and list agents, and send messages to them
    #[command(
        subcommand,
        after_help = "Examples:\n  openfang agent send starter 'Ada'\n  openfang agent new helper --model ollama/qwen3:8b"
    )]
    Agent(AgentCommand),
    /// Chat with an agent in the terminal; without one, each line of standard input is a message
    ///
    /// Answers are streamed. A line shows each tool call, and what a turn took. Questions of tools and calls that need an
    /// approval are asked where they come up. Ctrl-C stops the turn, and twice leaves; Ctrl-D leaves. /help lists commands.
    ///
    /// Without a terminal, answers go to standard output and everything else to standard error. Calls that need an approval are
    /// denied. With --json, each event is a line. The exit code is 1 if a turn failed or a call was denied.
    #[command(
        after_help = "Examples:\n  openfang chat\n  openfang chat helper --continue\n  openfang chat helper --model ollama/qwen3:8b\n  echo 'What time is it?' | openfang chat helper"
    )]
    Chat(ChatArgs),
    /// List, show and test models
    #[command(subcommand, after_help = "Example:\n  openfang model list")]
    Model(ModelCommand),
    /// Show what models were used for, and what it cost
    #[command(
        after_help = "Examples:\n  openfang usage\n  openfang usage --by day --days 7\n  openfang usage --by model --all"
    )]
    Usage(UsageArgs),
    /// List, show and call tools
    #[command(subcommand, after_help = "Example:\n  openfang tool call add_numbers a=3 b=7")]
    Tool(ToolCommand),
    /// List, show, watch and cancel tasks
    #[command(subcommand, after_help = "Example:\n  openfang task list --state working")]
    Task(TaskCommand),
    /// Post, claim and complete tasks of the work queue
    #[command(subcommand, after_help = "Example:\n  openfang queue list --status pending")]
    Queue(QueueCommand),
    /// Create, list, pause and run schedules
    #[command(
        subcommand,
        after_help = "Example:\n  openfang schedule create 'Check the links of docs/' 'weekdays at 9:30am'"
    )]
    Schedule(ScheduleCommand),
    /// Publish, list and follow events
    #[command(subcommand, after_help = "Example:\n  openfang event publish build.failed '{\"branch\": \"main\"}'")]
    Event(EventCommand),
    /// Manage users and their permissions
    #[command(subcommand, after_help = "Example:\n  openfang user add ada --grant 'agent:starter/*'")]
    User(UserCommand),
    /// Create, list and revoke API keys of users
    #[command(subcommand, after_help = "Example:\n  openfang key create ada --label laptop")]
    Key(KeyCommand),
    /// Store the key for a server on another machine, for commands with --url
    #[command(
        after_help = "Examples:\n  openfang login https://openfang.example.com\n  openfang login https://openfang.example.com < key.txt"
    )]
    Login {
        /// The URL of the server, without a path
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Forget the key for a server on another machine
    #[command(after_help = "Example:\n  openfang logout https://openfang.example.com")]
    Logout {
        /// The URL of the server, without a path
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// List, install, trust and enable skills
    #[command(
        subcommand,
        after_help = "Examples:\n  openfang skill list\n  openfang skill install ./pdf-forms\n  openfang skill trust pdf-forms --enable"
    )]
    Skill(SkillCommand),
    /// Store secrets, such as tokens of MCP servers, outside of config.toml
    #[command(subcommand, after_help = "Example:\n  openfang secret set GITHUB_TOKEN")]
    Secret(SecretCommand),
    /// Decide on calls that wait for a person
    #[command(subcommand, after_help = "Example:\n  openfang approval list")]
    Approval(ApprovalCommand),
    /// Check and show the configuration
    #[command(subcommand, after_help = "Example:\n  openfang config check")]
    Config(ConfigCommand),
    /// Explain and test which calls are allowed
    #[command(subcommand, after_help = "Example:\n  openfang policy explain starter add_numbers")]
    Policy(PolicyCommand),
    /// Show, verify and export the audit log
    #[command(subcommand, after_help = "Example:\n  openfang audit tail -n 50")]
    Audit(AuditCommand),
    /// Copy the database, config.toml and agents to a new directory, even while a daemon is running
    #[command(after_help = "Examples:\n  openfang backup backup-monday\n  openfang backup openfang-backup.db")]
    Backup {
        /// The directory to write, or with the ending .db a copy of the database alone; nothing is overwritten
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Include data/secret.key, which signs tokens and cookies
        #[arg(long)]
        with_key: bool,
    },
    /// Put a backup in place; what was there is moved aside (stop the daemon first)
    #[command(after_help = "Example:\n  openfang restore backup-monday --yes")]
    Restore {
        /// What `openfang backup` wrote
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// Replace files without asking
        #[arg(short, long)]
        yes: bool,
    },
    /// Check the integrity of the database
    #[command(subcommand, after_help = "Example:\n  openfang db check")]
    Db(DbCommand),
    /// Recover a home directory that has lost data
    #[command(subcommand, after_help = "Example:\n  openfang home accept")]
    Home(HomeCommand),
    /// Complete commands and names in your shell
    #[command(after_help = "Examples:\n  openfang completions bash --install\n  openfang completions zsh")]
    Completions(CompletionsArgs),
    /// Print the OpenAPI document of the HTTP API
    #[command(after_help = "Example:\n  openfang openapi > openfang-openapi.json")]
    Openapi,
    /// Write the manual pages of all commands to a directory
    #[command(hide = true, after_help = "Example:\n  openfang manual man1")]
    Manual {
        /// The directory to write to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// The address to listen on, instead of api_listen in config.toml: a port, localhost:PORT or IP:PORT; port 0 picks a free port
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Run in the background: return as soon as the daemon listens, and write its log to a file
    #[arg(long)]
    pub(crate) background: bool,
}

/// An address, or a port on loopback: `8080`, `:8080` and `localhost:8080` are the same.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    text.parse()
        .map_err(|_| "write a port, localhost:PORT or IP:PORT, such as 127.0.0.1:8080".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Create an agent: write its agent.toml, with a model if one can be used
    ///
    /// Without --model, the agent gets the default model of the first provider that has an API key. If there is no key, the
    /// agent has no model and calls the tools that messages name.
    #[command(
        after_help = "Examples:\n  openfang agent new helper\n  openfang agent new helper --model anthropic/claude-sonnet-5-5 --tools 'web_*'\n  openfang agent new adder --model ollama/qwen3:8b --tools add_numbers current_time"
    )]
    New(AgentNewArgs),
    /// List the agents in this home
    #[command(after_help = "Example:\n  openfang agent list")]
    List,
    /// Show one agent and the tools it can use
    #[command(after_help = "Example:\n  openfang agent show starter")]
    Show {
        /// The name of the agent
        #[arg(add = ArgValueCandidates::new(names::agents))]
        name: AgentName,
        /// Show the agent as this user sees it; for the operator
        #[arg(long = "as", value_name = "USER")]
        user: Option<Owner>,
    },
    /// Send a message and print the answer; exit code 1 if the task fails
    #[command(
        after_help = "Examples:\n  openfang agent send starter 'Ada'\n  openfang agent send starter '/add_numbers {\"a\":3,\"b\":7}'\n  echo Ada | openfang agent send starter -"
    )]
    Send(SendArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SendArgs {
    /// The name of the agent
    #[arg(add = ArgValueCandidates::new(names::agents))]
    pub(crate) name: AgentName,
    /// The message; - reads it from standard input
    pub(crate) text: String,
    /// The task to continue; it must be waiting for input
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<TaskRef>,
    /// Print the task id and do not wait for the result (needs a daemon)
    #[arg(long, conflicts_with = "stream")]
    pub(crate) no_wait: bool,
    /// Print the answer while it arrives
    #[arg(long)]
    pub(crate) stream: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the tools you may call, or those an agent can use
    #[command(after_help = "Example:\n  openfang tool list --agent starter")]
    List {
        /// List only the tools that this agent can use
        #[arg(long, value_name = "NAME")]
        agent: Option<AgentName>,
    },
    /// Show the parameters and behavior of a tool
    #[command(after_help = "Example:\n  openfang tool show add_numbers")]
    Show {
        /// The name of the tool
        #[arg(add = ArgValueCandidates::new(names::tools))]
        name: ToolName,
    },
    /// Call a tool and print its result; exit code 1 if it fails or is refused
    #[command(
        after_help = "Examples:\n  openfang tool call add_numbers a=3 b=7\n  openfang tool call add_numbers --args '{\"a\":3,\"b\":7}'\n  openfang tool call add_numbers --args - < arguments.json"
    )]
    Call {
        /// The name of the tool
        #[arg(add = ArgValueCandidates::new(names::tools))]
        name: ToolName,
        /// Arguments; the tool's schema says which are text and which are numbers or JSON
        #[arg(value_name = "NAME=VALUE")]
        pairs: Vec<String>,
        /// The arguments as a JSON object; - reads them from standard input
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check config.toml, all agents and their scripts; exit code 64 if one is invalid
    #[command(after_help = "Example:\n  openfang config check")]
    Check,
    /// Show the effective configuration (file, environment and flags); secrets are hidden
    #[command(after_help = "Example:\n  openfang config show --json")]
    Show,
    /// Print the path of the configuration file
    #[command(after_help = "Example:\n  $EDITOR \"$(openfang config path)\"")]
    Path,
    /// Print an example of config.toml with every key, its default and what it means
    #[command(after_help = "Example:\n  openfang config example")]
    Example,
    /// Print the JSON Schema of the configuration, for editors
    #[command(after_help = "Example:\n  openfang config schema > openfang.schema.json")]
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Check the integrity of the database; exit code 1 if there is a problem
    #[command(after_help = "Example:\n  openfang db check")]
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HomeCommand {
    /// Accept the loss of a database, users, api_key or secret.key, so that the daemon starts again
    ///
    /// Nothing is deleted: unusable files are moved aside. The audit log records what was accepted. Without users and
    /// without api_key, every local process has access from the next start on.
    #[command(after_help = "Example:\n  openfang home accept")]
    Accept,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Explain what would happen if an agent called a tool
    #[command(after_help = "Example:\n  openfang policy explain starter add_numbers")]
    Explain {
        /// The name of the agent
        #[arg(add = ArgValueCandidates::new(names::agents))]
        agent: AgentName,
        /// The name of the tool
        #[arg(add = ArgValueCandidates::new(names::tools))]
        tool: ToolName,
        /// Explain it for this user; for the operator
        #[arg(long, value_name = "USER")]
        user: Option<Owner>,
    },
    /// Compare verdicts with the expected ones of a file; exits with 1 if one differs
    ///
    /// Each [[case]] of the TOML file has a tool, the labels of the context and the expected verdict: allow, ask, refuse or
    /// unknown. It can have agent, user_worded and known_host.
    #[command(after_help = "Example:\n  openfang policy test policy.toml")]
    Test {
        /// The file with the cases
        file: PathBuf,
    },
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
