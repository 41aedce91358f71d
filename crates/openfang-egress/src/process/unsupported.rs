//! Systems other than Linux: the types exist, but nothing starts, because children could not be isolated.

use std::convert::Infallible;
use std::ffi::OsString;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::task::TaskTracker;

use super::{Containment, DoorConfig, Exit, Launch, ProcessError, ProcessMetrics, SendError};

#[derive(Debug, Clone)]
pub struct ProcessDoor {}

impl ProcessDoor {
    pub fn open(_: DoorConfig, _: TaskTracker, _: ProcessMetrics) -> Result<Self, ProcessError> {
        Ok(Self {})
    }

    pub async fn start(&self, _: Launch) -> Result<Child, ProcessError> {
        Err(ProcessError::Unsupported)
    }
}

/// Cannot be constructed, so the methods below are unreachable.
#[derive(Debug)]
pub struct Child(Infallible);

impl Child {
    pub fn pid(&self) -> u32 {
        match self.0 {}
    }

    /// What it is held to.
    pub fn containment(&self) -> &Containment {
        match self.0 {}
    }

    /// The way to its stdin.
    pub fn stdin(&self) -> &Stdin {
        match self.0 {}
    }

    pub fn take_stdout(&mut self) -> Option<Stdout> {
        match self.0 {}
    }

    /// The stderr of the child, the first time.
    pub fn take_stderr(&mut self) -> Option<Stdout> {
        match self.0 {}
    }

    /// The end of its stderr.
    pub fn stderr_tail(&self) -> String {
        match self.0 {}
    }

    /// Waits for its end.
    pub async fn wait(&self) -> Exit {
        match self.0 {}
    }

    pub async fn shutdown(&self) -> Exit {
        match self.0 {}
    }
}

#[derive(Debug, Clone)]
pub struct Stdin(Infallible);

impl Stdin {
    pub async fn send(&self, _: Bytes) -> Result<(), SendError> {
        match self.0 {}
    }

    /// Sends a frame without waiting until it is written.
    pub async fn send_unheard(&self, _: Bytes) -> Result<(), SendError> {
        match self.0 {}
    }

    pub fn close(&self) {
        match self.0 {}
    }
}

#[derive(Debug)]
pub struct Stdout(Infallible);

impl AsyncRead for Stdout {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        match self.0 {}
    }
}

/// There are no helpers here.
pub fn helper_main(_: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    None
}

/// Nothing to be done here.
pub fn not_dumpable() {}

/// Our arguments, starting with the program's name. Everybody can read them.
pub fn hidden_arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}
