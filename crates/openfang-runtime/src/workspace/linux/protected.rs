//! Our own files, known by what they are and not by what they are called: device and inode, plus the place where one
//! that does not exist yet would be.
//!
//! Files get new inodes when they are saved by rename, so every operation looks again ([`Protected::guard`]); the
//! objects seen first stay pinned, so that a hard link to an old key file remains refused and its inode is not reused.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{self, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat, stat};
use rustix::io::Errno;

use super::refusal::{Refusal, errno_of};
use crate::workspace::WorkspaceError;

/// Which object it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// The files and directories that are closed to tools, for the life of a workspace.
#[derive(Debug)]
pub(super) struct Protected {
    paths: Vec<PathBuf>,
    pinned: Vec<Pinned>,
}

#[derive(Debug)]
struct Pinned {
    id: FileId,
    /// Held so that the inode number cannot pass to another file.
    _held: OwnedFd,
}

impl Protected {
    /// A file that is not there yet is fine; one that cannot be looked at is not, for it could not be recognised.
    pub(super) fn pin(paths: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let mut protected = Self { paths: Vec::with_capacity(paths.len()), pinned: Vec::new() };
        for given in paths {
            let at_path = |refusal: Refusal| refusal.at(&given.to_string_lossy());
            let path = path::absolute(given).map_err(|error| at_path(errno_of(&error).into()))?;
            protected.pinned.extend(pin_one(&path).map_err(at_path)?);
            protected.paths.push(path);
        }
        Ok(protected)
    }

    /// What is protected at this moment.
    pub(super) fn guard(&self) -> Guard<'_> {
        let mut guard = Guard { protected: self, ids: Vec::new(), places: Vec::new() };
        guard.refresh();
        guard
    }
}

fn pin_one(path: &Path) -> Result<Option<Pinned>, Refusal> {
    let held = match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        opened => opened?,
    };
    let id = FileId::of(&fstat(&held)?);
    Ok(Some(Pinned { id, _held: held }))
}

fn id_at(path: &Path) -> Option<FileId> {
    stat(path).ok().map(|stat| FileId::of(&stat))
}

/// The protected objects and places during one operation.
#[derive(Debug)]
pub(super) struct Guard<'a> {
    protected: &'a Protected,
    ids: Vec<FileId>,
    places: Vec<(FileId, OsString)>,
}

impl Guard<'_> {
    /// Looks again. Needed after each new directory: it may be the one that a protected file was waiting for.
    pub(super) fn refresh(&mut self) {
        self.ids = self.protected.pinned.iter().map(|pinned| pinned.id).collect();
        self.places.clear();
        for path in &self.protected.paths {
            self.ids.extend(id_at(path));
            if let (Some(parent), Some(name)) = (path.parent().and_then(id_at), path.file_name()) {
                self.places.push((parent, name.to_owned()));
            }
        }
    }

    /// Refuses an object that is ours.
    pub(super) fn check(&self, id: FileId) -> Result<(), Refusal> {
        if self.ids.contains(&id) { Err(Refusal::Protected) } else { Ok(()) }
    }

    /// Refuses a name, taken or free, that is ours in its directory.
    pub(super) fn check_place(&self, directory: FileId, name: &OsStr) -> Result<(), Refusal> {
        let ours = self.places.iter().any(|(parent, own)| *parent == directory && own == name);
        if ours { Err(Refusal::Protected) } else { Ok(()) }
    }
}
