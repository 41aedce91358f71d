//! Errors between the command line and its daemon, each with a remedy.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::sse::SseError;

/// Why the daemon could not be reached or understood.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The file exists but cannot be read.
    #[error("{path} cannot be read: {cause}; remove it if no daemon runs", path = path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// The file cannot be written or removed.
    #[error("{path} cannot be written: {cause}; check who owns the directory and whether the disk is full", path = path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// Other users can read the token.
    #[error("{path} can be read by others (mode {mode:03o}), and it holds the daemon's token; stop the daemon, remove the file and start again", path = path.display())]
    NotPrivate { path: PathBuf, mode: u32 },
    /// Another user wrote the file.
    #[error("{path} belongs to another user; run as that user, or choose another home with --home", path = path.display())]
    NotOurs { path: PathBuf },
    /// The file has unexpected content.
    #[error("{path} is not a daemon file: {why}; remove it and start the daemon again", path = path.display())]
    Malformed { path: PathBuf, why: String },
    /// The address is not one of this machine.
    #[error(
        "the daemon file names {address}, which is not an address of this machine; remove daemon.json and start the daemon again"
    )]
    Elsewhere { address: SocketAddr },
    /// Nothing can be connected to.
    #[error("nothing listens at {address} ({cause}); start the daemon with `openfang start`")]
    Unreachable {
        address: SocketAddr,
        #[source]
        cause: io::Error,
    },
    /// The listener does not know the token.
    #[error("whatever listens at {address} is not this home's daemon; start the daemon with `openfang start`")]
    Unproved { address: SocketAddr },
    /// No answer came in time.
    #[error("the daemon (pid {pid}) at {address} does not answer; retry later, or stop it with `kill {pid}`")]
    Silent { address: SocketAddr, pid: u32 },
    #[error(
        "the connection to the daemon at {address} broke ({cause}); run `openfang status` to see whether it is still running"
    )]
    Lost {
        address: SocketAddr,
        #[source]
        cause: hyper::Error,
    },
    /// The answer exceeds the size limit.
    #[error("the daemon's response is larger than {limit} bytes; request less at a time")]
    TooLarge {
        /// The size limit in bytes.
        limit: usize,
    },
    /// The stream of events cannot be followed.
    #[error("the event stream of the daemon exceeds a limit: {0}; request less at a time")]
    Stream(#[from] SseError),
    /// The path or a header cannot be sent.
    #[error("the request is invalid: {0}")]
    Request(#[from] http::Error),
    /// The system has no randomness.
    #[error("cannot get random numbers from the system: {0}")]
    Randomness(#[from] getrandom::Error),
}

impl DaemonError {
    /// Whether the file belongs to a daemon that is gone: the port is free, or used by another program.
    pub(super) fn means_nobody_is_there(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Unproved { .. } | Self::Lost { .. } => true,
            Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::NotPrivate { .. }
            | Self::NotOurs { .. }
            | Self::Malformed { .. }
            | Self::Elsewhere { .. }
            | Self::Silent { .. }
            | Self::TooLarge { .. }
            | Self::Stream(_)
            | Self::Request(_)
            | Self::Randomness(_) => false,
        }
    }
}
