//! The contract of workspace files: what the content of each file carries that a tool wrote, and how long it is.
//!
//! A path is below the directory of all workspaces, with its links resolved. Whoever writes a file holds the lock of its
//! workspace from [`FileStore::announce`] to [`FileStore::settle`]; without the second, the record stays on the safe side.

use openfang_types::ids::Owner;
use openfang_types::taint::Labels;

use crate::StoreFuture;

/// Records of workspace files.
pub trait FileStore: Send + Sync {
    /// Makes room for new content. Until the write is settled, the record has the labels of the old content and of the
    /// new one, and the larger length. Returns the record as it was.
    fn announce<'a>(&'a self, owner: &'a Owner, path: &'a str, next: FileRecord)
    -> StoreFuture<'a, Option<FileRecord>>;
    /// Replaces the record; none removes it.
    fn settle<'a>(&'a self, owner: &'a Owner, path: &'a str, record: Option<FileRecord>) -> StoreFuture<'a, ()>;
    /// The record of a file.
    fn get<'a>(&'a self, owner: &'a Owner, path: &'a str) -> StoreFuture<'a, Option<FileRecord>>;
    /// The labels of all files below a directory, joined.
    fn labels_below<'a>(&'a self, owner: &'a Owner, directory: &'a str) -> StoreFuture<'a, Labels>;
    /// The next files of all owners after `after`, in order, at most `limit`.
    fn paths<'a>(&'a self, after: Option<&'a FilePath>, limit: usize) -> StoreFuture<'a, Vec<FilePath>>;
}

/// A file that is on record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRecord {
    /// How long its content is.
    pub bytes: u64,
    /// Where its content came from.
    pub labels: Labels,
}

impl FileRecord {
    /// What holds before and after a write, whichever content is there.
    pub(crate) fn either(&self, next: &Self) -> Self {
        Self { bytes: self.bytes.max(next.bytes), labels: next.labels.clone().joined(&self.labels) }
    }
}

/// Whose file, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath {
    /// Whose.
    pub owner: Owner,
    /// Below the directory of all workspaces.
    pub path: String,
}
