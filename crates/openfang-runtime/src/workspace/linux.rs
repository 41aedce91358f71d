//! The gate on Linux. `beneath` makes the one kind of open call, `walk` gets from a path to its place, `protected` knows
//! our own files, `replace` writes, `listing` lists, `lock` keeps two writers apart. A [`Refusal`] becomes a [`WorkspaceError`] here and only here.

mod beneath;
mod listing;
mod lock;
mod protected;
mod refusal;
mod replace;
mod walk;

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat};

use self::protected::{FileId, Guard, Protected};
use self::refusal::{Refusal, errno_of};
use self::walk::{Missing, WalkEnd, walk};
use super::{FileBytes, Foreseen, Listing, LockKind, RelPath, WorkspaceError, Written, shown};
pub use lock::FileLock;

/// What a path means: a name in a pinned directory, or a directory itself.
#[derive(Debug)]
pub struct Located {
    directory: OwnedFd,
    /// None for a directory.
    name: OsString,
    asked: String,
    path: String,
}

impl Located {
    /// The path from the root, with links resolved: the same for every path that leads there.
    pub fn path(&self) -> &str {
        &self.path
    }
}

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

    pub(super) fn view(root: &Path) -> Result<Self, WorkspaceError> {
        let at_root = |refusal: Refusal| refusal.at(&root.to_string_lossy());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(CWD, root, flags, Mode::empty()).map_err(|errno| at_root(errno.into()))?;
        beneath::look(fd.as_fd(), ".").map_err(Refusal::from).map_err(at_root)?;
        Ok(Self { root: fd, protected: Protected::pin(&[])? })
    }

    /// Takes the workspace for one's own work: alone, or together with others who only read.
    pub(super) fn lock(&self, kind: LockKind) -> Result<FileLock, WorkspaceError> {
        lock::lock(self.root.as_fd(), kind).map_err(|refusal| refusal.at("."))
    }

    /// Finds a file that can be read.
    pub(super) fn file(&self, path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        self.located(path, |guard| match walk(self.root.as_fd(), path, guard, Missing::Refuse)? {
            WalkEnd::Entry { kind: None, .. } => Err(Refusal::NotFound),
            WalkEnd::Entry { parent, name, kind: Some(FileType::RegularFile), path } => Ok((parent, name, path)),
            WalkEnd::Entry { kind: Some(_), .. } | WalkEnd::Directory { .. } => Err(Refusal::NotAFile),
            WalkEnd::Missing { .. } => Err(Refusal::NotFound),
        })
    }

    /// Finds the place of a file that can be written, and makes the directories of its path.
    pub(super) fn target(&self, path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        self.located(path, |guard| {
            if path.means_directory() {
                return Err(refuse_directory(walk(self.root.as_fd(), path, guard, Missing::Refuse)));
            }
            match walk(self.root.as_fd(), path, guard, Missing::Create)? {
                WalkEnd::Entry { parent, name, kind: None | Some(FileType::RegularFile), path } => {
                    Ok((parent, name, path))
                }
                WalkEnd::Entry { kind: Some(_), .. } | WalkEnd::Directory { .. } => Err(Refusal::NotAFile),
                WalkEnd::Missing { .. } => Err(Refusal::NotFound),
            }
        })
    }

    /// Says where a file would be written, and which directories would be made for it. Makes nothing.
    pub(super) fn foresee(&self, path: &RelPath<'_>) -> Result<Foreseen, WorkspaceError> {
        let mut guard = self.protected.guard();
        let found = walk(self.root.as_fd(), path, &mut guard, Missing::Foresee);
        let foreseen = match found {
            found if path.means_directory() => Err(refuse_directory(found)),
            Ok(WalkEnd::Entry { kind: None | Some(FileType::RegularFile), path, .. }) => Ok((path, 1)),
            Ok(WalkEnd::Missing { path, missing }) => Ok((path, missing)),
            Ok(WalkEnd::Entry { kind: Some(_), .. } | WalkEnd::Directory { .. }) => Err(Refusal::NotAFile),
            Err(refusal) => Err(refusal),
        };
        let (names, missing) = foreseen.map_err(|refusal| refusal.at(path.as_str()))?;
        let names: Vec<_> = names.iter().map(|name| shown::unique(name.as_bytes())).collect();
        let last_there = names.len() - missing;
        let new_directories = (last_there + 1..names.len()).map(|end| names[..end].join("/")).collect();
        Ok(Foreseen { asked: path.as_str().to_owned(), path: names.join("/"), new_directories })
    }

    /// Writes a file where it was foreseen. Only somebody beside us can have changed the way there meanwhile.
    pub(super) fn write_foreseen(&self, foreseen: &Foreseen, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        let target = self.target(&super::parse(&foreseen.asked)?)?;
        if target.path != foreseen.path {
            return Err(Refusal::System(rustix::io::Errno::BUSY).at(&foreseen.asked));
        }
        self.write(&target, bytes)
    }

    pub(super) fn directory(&self, path: &RelPath<'_>) -> Result<Located, WorkspaceError> {
        self.located(path, |guard| match walk(self.root.as_fd(), path, guard, Missing::Refuse)? {
            WalkEnd::Directory { fd, path } => Ok((fd, OsString::new(), path)),
            WalkEnd::Entry { kind: None, .. } | WalkEnd::Missing { .. } => Err(Refusal::NotFound),
            WalkEnd::Entry { kind: Some(_), .. } => Err(Refusal::NotADirectory),
        })
    }

    pub(super) fn read(&self, file: &Located, max_bytes: usize) -> Result<FileBytes, WorkspaceError> {
        let read = read_file(file.directory.as_fd(), &file.name, max_bytes, &self.protected.guard());
        read.map_err(|refusal| refusal.at(&file.asked))
    }

    pub(super) fn write(&self, target: &Located, bytes: &[u8]) -> Result<Written, WorkspaceError> {
        let written = replace::replace(target.directory.as_fd(), &target.name, bytes, &self.protected.guard());
        written.map_err(|refusal| refusal.at(&target.asked))
    }

    pub(super) fn list(&self, directory: &Located, max_entries: usize) -> Result<Listing, WorkspaceError> {
        let listing = listing::list(directory.directory.as_fd(), max_entries, &self.protected.guard());
        listing.map_err(|refusal| refusal.at(&directory.asked))
    }

    fn located(
        &self,
        path: &RelPath<'_>,
        find: impl FnOnce(&mut Guard<'_>) -> Result<(OwnedFd, OsString, Vec<OsString>), Refusal>,
    ) -> Result<Located, WorkspaceError> {
        let (directory, name, names) =
            find(&mut self.protected.guard()).map_err(|refusal| refusal.at(path.as_str()))?;
        let names: Vec<_> = names.iter().map(|name| shown::unique(name.as_bytes())).collect();
        Ok(Located { directory, name, asked: path.as_str().to_owned(), path: names.join("/") })
    }
}

/// A path such as `new/` cannot be written, for whichever reason comes first on its way.
fn refuse_directory(found: Result<WalkEnd, Refusal>) -> Refusal {
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
    let stat = check_file(&file, guard)?;
    // Its other name may be outside, and then so is what it says.
    if stat.st_nlink > 1 {
        return Err(Refusal::HardLink);
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();

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
