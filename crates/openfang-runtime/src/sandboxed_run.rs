//! Runs a program that a model or a skill chose, to its end: in a sandbox, with a temporary home, limits of memory,
//! processes and time, without input, and with the beginning and the end of its output.
//!
//! It does not run where its sandbox is not enforced, unless the operator said so with `[exec] unsandboxed = true`. All that
//! the program started is gone when [`SandboxedRun::run`] returns, and soon after its future is dropped.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use openfang_egress::process::{
    CollectedRun, Environment, Launch, Network, OutputLimits, ProcessDoor, ProcessError, Program, ResourceLimits,
    Sandbox, collect,
};
use openfang_types::limits::EXEC_FILE_MAX_BYTES;

/// A program, and everything that it is given.
#[derive(Debug, Clone)]
pub struct SandboxedRun {
    pub program: Program,
    pub arguments: Vec<OsString>,
    /// An environment of the kind `EnvironmentKind::Tool`, which has nothing of ours but `PATH` and `LANG`.
    pub environment: Environment,
    pub directory: PathBuf,
    pub walls: RunWalls,
    pub limits: OutputLimits,
}

/// What a program can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunWalls {
    /// The programs and libraries of the system, a temporary home, and these.
    Sandboxed { read: Vec<PathBuf>, write: Vec<PathBuf>, network: Network },
    /// Everything that this process can, because the operator said so.
    Unsandboxed,
}

/// Why a program did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no sandbox that holds it.
    #[error(
        "{0}; the program did not run. To run programs without a sandbox, with everything that the user of the server can do, set \
         unsandboxed = true under [exec] in config.toml"
    )]
    NoSandbox(#[source] ProcessError),
    #[error(transparent)]
    NotRun(ProcessError),
}

impl From<ProcessError> for RunError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Sandbox { .. } | ProcessError::NoWalls { .. } => Self::NoSandbox(error),
            ProcessError::Environment(_)
            | ProcessError::Program(_)
            | ProcessError::Directory { .. }
            | ProcessError::NotRun { .. }
            | ProcessError::NoInterpreter { .. }
            | ProcessError::Limits { .. }
            | ProcessError::Helper { .. }
            | ProcessError::Vanished { .. }
            | ProcessError::TooSlow { .. }
            | ProcessError::TooMany { .. }
            | ProcessError::Closed
            | ProcessError::Unsupported => Self::NotRun(error),
        }
    }
}

impl SandboxedRun {
    /// Runs it to its end, or until its time is over. Dropping the future ends it.
    pub async fn run(self, door: &ProcessDoor) -> Result<CollectedRun, RunError> {
        let Self { program, arguments, environment, directory, walls, limits } = self;
        let (sandbox, is_unsandboxed) = match walls {
            RunWalls::Sandboxed { read, write, network } => (Some(Sandbox { read, write, network }), false),
            RunWalls::Unsandboxed => (None, true),
        };
        let launch = Launch {
            arguments,
            limits: ResourceLimits { file_size: Some(EXEC_FILE_MAX_BYTES), ..ResourceLimits::for_tools() },
            sandbox,
            is_unsandboxed,
            has_raw_stderr: true,
            // It has no input to wait for.
            close_grace: Duration::ZERO,
            ..Launch::new(program, environment, directory)
        };
        let child = door.start(launch).await?;
        Ok(collect(child, limits).await)
    }
}
