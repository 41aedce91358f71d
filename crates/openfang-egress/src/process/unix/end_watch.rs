//! Notices the end of a child without reaping it. Isolated children are watched by a pidfd, portable ones by SIGCHLD and a look.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use openfang_types::config::ChildIsolation;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::process::Ending;

pub(super) enum EndWatch {
    /// Readable when the child has ended.
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    /// The signal says that some child has ended.
    Signals(Pid, Signal),
}

impl EndWatch {
    pub(super) fn new(pid: u32, isolation: ChildIsolation) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("no such number"))?;
        match isolation {
            #[cfg(target_os = "linux")]
            ChildIsolation::Isolated => descriptor(pid).map(Self::Descriptor),
            #[cfg(not(target_os = "linux"))]
            ChildIsolation::Isolated => Err(io::ErrorKind::Unsupported.into()),
            ChildIsolation::Portable => Ok(Self::Signals(pid, signal(SignalKind::child())?)),
        }
    }

    /// Waits until the child has ended. If it cannot be watched, it counts as ended: it is better killed early than never.
    pub(super) async fn ended(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => drop(descriptor.readable().await),
            Self::Signals(pid, signals) => {
                // A signal that comes after the look is kept for the wait.
                while ending_of(*pid).is_none() && signals.recv().await.is_some() {}
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(
    deprecated,
    reason = "unsound only for types that do not own their descriptor; this one does, and the way instead is unsafe"
)]
fn descriptor(pid: Pid) -> io::Result<AsyncFd<OwnedFd>> {
    let descriptor = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK)?;
    AsyncFd::with_interest(descriptor, tokio::io::Interest::READABLE)
}

/// How a child of ours ended, if it has. It is not reaped.
pub(super) fn ending_of(pid: Pid) -> Option<Ending> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(pid), look) {
        Ok(Some(status)) => {
            let signal = status.terminating_signal().map(Ending::Signal);
            Some(status.exit_status().map(Ending::Code).or(signal).unwrap_or(Ending::Unknown))
        }
        Ok(None) => None,
        Err(_) => Some(Ending::Unknown),
    }
}
