//! Errors of the command line: their exit codes, and the next step for the user.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use openfang_egress::daemon::DaemonError;
use openfang_kernel::config_file::ConfigError;
use openfang_kernel::home::{AcceptError, Exposure, HomeError, HomeLoss, ListenError, RecordError};
use openfang_kernel::maintenance::MaintenanceError;
use openfang_kernel::{BootError, KernelError};
use openfang_types::ids::{TaskId, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How the process ends. The help text lists these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// The request was refused, or the tool or task failed.
    Failed,
    /// Usage error; clap uses the same number.
    Usage,
    /// `status`: no daemon is running.
    NotRunning,
    /// The configuration is invalid.
    Config,
    /// A daemon is needed and cannot be reached.
    NoDaemon,
    /// Ctrl-C ended the command.
    Interrupted,
    /// A second SIGTERM arrived.
    Terminated,
}

impl Exit {
    /// The exit code, as documented in the help text.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotRunning => 3,
            Self::Config => 64,
            Self::NoDaemon => 69,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A refusal, in the words of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// A stable code for programs, such as `unknown_tool`.
    pub(crate) code: String,
    /// The message for people, with the next step.
    pub(crate) message: String,
    /// The trace id of the related log lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
}

/// The code of a refusal caused by invalid files in the home.
const CONFIG_REJECTED: &str = "config_rejected";

/// A problem found by `config check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CheckFault {
    /// The dotted key path, if the problem concerns a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The problem and its location.
    pub(crate) text: String,
}

fn texts(faults: &[CheckFault]) -> String {
    faults.iter().map(|fault| fault.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// The message, and the command that helps. Messages of the API name no commands, because others than people at a shell read
/// them.
fn with_advice(refusal: &Refusal) -> String {
    let advice = match refusal.code.as_str() {
        "unknown_agent" => "`openfang agent list` lists the agents",
        "unknown_tool" => "`openfang tool list` lists the tools you may call",
        "unknown_task" => "`openfang task list` lists your tasks",
        "unknown_server" => "`openfang mcp list` lists the servers",
        "unknown_skill" => "`openfang skill list` lists the skills",
        "skill_not_trusted" => {
            "look at it with `openfang skill show NAME`, then trust it with `openfang skill trust NAME`"
        }
        "unknown_profile" => "`openfang config show` has the profiles, under profiles",
        "server_disabled" => "enable it with `openfang mcp enable NAME`",
        "unknown_user" => "`openfang user list` lists the users",
        "user_exists" => "`openfang user grant NAME` adds grants",
        "former_user" => "`openfang user add NAME --again` does",
        "unknown_key" => "`openfang key list` lists the keys",
        _ => return refusal.message.clone(),
    };
    format!("{}; {advice}", refusal.message)
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{}", .0.message)]
    Refused(Refusal),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}", texts(.0))]
    FailedCheck(Vec<CheckFault>),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error("{0}; choose another home with --home")]
    Home(#[from] HomeError),
    #[error(transparent)]
    Exposed(#[from] Exposure),
    #[error(transparent)]
    Lost(#[from] HomeLoss),
    #[error(transparent)]
    Maintenance(#[from] MaintenanceError),
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    #[error("{what} needs a running daemon; start one with `{start}`")]
    NeedsDaemon { what: &'static str, start: String },
    #[error("a daemon is already running on this home (pid {pid}, {address}); stop it with `{stop}`")]
    AlreadyRunning { pid: u32, address: SocketAddr, stop: String },
    #[error(transparent)]
    Role(#[from] ListenError),
    #[error("cannot listen on {address}: {cause}; choose another address with --listen or api_listen")]
    Listen { address: SocketAddr, cause: io::Error },
    #[error("cannot use the server {url}: {why}")]
    Remote { url: String, why: String },
    #[error("the daemon did not start: {why}")]
    NotStarted { why: String },
    #[error("{path} cannot be used: {why}", path = path.display())]
    EnvFile { path: PathBuf, why: String },
    #[error("no home directory is known; set OPENFANG_HOME or pass --home DIR")]
    NoHome,
    #[error("{} is not a directory; choose another home with --home", .0.display())]
    HomeIsFile(PathBuf),
    #[error("{0}")]
    Usage(String),
    #[error("cannot read standard input: {0}; pass the text as an argument instead of -")]
    Input(io::Error),
    #[error("cannot write the output: {0}; check its destination")]
    Output(#[from] io::Error),
    #[error(
        "cannot read the daemon's response ({why}); its version may differ: compare `openfang status` and `openfang --version`"
    )]
    Answer { why: String },
    #[error(
        "{tool} asks, and there is no terminal to answer on: {asked}; run it in a terminal, or call it through an MCP client or an agent"
    )]
    NobodyAtTheTerminal { tool: ToolName, asked: String },
    #[error("the daemon is stopping, so the stream ended before task {id}; resume with `openfang task watch {id}`")]
    CutOff { id: TaskId },
    #[error("cannot signal the daemon (pid {pid}): {cause}; stop it as the user who started it")]
    NotSignalled { pid: u32, cause: io::Error },
    #[error("the daemon (pid {pid}) is still stopping; wait, or kill it with `kill -9 {pid}`")]
    StillStopping { pid: u32 },
    #[error("cannot start the async runtime: {0}; check the limits with `ulimit -a`")]
    Runtime(io::Error),
}

impl CliError {
    /// The exit code of the error. The match is exhaustive, so a new variant needs one.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused(refusal) if refusal.code == CONFIG_REJECTED => Exit::Config,
            Self::Refused(_)
            | Self::Home(_)
            | Self::Lost(_)
            | Self::Maintenance(_)
            | Self::AlreadyRunning { .. }
            | Self::Role(_)
            | Self::Listen { .. }
            | Self::Input(_)
            | Self::Output(_)
            | Self::Answer { .. }
            | Self::NobodyAtTheTerminal { .. }
            | Self::NotSignalled { .. }
            | Self::StillStopping { .. }
            | Self::NotStarted { .. }
            | Self::Runtime(_) => Exit::Failed,
            Self::Usage(_) => Exit::Usage,
            Self::Config(_)
            | Self::FailedCheck(_)
            | Self::Exposed(_)
            | Self::EnvFile { .. }
            | Self::NoHome
            | Self::HomeIsFile(_) => Exit::Config,
            Self::Boot(error) => match error {
                BootError::Agents(_) | BootError::Catalog(_) | BootError::Sensitive(_) | BootError::Config(_) => {
                    Exit::Config
                }
                BootError::Home(_)
                | BootError::Lost(_)
                | BootError::Randomness(_)
                | BootError::Database(_)
                | BootError::Users(_)
                | BootError::Node(_) => Exit::Failed,
            },
            Self::Daemon(_) | Self::Remote { .. } | Self::NeedsDaemon { .. } | Self::CutOff { .. } => Exit::NoDaemon,
        }
    }

    /// The machine-readable code of the error.
    fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.code,
            Self::Config(_) | Self::FailedCheck(_) => "config",
            Self::Boot(_) => "boot",
            Self::Home(_) => "home",
            Self::Exposed(_) => "exposed",
            Self::Lost(_) => "lost",
            Self::Maintenance(_) => "database",
            Self::Daemon(_) => "daemon",
            Self::NeedsDaemon { .. } => "needs_daemon",
            Self::AlreadyRunning { .. } => "already_running",
            Self::Role(_) => "already_running",
            Self::Listen { .. } => "listen",
            Self::Remote { .. } => "remote",
            Self::NotStarted { .. } => "not_started",
            Self::EnvFile { .. } => "env_file",
            Self::NoHome => "no_home",
            Self::HomeIsFile(_) => "home",
            Self::Usage(_) => "usage",
            Self::Input(_) => "input",
            Self::Output(_) => "output",
            Self::Answer { .. } => "answer",
            Self::NobodyAtTheTerminal { .. } => "nobody_to_ask",
            Self::CutOff { .. } => "cut_off",
            Self::NotSignalled { .. } => "not_signalled",
            Self::StillStopping { .. } => "still_stopping",
            Self::Runtime(_) => "runtime",
        }
    }

    /// The error as JSON, in the shape of API errors. Configuration faults are listed one by one.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code(), "message": self.to_string() });
        match self {
            Self::Refused(Refusal { trace: Some(trace), .. }) => error["trace"] = json!(trace),
            Self::Config(ConfigError::Faulty(faults)) => {
                let fault = |fault: &openfang_kernel::strict_toml::Fault| json!({ "key": fault.key, "why": fault.why, "text": fault.to_string() });
                error["faults"] = faults.0.iter().map(fault).collect();
            }
            Self::FailedCheck(faults) => error["faults"] = json!(faults),
            _ => {}
        }
        json!({ "error": error })
    }

    /// The error as text. The trace id is printed only if the message refers to the log.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Refused(Refusal { message, trace: Some(trace), .. }) if message.contains("trace id") => {
                format!("{message} (trace id {trace})")
            }
            Self::Refused(refusal) => with_advice(refusal),
            error => error.to_string(),
        }
    }

    /// Whether the reader of standard output has closed the pipe.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A kernel error as a refusal, with the code and message that the API would send.
    /// A refusal that no request led to.
    pub(crate) fn unsent(error: &KernelError) -> Self {
        Self::Refused(Refusal { code: error.reason().to_owned(), message: error.to_string(), trace: None })
    }

    pub(crate) fn refused(error: &KernelError, trace: impl ToString) -> Self {
        let (code, message) = (error.reason().to_owned(), error.to_string());
        Self::Refused(Refusal { code, message, trace: Some(trace.to_string()) })
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::File(error) => Self::Home(error),
            RecordError::Lost(loss) => Self::Lost(loss),
        }
    }
}

impl From<AcceptError> for CliError {
    fn from(error: AcceptError) -> Self {
        match error {
            AcceptError::Role(error) => Self::Role(error),
            AcceptError::Home(error) => Self::Home(error),
            AcceptError::Database(error) => Self::Maintenance(error.into()),
            AcceptError::Maintenance(error) => Self::Maintenance(error),
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
