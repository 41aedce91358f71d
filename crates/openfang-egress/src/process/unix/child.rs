//! The handle of a running child.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Stdin;
use crate::process::stderr::Stderr;
use crate::process::{Containment, Ending, Exit};

/// A running or ended child. Dropping it ends it in the background, like [`Child::shutdown`].
pub struct Child {
    pub(super) pid: u32,
    pub(super) containment: Containment,
    pub(super) stdin: Stdin,
    pub(super) stdout: Option<Stdout>,
    /// None if it is read line by line.
    pub(super) stderr_out: Option<Stdout>,
    pub(super) stderr: Arc<Stderr>,
    pub(super) exit: watch::Receiver<Option<Exit>>,
    pub(super) stop: CancellationToken,
}

impl Child {
    /// Its process id, which is also its process group id.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// How much of the sandbox is enforced.
    pub const fn containment(&self) -> &Containment {
        &self.containment
    }

    /// The way to its stdin.
    pub const fn stdin(&self) -> &Stdin {
        &self.stdin
    }

    /// Its stdout, which can be taken once. The output is not buffered: a child whose output nobody reads blocks.
    pub fn take_stdout(&mut self) -> Option<Stdout> {
        self.stdout.take()
    }

    /// Its stderr, once, if the launch asked for it. It is read like stdout.
    pub fn take_stderr(&mut self) -> Option<Stdout> {
        self.stderr_out.take()
    }

    /// The tail of its stderr, without the values listed for its environment.
    pub fn stderr_tail(&self) -> String {
        self.stderr.tail()
    }

    /// Waits until the child and everything it started are gone and its stderr is read. Several callers can wait.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        let known = exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit);
        known.unwrap_or(Exit { ending: Ending::Unknown, asked: true })
    }

    /// Ends the child and waits: closes its stdin, sends TERM to its group after a second and KILL half a second later.
    pub async fn shutdown(&self) -> Exit {
        self.stop.cancel();
        self.wait().await
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("pid", &self.pid)
            .field("containment", &self.containment)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct Stdout(pub(super) pipe::Receiver);

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}
