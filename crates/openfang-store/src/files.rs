//! The contract of workspace files: the labels and the length of each file that a tool wrote.
//!
//! A path is relative to the directory of all workspaces, with its links resolved. A writer holds the lock of the
//! workspace from [`FileStore::announce`] to [`FileStore::settle`]. Without the second call, the record keeps the
//! stricter labels.

use openfang_types::ids::Owner;
use openfang_types::taint::Labels;

use crate::StoreFuture;

/// Records of workspace files.
pub trait FileStore: Send + Sync {
    /// Announces new content. Until the write is settled, the record has the labels of both the old and the new
    /// content, and the larger length. Returns the previous record.
    fn announce<'a>(&'a self, owner: &'a Owner, path: &'a str, next: FileRecord)
    -> StoreFuture<'a, Option<FileRecord>>;
    /// Replaces the record, or removes it with none.
    fn settle<'a>(&'a self, owner: &'a Owner, path: &'a str, record: Option<FileRecord>) -> StoreFuture<'a, ()>;
    /// The record of a file.
    fn get<'a>(&'a self, owner: &'a Owner, path: &'a str) -> StoreFuture<'a, Option<FileRecord>>;
    /// The joined labels of all files below a directory.
    fn labels_below<'a>(&'a self, owner: &'a Owner, directory: &'a str) -> StoreFuture<'a, Labels>;
    /// The next files of all owners after `after`, in order, at most `limit`.
    fn paths<'a>(&'a self, after: Option<&'a FilePath>, limit: usize) -> StoreFuture<'a, Vec<FilePath>>;
}

/// The record of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRecord {
    /// The length of its content.
    pub bytes: u64,
    /// The labels of its content.
    pub labels: Labels,
}

impl FileRecord {
    /// The record during a write, valid for the old and the new content.
    pub(crate) fn either(&self, next: &Self) -> Self {
        Self { bytes: self.bytes.max(next.bytes), labels: next.labels.clone().joined(&self.labels) }
    }
}

/// The owner and the path of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePath {
    pub owner: Owner,
    /// The path below the directory of all workspaces.
    pub path: String,
}
