//! Why an operation stops, before the path is put to it. Every system error gets its meaning in one place.

use std::io;

use rustix::io::Errno;

use crate::workspace::{PathFault, WorkspaceError, shown};

/// A [`WorkspaceError`] without its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Invalid(PathFault),
    Outside,
    NotFound,
    NotAFile,
    NotADirectory,
    Protected,
    HardLink,
    NoRoom,
    Unsupported,
    System(Errno),
}

impl Refusal {
    pub(super) fn at(self, path: &str) -> WorkspaceError {
        let path = shown::path(path);
        match self {
            Self::Invalid(why) => WorkspaceError::InvalidPath { path, why },
            Self::Outside => WorkspaceError::Outside { path },
            Self::NotFound => WorkspaceError::NotFound { path },
            Self::NotAFile => WorkspaceError::NotAFile { path },
            Self::NotADirectory => WorkspaceError::NotADirectory { path },
            Self::Protected => WorkspaceError::Protected { path },
            Self::HardLink => WorkspaceError::HardLink { path },
            Self::NoRoom => WorkspaceError::TooLarge { path },
            Self::Unsupported => WorkspaceError::Unsupported,
            Self::System(errno) => WorkspaceError::Io { path, source: io::Error::from(errno) },
        }
    }
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            // LOOP: a link took the name's place after it was looked at. NXIO: a pipe or socket did.
            Errno::ISDIR | Errno::LOOP | Errno::NXIO => Self::NotAFile,
            Errno::XDEV => Self::Outside,
            Errno::NAMETOOLONG => Self::Invalid(PathFault::NameTooLong),
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoRoom,
            Errno::NOSYS => Self::Unsupported,
            other => Self::System(other),
        }
    }
}

/// The system's number behind an error of the standard library.
pub(super) fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
