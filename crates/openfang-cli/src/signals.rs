//! Being told to stop, and telling the daemon to.

use std::io;
use std::time::Duration;

use openfang_types::limits::STOP_AT_ONCE;
use tokio::time::sleep;

use crate::error::Exit;

/// A signal that means: stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Ctrl-C.
    Interrupt,
    /// What service managers and `openfang stop` send.
    Terminate,
}

impl Stop {
    /// How the process ends when the signal may not wait.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }
}

/// The signals, from the moment they are listened to.
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

/// The signal to read the files again.
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

/// The signal to read the files again, where there is none.
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

/// The signals, where Ctrl-C is the only one.
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

/// Calls `end` when a stop takes longer than it may: on a thread that shares nothing with the rest, so that whatever holds
/// up the rest does not hold up this.
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

/// Tells a process to stop in its own time.
#[cfg(unix)]
pub(crate) fn terminate(pid: u32) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a process id"))?;
    Ok(kill_process(pid, Signal::TERM)?)
}

#[cfg(not(unix))]
pub(crate) fn terminate(_: u32) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no signals; press Ctrl-C where it runs"))
}

#[cfg(all(test, unix))]
#[path = "signals_tests.rs"]
mod tests;
