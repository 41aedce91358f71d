//! Errors of child processes, each with a remedy. No message quotes an argument or a value.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{EnvironmentError, ProgramError};

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// Its environment cannot be made.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The program does not exist or cannot be executed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The working directory does not exist.
    #[error("{program} cannot run in {directory}: {cause}; make the directory, or choose another", program = program.display(), directory = directory.display())]
    Directory {
        program: PathBuf,
        directory: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The system refused to run it.
    #[error("{program} cannot be run: {cause}", program = program.display())]
    NotRun {
        program: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The file exists, but its interpreter does not.
    #[error("{program} cannot be run: its interpreter {interpreter} is missing; install it, or correct the first line of the file", program = program.display())]
    NoInterpreter {
        program: PathBuf,
        /// The interpreter in its first line, or the loader of binaries.
        interpreter: String,
    },
    /// A limit could not be set.
    #[error("the limits of {program} cannot be set: {cause}", program = program.display())]
    Limits {
        program: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The sandbox is available but could not be entered. The program does not run without it.
    #[error("the sandbox of {program} cannot be entered: {cause}", program = program.display())]
    Sandbox {
        program: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// Our own helper could not be started or gave an invalid answer.
    #[error("the helper {helper} cannot {deed}: {cause}", helper = helper.display())]
    Helper {
        helper: PathBuf,
        /// The action that failed.
        deed: &'static str,
        #[source]
        cause: io::Error,
    },
    /// The child was killed or hung before it ran the program.
    #[error("{program} exited before it could run", program = program.display())]
    Vanished { program: PathBuf },
    /// The program did not start in time.
    #[error("{program} did not start within {limit:?}; is its directory on a share that does not answer?", program = program.display())]
    TooSlow {
        program: PathBuf,
        /// How long it had.
        limit: Duration,
    },
    /// The limit of child processes is reached.
    #[error("the limit of {limit} child processes is reached; stop some of them")]
    TooMany { limit: usize },
    /// The thread that starts children is gone.
    #[error("no more child processes are started: openfang is shutting down")]
    Closed,
    /// It needs a sandbox or a control group, and children are portable.
    #[error("{program} does not run: it needs a sandbox, and portable child processes have none ([egress] children); run openfang on Linux with children = \"isolated\"", program = program.display())]
    NoWalls { program: PathBuf },
    /// The system is not supported.
    #[error("child processes need a Unix system; on Windows, run openfang in WSL")]
    Unsupported,
}

/// Why a frame was not written to a child's stdin completely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The child does not read. Nothing more is sent.
    #[error("the process did not read its input for {limit:?}; it is stuck")]
    Stuck {
        /// How long it had.
        limit: Duration,
    },
    /// It closed its stdin, or ended.
    #[error("the process no longer accepts input")]
    Gone,
    #[error("the input of the process was closed")]
    Closed,
}
