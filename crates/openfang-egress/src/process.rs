//! Starts other programs. Every child process starts here, and none outlives this process.
//!
//! A [`Launch`] describes what runs: a resolved [`Program`], an [`Environment`] built from an allow-list, limits and
//! optionally a [`Sandbox`]. [`ProcessDoor::start`] returns a [`Child`]: a queue to its stdin, its stdout, the tail of
//! its stderr and its [`Exit`]. Dropping the child ends it. Our binary is its own helper ([`helper_main`]): `__child`
//! prepares itself and becomes the program, `__reaper` kills the remaining children when this process dies. Refused:
//! more children than the limit, `..` in a command, `*` in an environment.
//!
//! With [`ChildIsolation::Portable`], the only kind outside of Linux, a child has no sandbox and no control group. Children that
//! need them ([`Launch::needs_walls`]) are refused then. On systems that are not Unix, nothing starts.

#![cfg_attr(not(unix), expect(dead_code, reason = "what prepares a child is used where children start"))]

mod environment;
mod error;
mod exit;
mod metrics;
mod ourselves;
mod output;
mod program;
mod resources;
mod sandbox;
mod stderr;
mod umask;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openfang_types::config::ChildIsolation;
use openfang_types::limits::{CHILD_CLOSE_GRACE, CHILD_STDIN_LIMIT};

pub use environment::{Environment, EnvironmentError, EnvironmentKind, Surroundings};
pub use error::{ProcessError, SendError};
pub use exit::{Ending, Exit};
pub use metrics::ProcessMetrics;
pub use ourselves::{BackgroundProcess, our_binary, restart_with_variables};
pub use output::{CollectedOutput, CollectedRun, OutputEnds, OutputLimits, RunEnd, collect};
pub use program::{Program, ProgramError};
pub use resources::ResourceLimits;
pub use sandbox::{Containment, Network, Sandbox};
#[cfg(unix)]
use umask::inherited_umask;
pub use umask::private_files;
#[cfg(unix)]
pub use unix::{Child, ProcessDoor, Stdin, Stdout, helper_main, hidden_arguments, not_dumpable};
#[cfg(not(unix))]
pub use unsupported::{Child, ProcessDoor, Stdin, Stdout, helper_main, hidden_arguments, not_dumpable};

/// Called with every line of a child's stderr, without the line break. It must not block.
pub type LineCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// The settings of a [`ProcessDoor`].
#[derive(Debug, Clone)]
pub struct DoorConfig {
    /// Our own binary, which runs [`helper_main`].
    pub helper: PathBuf,
    /// Where temporary homes are made.
    pub temporary: PathBuf,
    pub isolation: ChildIsolation,
}

impl DoorConfig {
    /// The door of a command that needs no configuration: our own binary is the helper, with what this system offers.
    pub fn of_this_system() -> Self {
        Self { helper: our_binary(), temporary: std::env::temp_dir(), isolation: ChildIsolation::default() }
    }
}

/// A program to start, and how.
#[derive(Clone)]
pub struct Launch {
    pub program: Program,
    /// Its arguments. Other users of the machine can see them, as with any process.
    pub arguments: Vec<OsString>,
    pub environment: Environment,
    pub directory: PathBuf,
    /// The resource limits of the child.
    pub limits: ResourceLimits,
    /// The files and sockets it may use. None means everything this process may use.
    pub sandbox: Option<Sandbox>,
    /// How long writing one frame to its stdin may take.
    pub stdin_limit: Duration,
    /// How long it has after its stdin was closed, before it is ended by signals.
    pub close_grace: Duration,
    /// Whether its stderr is read with [`Child::take_stderr`] and not line by line.
    pub has_raw_stderr: bool,
    /// Whether the operator lets it run without a sandbox, although it executes what a model wrote.
    pub is_unsandboxed: bool,
    /// Receives its stderr, line by line.
    pub on_stderr: Option<LineCallback>,
}

impl Launch {
    /// A program without arguments, limits or sandbox.
    pub fn new(program: Program, environment: Environment, directory: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            environment,
            directory,
            limits: ResourceLimits::none(),
            sandbox: None,
            stdin_limit: CHILD_STDIN_LIMIT,
            close_grace: CHILD_CLOSE_GRACE,
            has_raw_stderr: false,
            is_unsandboxed: false,
            on_stderr: None,
        }
    }

    /// Whether the child must not run without a sandbox and a control group: it has a sandbox, or it executes what a model
    /// wrote, as shell commands and skills do, and the operator did not say that it may run without.
    pub fn needs_walls(&self) -> bool {
        self.sandbox.is_some() || (self.environment.kind() == EnvironmentKind::Tool && !self.is_unsandboxed)
    }

    /// Whether the child has a temporary home that is removed after it.
    pub(crate) fn has_temporary_home(&self) -> bool {
        self.sandbox.is_some() || self.environment.kind() == EnvironmentKind::Tool
    }
}

impl std::fmt::Debug for Launch {
    /// Omits the arguments, because they may contain keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("environment", &self.environment)
            .field("directory", &self.directory)
            .field("limits", &self.limits)
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}
