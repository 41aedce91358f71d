//! A look at the files every two seconds. Their place, size and time are compared and not their content; polling works
//! with swapped links, renames and network disks, where notifications do not.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use openfang_types::limits::{SETTINGS_LOOK, SETTINGS_SETTLE};

use super::home::Home;
use super::reload::ReloadTrigger;
use crate::Kernel;

/// What the files looked like, without their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileMarks(Vec<(PathBuf, Option<FileMark>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FileMark {
    /// Device, inode, owner and permissions, where there are such things.
    identity: (u64, u64, u32, u32),
    /// Of a file; a directory changes whenever anything in it does.
    content: Option<(u64, Option<SystemTime>)>,
}

impl FileMarks {
    /// Looks at the files of a home. Blocks.
    pub(super) fn of(home: &Home) -> Self {
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

impl Kernel {
    /// Takes over what was written, once it has settled.
    pub(crate) async fn watch_settings(self) {
        let mut due = tokio::time::interval(SETTINGS_LOOK);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            due.tick().await;
            if !self.config().reload.watch {
                continue;
            }
            let Some(marks) = self.look_at_files().await else { continue };
            if self.inner.settings.has_seen(&marks) {
                continue;
            }
            tokio::time::sleep(SETTINGS_SETTLE).await;
            // Still being written: the next look finds it.
            if self.look_at_files().await.as_ref() == Some(&marks) {
                // The log has what came of it.
                let _ = self.reload_as(self.on_its_own(), ReloadTrigger::ByNobody).await;
            }
        }
    }

    async fn look_at_files(&self) -> Option<FileMarks> {
        let home = self.inner.home.clone();
        tokio::task::spawn_blocking(move || FileMarks::of(&home)).await.ok()
    }
}

#[cfg(test)]
#[path = "watching_tests.rs"]
mod tests;
