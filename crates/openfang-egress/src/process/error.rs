//! What can go wrong with a child process, with the way out. No message quotes an argument or a value.

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
    /// It is not there, or no program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Where it should run is not there.
    #[error("{program} cannot run in {directory}: {cause}; make the directory, or choose another", program = program.display(), directory = directory.display())]
    Directory {
        /// Which program.
        program: PathBuf,
        /// Which directory.
        directory: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The system refused to run it.
    #[error("{program} cannot be run: {cause}", program = program.display())]
    NotRun {
        /// Which program.
        program: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file is there, what runs it is not.
    #[error("{program} cannot be run: its interpreter {interpreter} is missing; install it, or correct the first line of the file", program = program.display())]
    NoInterpreter {
        /// Which program.
        program: PathBuf,
        /// What its first line names, or the loader of binaries.
        interpreter: String,
    },
    /// A limit could not be set.
    #[error("the limits of {program} cannot be set: {cause}", program = program.display())]
    Limits {
        /// Which program.
        program: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The sandbox exists here and could not be entered; without it the program does not run.
    #[error("the sandbox of {program} cannot be entered: {cause}", program = program.display())]
    Sandbox {
        /// Which program.
        program: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Our own helper could not be started or understood.
    #[error("the helper {helper} cannot {deed}: {cause}", helper = helper.display())]
    Helper {
        /// Our binary.
        helper: PathBuf,
        /// What it should have done.
        deed: &'static str,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It was killed, or hung, before it ran the program.
    #[error("{program} was gone before it ran", program = program.display())]
    Vanished {
        /// Which program.
        program: PathBuf,
    },
    /// It did not get to run in time.
    #[error("{program} did not start within {limit:?}; is its directory on a share that does not answer?", program = program.display())]
    TooSlow {
        /// Which program.
        program: PathBuf,
        /// How long it had.
        limit: Duration,
    },
    /// There are as many as there may be.
    #[error("{limit} child processes are running, which is the limit; end some of them")]
    TooMany {
        /// How many.
        limit: usize,
    },
    /// The thread that starts children is gone.
    #[error("child processes are not started any more: we are shutting down")]
    Closed,
    /// Not on this system.
    #[error(
        "child processes are contained by means of Linux, and do not start elsewhere; run openfang on Linux, for instance in a container"
    )]
    Unsupported,
}

/// Why a frame did not reach a child's stdin whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It does not read. Nothing more is sent.
    #[error("the process did not read its input for {limit:?}; it is stuck")]
    Stuck {
        /// How long it had.
        limit: Duration,
    },
    /// It closed its stdin, or ended.
    #[error("the process no longer takes input")]
    Gone,
    /// We closed it.
    #[error("the input of the process was closed")]
    Closed,
}
