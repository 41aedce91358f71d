//! Signals: receiving them, and sending them to the daemon.

use std::io;
use std::time::Duration;

use openfang_types::limits::STOP_AT_ONCE;
use tokio::time::sleep;

use crate::error::Exit;

/// A signal that asks the process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// SIGINT, which Ctrl-C sends.
    Interrupt,
    /// SIGTERM, which service managers and `openfang stop` send.
    Terminate,
}

impl Stop {
    /// The exit code when the process stops immediately.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }
}

/// A listener for SIGINT and SIGTERM.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.interrupt.recv() => Stop::Interrupt,
            _ = self.terminate.recv() => Stop::Terminate,
        }
    }
}

/// A listener for SIGHUP, which reloads the files.
#[cfg(unix)]
pub(crate) struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::hangup()).map(Self)
    }

    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// A listener for SIGHUP on systems without it: it never fires.
#[cfg(not(unix))]
pub(crate) struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// A listener for Ctrl-C, the only signal of this system.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Stop {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Stop::Interrupt
    }
}

/// Calls `end` when a shutdown takes longer than `allowed`. It runs on a thread with its own runtime, so that blocked work
/// elsewhere does not delay it.
pub(crate) fn watch_over_stop(allowed: Duration, end: impl FnOnce(Stop) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    let watch = move || {
        let signal = runtime.block_on(async {
            let first = signals.next().await;
            tokio::select! {
                () = sleep(allowed) => first,
                second = signals.next() => {
                    sleep(STOP_AT_ONCE.min(allowed)).await;
                    second
                }
            }
        });
        end(signal);
    };
    std::thread::Builder::new().name("stop".to_owned()).spawn(watch).map(drop)
}

/// Sends SIGTERM to a process.
#[cfg(unix)]
pub(crate) fn terminate(pid: u32) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "invalid process id"))?;
    Ok(kill_process(pid, Signal::TERM)?)
}

#[cfg(not(unix))]
pub(crate) fn terminate(_: u32) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no signals; press Ctrl-C in the terminal of the daemon",
    ))
}

#[cfg(all(test, unix))]
#[path = "signals_tests.rs"]
mod tests;
