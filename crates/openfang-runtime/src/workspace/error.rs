//! Why a file operation was refused, in words a model can act on. A path that leads outside gives the same error
//! whatever is or is not there.

use std::io;

use super::PathFault;

/// A refused or failed file operation. `path` is the path as the caller wrote it, escaped and shortened for display.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The text is not a path that the workspace accepts; nothing was looked up.
    #[error("the path '{path}' cannot be used: {why}")]
    InvalidPath {
        /// The path as shown.
        path: String,
        /// What is wrong with it.
        why: PathFault,
    },
    /// The path passes through a link that leaves the root.
    #[error("'{path}' leads outside the workspace, only what lies inside can be used")]
    Outside {
        /// The path as shown.
        path: String,
    },
    #[error("there is nothing at '{path}'")]
    NotFound {
        /// The path as shown.
        path: String,
    },
    /// A directory, pipe, socket or device where a regular file was needed.
    #[error("'{path}' is not a regular file")]
    NotAFile {
        /// The path as shown.
        path: String,
    },
    /// A file where a directory was needed.
    #[error("'{path}' is not a directory, or passes through something that is not one")]
    NotADirectory {
        /// The path as shown.
        path: String,
    },
    /// One of our own files: configuration, keys, database, audit.
    #[error("'{path}' belongs to openfang itself and is closed to tools")]
    Protected {
        /// The path as shown.
        path: String,
    },
    /// A file with another name, which may be outside.
    #[error(
        "'{path}' is a hard link: the same file has another name, perhaps outside the workspace; make a copy of it"
    )]
    HardLink {
        /// The path as shown.
        path: String,
    },
    /// The disk, a quota or a size limit is reached; the old content is untouched.
    #[error("there is no room to write '{path}': the disk is full, or a quota or size limit is reached")]
    TooLarge {
        /// The path as shown.
        path: String,
    },
    /// The system refused for another reason, such as permissions.
    #[error("'{path}' cannot be used: {}", source.kind())]
    Io {
        /// The path as shown.
        path: String,
        /// The system's own error, for the log.
        source: io::Error,
    },
    /// This system cannot keep file tools beneath a directory.
    #[error("file tools need linux 5.6 or newer")]
    Unsupported,
}
