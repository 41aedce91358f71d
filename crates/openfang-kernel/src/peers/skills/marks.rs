//! What the files of enabled skills look like from outside, for finding out whether to read them again. All calls block.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use openfang_types::limits::SKILL_FILES_MAX;

/// What files look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SkillMarks(Vec<(PathBuf, Option<Mark>)>);

type Mark = (u64, Option<SystemTime>, u64);

impl SkillMarks {
    /// Of these files, and of everything below these directories.
    pub(super) fn of(files: &[PathBuf], directories: &[PathBuf]) -> Self {
        let mut marks: Vec<_> = files.iter().map(|path| (path.clone(), mark(path))).collect();
        for directory in directories {
            let end = marks.len() + SKILL_FILES_MAX * 2;
            let mut waiting = vec![directory.clone()];
            while let Some(path) = waiting.pop() {
                // More than a skill may have is seen by whoever reads it.
                if marks.len() >= end {
                    break;
                }
                let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                if is_directory {
                    let below = std::fs::read_dir(&path).into_iter().flatten().flatten();
                    waiting.extend(below.map(|entry| entry.path()).take(SKILL_FILES_MAX * 2));
                }
                marks.push((path.clone(), mark(&path)));
            }
        }
        marks.sort();
        Self(marks)
    }
}

fn mark(path: &Path) -> Option<Mark> {
    let found = path.symlink_metadata().ok()?;
    Some((found.len(), found.modified().ok(), inode(&found)))
}

#[cfg(unix)]
fn inode(found: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}
