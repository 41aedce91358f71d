//! A root with neighbours that must not be touched:
//! `ws/inside.txt`, `outside/…` and `ws/a_evil/…` hold the canary, `ws/a` is the root.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::workspace::{Workspace, WorkspaceError};

/// Content that no tool may ever see.
pub(super) const CANARY: &str = "canary: this text lies outside";
/// The name that only directories outside hold.
pub(super) const CANARY_NAME: &str = "canary.txt";

pub(super) struct Fixture {
    pub(super) top: TempDir,
    pub(super) root: PathBuf,
    pub(super) workspace: Workspace,
    before: Snapshot,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::protecting(&[])
    }

    /// With protected paths, relative to the directory around the root.
    pub(super) fn protecting(protected: &[&str]) -> Self {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().join("ws/a");
        for neighbour in ["ws/inside.txt", "outside/canary.txt", "outside/inside.txt", "outside/sub/canary.txt"] {
            put(&top.path().join(neighbour), CANARY);
        }
        put(&top.path().join("ws/a_evil/x"), CANARY);
        put(&top.path().join("ws/a_evil/canary.txt"), CANARY);
        put(&root.join("dir/inside.txt"), "inside");
        put(&root.join("file.txt"), "hello");

        let protected: Vec<PathBuf> = protected.iter().map(|path| top.path().join(path)).collect();
        let workspace = Workspace::open(&root, &protected).unwrap();
        let before = snapshot(top.path(), &root);
        Self { top, root, workspace, before }
    }

    pub(super) fn file(&self, path: &str, content: &str) {
        put(&self.root.join(path), content);
    }

    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.root.join(path)).unwrap();
    }

    pub(super) fn outside(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    /// After a change of the neighbours that the test itself has made.
    pub(super) fn remember_outside(&mut self) {
        self.before = snapshot(self.top.path(), &self.root);
    }

    #[track_caller]
    pub(super) fn assert_outside_unchanged(&self) {
        assert_eq!(snapshot(self.top.path(), &self.root), self.before);
    }

    /// Reads, writes and lists; the errors' names in this order. Nothing outside may have changed.
    #[track_caller]
    pub(super) fn refusals(&self, path: &str) -> [String; 3] {
        let refusals = [
            refusal(self.workspace.read(path, 1_000).map(drop)),
            refusal(self.workspace.write(path, b"overwritten").map(drop)),
            refusal(self.workspace.list(path, 1_000).map(drop)),
        ];
        self.assert_outside_unchanged();
        refusals
    }

    #[track_caller]
    pub(super) fn assert_refused(&self, path: &str, expected: &str) {
        assert_eq!(self.refusals(path), [expected; 3], "{path:?}");
    }

    pub(super) fn read_text(&self, path: &str) -> String {
        String::from_utf8(self.workspace.read(path, 1_000_000).unwrap().bytes).unwrap()
    }

    pub(super) fn names(&self, path: &str) -> Vec<String> {
        self.workspace
            .list(path, 1_000_000)
            .unwrap()
            .entries
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }
}

/// The variant's name, with the fault for invalid paths; `ok` when it was not refused at all.
fn refusal(outcome: Result<(), WorkspaceError>) -> String {
    match outcome {
        Ok(()) => "ok".to_owned(),
        Err(error) => variant(&error),
    }
}

pub(super) fn variant(error: &WorkspaceError) -> String {
    match error {
        WorkspaceError::InvalidPath { why, .. } => format!("InvalidPath {why:?}"),
        WorkspaceError::Outside { .. } => "Outside".to_owned(),
        WorkspaceError::NotFound { .. } => "NotFound".to_owned(),
        WorkspaceError::NotAFile { .. } => "NotAFile".to_owned(),
        WorkspaceError::NotADirectory { .. } => "NotADirectory".to_owned(),
        WorkspaceError::Protected { .. } => "Protected".to_owned(),
        WorkspaceError::HardLink { .. } => "HardLink".to_owned(),
        WorkspaceError::TooLarge { .. } => "TooLarge".to_owned(),
        WorkspaceError::Io { source, .. } => format!("Io {:?}", source.kind()),
        WorkspaceError::Unsupported => "Unsupported".to_owned(),
    }
}

pub(super) fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Inode, mode, size, time of change in nanoseconds and content of everything. A directory's time of change also tells
/// of files that came and went.
pub(super) type Snapshot = BTreeMap<PathBuf, (u64, u32, u64, i64, i64, Vec<u8>)>;

pub(super) fn snapshot(directory: &Path, except: &Path) -> Snapshot {
    let mut seen = Snapshot::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let mut content = Vec::new();
        if meta.is_dir() {
            let children = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            todo.extend(children.filter(|child| child != except));
        } else if meta.is_file() {
            content = fs::read(&path).unwrap();
        }
        seen.insert(path, (meta.ino(), meta.mode(), meta.size(), meta.ctime(), meta.ctime_nsec(), content));
    }
    seen
}
