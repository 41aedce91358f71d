//! What can go wrong between the command line and its daemon, with the way out.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::sse::SseError;

/// Why the daemon was not reached, or not understood.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The file is there and cannot be read.
    #[error("{path} cannot be read: {cause}; remove it if no daemon runs", path = path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file cannot be written or removed.
    #[error("{path} cannot be written: {cause}; check who owns the directory and whether the disk is full", path = path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The token in it is no secret.
    #[error("{path} can be read by others (mode {mode:03o}), and it holds the daemon's token; stop the daemon, remove the file and start again", path = path.display())]
    NotPrivate {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Somebody else wrote it.
    #[error("{path} belongs to another user; run as that user, or choose another home with --home", path = path.display())]
    NotOurs {
        /// Which file.
        path: PathBuf,
    },
    /// It does not say what it should.
    #[error("{path} is not a daemon file: {why}; remove it and start the daemon again", path = path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The address is not one of this machine.
    #[error(
        "the daemon file names {address}, which is not an address of this machine; remove daemon.json and start the daemon again"
    )]
    Elsewhere {
        /// Which address.
        address: SocketAddr,
    },
    /// Nothing can be connected to.
    #[error("nothing listens at {address} ({cause}); start the daemon with `openfang start`")]
    Unreachable {
        /// Which address.
        address: SocketAddr,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Whoever listens does not know the token.
    #[error("whatever listens at {address} is not this home's daemon; start the daemon with `openfang start`")]
    Unproved {
        /// Which address.
        address: SocketAddr,
    },
    /// No answer came in time.
    #[error("the daemon (pid {pid}) at {address} does not answer; wait and try again, or end it with `kill {pid}`")]
    Silent {
        /// Which address.
        address: SocketAddr,
        /// Which process.
        pid: u32,
    },
    /// The connection broke.
    #[error(
        "the connection to the daemon at {address} broke ({cause}); see whether it still runs with `openfang status`"
    )]
    Lost {
        /// Which address.
        address: SocketAddr,
        /// Why.
        #[source]
        cause: hyper::Error,
    },
    /// The answer is larger than we take.
    #[error("the daemon's answer is larger than {limit} bytes; ask for less at a time")]
    TooLarge {
        /// How much we take.
        limit: usize,
    },
    /// The stream of events cannot be followed.
    #[error("the daemon's stream cannot be followed: {0}; ask for less at a time")]
    Stream(#[from] SseError),
    /// The path or a header cannot be sent.
    #[error("the request cannot be written: {0}")]
    Request(#[from] http::Error),
    /// The system has no randomness.
    #[error("cannot get random numbers from the system: {0}")]
    Randomness(#[from] getrandom::Error),
}

impl DaemonError {
    /// Whether the file speaks of a daemon that is gone: the port is free, or somebody else's by now.
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
