//! The gate on Linux. `beneath` makes the one kind of open call, `walk` gets from a path to its place, `protected` knows
//! our own files, `replace` writes, `listing` lists. A [`Refusal`] becomes a [`WorkspaceError`] here and only here.

mod beneath;
mod listing;
mod protected;
mod refusal;
mod replace;
mod walk;

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat};

use self::protected::{FileId, Guard, Protected};
use self::refusal::{Refusal, errno_of};
use self::walk::{Missing, Place, walk};
use super::{FileBytes, Listing, RelPath, WorkspaceError, Written};

/// The pinned root and what must not be touched beneath it.
#[derive(Debug)]
pub(super) struct Gate {
    root: OwnedFd,
    protected: Protected,
}

impl Gate {
    pub(super) fn open(root: &Path, protected: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let at_root = |refusal: Refusal| refusal.at(&root.to_string_lossy());
        let fd = open_root(root).map_err(at_root)?;
        let protected = Protected::pin(protected)?;

        let stat = fstat(&fd).map_err(Refusal::from).map_err(at_root)?;
        protected.guard().check(FileId::of(&stat)).map_err(at_root)?;
        // Asked now, so that a kernel or a sandbox without openat2 is found at start-up and not in the first tool call.
        beneath::look(fd.as_fd(), ".").map_err(Refusal::from).map_err(at_root)?;
        Ok(Self { root: fd, protected })
    }

    pub(super) fn read(&self, path: &RelPath<'_>, max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        self.try_read(path, max_bytes).map_err(|refusal| refusal.at(path.as_str()))
    }

    pub(super) fn write(&self, path: &RelPath<'_>, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        self.try_write(path, bytes).map_err(|refusal| refusal.at(path.as_str()))
    }

    pub(super) fn list(&self, path: &RelPath<'_>, max_entries: usize) -> Result<Listing, WorkspaceError> {
        self.try_list(path, max_entries).map_err(|refusal| refusal.at(path.as_str()))
    }

    fn try_read(&self, path: &RelPath<'_>, max_bytes: usize) -> Result<FileBytes, Refusal> {
        let mut guard = self.protected.guard();
        match walk(self.root.as_fd(), path, &mut guard, Missing::Refuse)? {
            Place::Entry { kind: None, .. } => Err(Refusal::NotFound),
            Place::Entry { parent, name, kind: Some(FileType::RegularFile) } => {
                read_file(parent.as_fd(), &name, max_bytes, &guard)
            }
            Place::Entry { kind: Some(_), .. } | Place::Directory(_) => Err(Refusal::NotAFile),
        }
    }

    fn try_write(&self, path: &RelPath<'_>, bytes: &[u8]) -> Result<Written, Refusal> {
        let mut guard = self.protected.guard();
        if path.means_directory() {
            return Err(refuse_directory(walk(self.root.as_fd(), path, &mut guard, Missing::Refuse)));
        }
        match walk(self.root.as_fd(), path, &mut guard, Missing::Create)? {
            Place::Entry { parent, name, kind: None | Some(FileType::RegularFile) } => {
                replace::replace(parent.as_fd(), &name, bytes, &guard)
            }
            Place::Entry { kind: Some(_), .. } | Place::Directory(_) => Err(Refusal::NotAFile),
        }
    }

    fn try_list(&self, path: &RelPath<'_>, max_entries: usize) -> Result<Listing, Refusal> {
        let mut guard = self.protected.guard();
        match walk(self.root.as_fd(), path, &mut guard, Missing::Refuse)? {
            Place::Directory(directory) => listing::list(directory.as_fd(), max_entries, &guard),
            Place::Entry { kind: None, .. } => Err(Refusal::NotFound),
            Place::Entry { kind: Some(_), .. } => Err(Refusal::NotADirectory),
        }
    }
}

/// A path such as `new/` cannot be written, for whichever reason comes first on its way.
fn refuse_directory(found: Result<Place, Refusal>) -> Refusal {
    match found {
        Ok(_) | Err(Refusal::NotFound) => Refusal::NotAFile,
        Err(refusal) => refusal,
    }
}

/// The root may be a link or lie behind links: the operator chose it.
fn open_root(root: &Path) -> Result<OwnedFd, Refusal> {
    match DirBuilder::new().recursive(true).mode(0o700).create(root) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Refusal::NotADirectory),
        created => created.map_err(|error| errno_of(&error))?,
    }
    Ok(openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn read_file(parent: BorrowedFd<'_>, name: &OsStr, max_bytes: usize, guard: &Guard<'_>) -> Result<FileBytes, Refusal> {
    let file = beneath::open(parent, name, OFlags::RDONLY)?;
    let size = u64::try_from(check_file(&file, guard)?.st_size).unwrap_or_default();

    // One byte more than allowed tells whether there is more, also where the size is not known (procfs says 0).
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::from(file).take(limit).read_to_end(&mut bytes).map_err(|error| errno_of(&error))?;

    let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let truncated = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    Ok(FileBytes { bytes, size: size.max(read), truncated })
}

/// The last word is on the opened object: by now the name may stand for something else than when it was looked at.
fn check_file(file: &OwnedFd, guard: &Guard<'_>) -> Result<Stat, Refusal> {
    let stat = fstat(file)?;
    guard.check(FileId::of(&stat))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Refusal::NotAFile);
    }
    Ok(stat)
}
