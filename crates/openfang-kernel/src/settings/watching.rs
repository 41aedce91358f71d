//! What the files look like: their place, size and time, which are compared, and not their content. Polling works
//! with swapped links, renames and network disks, where notifications do not.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::home::Home;

/// What the files looked like, without their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileMarks(Vec<(PathBuf, Option<FileMark>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FileMark {
    /// Device, inode, owner and permissions, where there are such things.
    identity: (u64, u64, u32, u32),
    /// Of a file; a directory changes whenever anything in it does.
    content: Option<(u64, Option<SystemTime>)>,
}

impl FileMarks {
    /// Looks at the files of a home. Blocks.
    pub(crate) fn of(home: &Home) -> Self {
        let mut paths = vec![home.root().to_owned(), home.config(), home.agents()];
        paths.extend(home.agent_files());
        paths.sort();
        Self(
            paths
                .into_iter()
                .map(|path| (mark(&path), path))
                .map(|(mark, path)| (path, mark))
                .collect(),
        )
    }
}

fn mark(path: &Path) -> Option<FileMark> {
    let found = path.metadata().ok()?;
    let content = found.is_file().then(|| (found.len(), found.modified().ok()));
    Some(FileMark { identity: identity(&found), content })
}

#[cfg(unix)]
fn identity(found: &std::fs::Metadata) -> (u64, u64, u32, u32) {
    use std::os::unix::fs::MetadataExt as _;
    (found.dev(), found.ino(), found.uid(), found.mode())
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> (u64, u64, u32, u32) {
    (0, 0, 0, 0)
}

#[cfg(test)]
#[path = "watching_tests.rs"]
mod tests;
