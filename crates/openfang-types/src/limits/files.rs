//! Limits of the tools that work on files, and of workspaces.

use std::time::Duration;

/// What `file_read` returns of one file.
pub const FILE_READ_MAX_BYTES: usize = 1024 * 1024;
/// The largest image that `image_analyze` reads.
pub const IMAGE_MAX_BYTES: usize = 5 * 1024 * 1024;
/// The question that `image_analyze` passes on with an image.
pub const IMAGE_PROMPT_MAX_BYTES: usize = 8 * 1024;
/// The largest text that `file_write` accepts.
pub const FILE_WRITE_MAX_BYTES: usize = 5 * 1024 * 1024;
/// Entries that `file_list` returns.
pub const FILE_LIST_MAX_ENTRIES: usize = 1_000;
/// How long a process waits for another one that works in the same workspace.
pub const WORKSPACE_LOCK: Duration = Duration::from_secs(10);
/// How often it looks.
pub const WORKSPACE_LOCK_POLL: Duration = Duration::from_millis(2);
/// Records of files that are read at a time, to see whether the files are still there.
pub const FILES_SWEPT: usize = 500;
