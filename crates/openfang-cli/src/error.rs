//! What can go wrong on the command line, with which exit code, and what to do next.

use std::io;
use std::net::SocketAddr;
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
    /// Done.
    Ok,
    /// Refused, or the tool or task failed.
    Failed,
    /// Wrong usage; clap uses the same number.
    Usage,
    /// `status`: no daemon runs.
    NotRunning,
    /// The configuration is wrong.
    Config,
    /// A daemon is needed and cannot be reached.
    NoDaemon,
    /// A second Ctrl-C.
    Interrupted,
    /// A second SIGTERM.
    Terminated,
}

impl Exit {
    /// The number, as documented.
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
    /// A word for programs.
    pub(crate) code: String,
    /// A sentence for people.
    pub(crate) message: String,
    /// The id under which the log says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
}

/// The code of a refusal that is about the files of the home.
const CONFIG_REJECTED: &str = "config_rejected";

/// Something that `config check` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CheckFault {
    /// The dotted key path, where it is about a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// What is wrong, with its place.
    pub(crate) text: String,
}

fn texts(faults: &[CheckFault]) -> String {
    faults.iter().map(|fault| fault.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Why a command was not carried out.
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
    #[error("{what} needs a running daemon to do the work; start one with `{start}`")]
    NeedsDaemon { what: &'static str, start: String },
    #[error("a daemon already runs on this home (pid {pid}, {address}); stop it with `{stop}`")]
    AlreadyRunning { pid: u32, address: SocketAddr, stop: String },
    #[error(transparent)]
    Role(#[from] ListenError),
    #[error("{address} cannot be listened on: {cause}; choose another address with --listen, or set api_listen")]
    Listen { address: SocketAddr, cause: io::Error },
    #[error("there is no home directory; set OPENFANG_HOME or pass --home DIR")]
    NoHome,
    #[error("{0}")]
    Usage(String),
    #[error("standard input cannot be read: {0}; pass the text as an argument instead of -")]
    Input(io::Error),
    #[error("the output cannot be written: {0}; check where it goes")]
    Output(#[from] io::Error),
    #[error(
        "the daemon's answer cannot be read ({why}); it may be of another version: compare `openfang status` and `openfang --version`"
    )]
    Answer { why: String },
    #[error(
        "{tool} asks, and there is no terminal to answer on: {asked}; run it in a terminal, or call it through an MCP client or an agent"
    )]
    NobodyAtTheTerminal { tool: ToolName, asked: String },
    #[error(
        "the stream ended before task {id} did, because the daemon stops; `openfang task watch {id}` follows it again"
    )]
    CutOff { id: TaskId },
    #[error("the daemon (pid {pid}) cannot be told to stop: {cause}; end it as the user who started it")]
    NotSignalled { pid: u32, cause: io::Error },
    #[error("the daemon (pid {pid}) has not stopped yet; wait, or end it with `kill -9 {pid}`")]
    StillStopping { pid: u32 },
    #[error("the system refused what the command needs to run: {0}; check its limits with `ulimit -a`")]
    Runtime(io::Error),
}

impl CliError {
    /// A new way to fail does not compile until it has an exit code.
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
            | Self::Runtime(_) => Exit::Failed,
            Self::Usage(_) => Exit::Usage,
            Self::Config(_) | Self::FailedCheck(_) | Self::Exposed(_) | Self::NoHome => Exit::Config,
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
            Self::Daemon(_) | Self::NeedsDaemon { .. } | Self::CutOff { .. } => Exit::NoDaemon,
        }
    }

    /// The word for programs.
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
            Self::NoHome => "no_home",
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

    /// For `--json`: the shape of the API's errors, with the faults of a configuration one by one.
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

    /// For people. The trace id is of use only where the message sends its reader to the log.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Refused(Refusal { message, trace: Some(trace), .. }) if message.contains("trace id") => {
                format!("{message} (trace id {trace})")
            }
            error => error.to_string(),
        }
    }

    /// Whether nobody reads our output any more.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The kernel's refusal, in the words the API would use.
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
