//! From a path to the place it means, one name at a time on pinned directories.
//!
//! Links are read and their names walked like the caller's; the way up from a directory is the one we came down, never
//! the kernel's `..`, so moving a directory during the walk cannot lift us over the root. Each object on the way is
//! checked against the protected ones. A link that leaves is refused before anything outside is looked at.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{FileType, Mode, fstat, mkdirat, readlinkat};
use rustix::io::Errno;

use super::beneath;
use super::protected::{FileId, Guard};
use super::refusal::Refusal;
use crate::workspace::rel_path::{MAX_DEPTH, PathFault, RelPath};

/// As many as the kernel follows.
const MAX_LINKS: usize = 40;

/// Where a path ends.
pub(super) enum WalkEnd {
    Directory {
        fd: OwnedFd,
        path: Vec<OsString>,
    },
    /// A name in a directory: not a link, not a directory, perhaps free.
    Entry {
        parent: OwnedFd,
        name: OsString,
        kind: Option<FileType>,
        /// The names from the root to this one, with links resolved.
        path: Vec<OsString>,
    },
    /// Beyond what is there: the names from the root, and how many of the last ones are directories that are missing and
    /// the file in them.
    Missing {
        path: Vec<OsString>,
        missing: usize,
    },
}

/// What to do where a directory of the path is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Refuse,
    /// Say what would be created.
    Foresee,
    Create,
}

pub(super) fn walk(
    root: BorrowedFd<'_>,
    path: &RelPath<'_>,
    guard: &mut Guard<'_>,
    missing: Missing,
) -> Result<WalkEnd, Refusal> {
    let steps = path
        .names()
        .iter()
        .rev()
        .map(|name| Step { name: OsString::from(name), origin: Origin::Caller });
    let walk = Walk {
        guard,
        missing,
        ends_in_directory: path.means_directory(),
        here: Pinned::new(beneath::look(root, ".")?)?,
        above: Vec::new(),
        way: Vec::new(),
        steps: steps.collect(),
        links: 0,
    };
    walk.finish()
}

struct Walk<'w, 'g> {
    guard: &'w mut Guard<'g>,
    missing: Missing,
    ends_in_directory: bool,
    here: Pinned,
    /// The way we came, the root first.
    above: Vec<Pinned>,
    /// The names of that way.
    way: Vec<OsString>,
    /// The next one last.
    steps: Vec<Step>,
    links: usize,
}

struct Step {
    name: OsString,
    origin: Origin,
}

/// Only what the caller wrote is created; a link to nowhere stays one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Caller,
    Link,
}

/// A directory that stays what it is, wherever it is moved.
struct Pinned {
    fd: OwnedFd,
    id: FileId,
}

impl Pinned {
    fn new(fd: OwnedFd) -> Result<Self, Refusal> {
        let id = FileId::of(&fstat(&fd)?);
        Ok(Self { fd, id })
    }
}

impl Walk<'_, '_> {
    fn finish(mut self) -> Result<WalkEnd, Refusal> {
        while let Some(step) = self.steps.pop() {
            if step.name == ".." {
                self.here = self.above.pop().ok_or(Refusal::Outside)?;
                self.way.pop();
                continue;
            }
            let is_last = self.steps.is_empty() && !self.ends_in_directory;
            let kind = match self.look(&step)? {
                Some((object, FileType::Directory)) => {
                    self.enter(object, step.name)?;
                    continue;
                }
                Some((link, FileType::Symlink)) => {
                    self.follow(&link)?;
                    continue;
                }
                Some((_, _)) if !is_last => return Err(Refusal::NotADirectory),
                Some((_, kind)) => Some(kind),
                None if !is_last && self.missing == Missing::Foresee => return self.foresee(step),
                None if !is_last => {
                    self.create(&step)?;
                    continue;
                }
                None => None,
            };
            self.way.push(step.name.clone());
            return Ok(WalkEnd::Entry { parent: self.here.fd, name: step.name, kind, path: self.way });
        }
        Ok(WalkEnd::Directory { fd: self.here.fd, path: self.way })
    }

    /// What a name stands for, if it is taken and not ours.
    fn look(&self, step: &Step) -> Result<Option<(OwnedFd, FileType)>, Refusal> {
        self.guard.check_place(self.here.id, &step.name)?;
        let object = match beneath::look(self.here.fd.as_fd(), step.name.as_os_str()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let stat = fstat(&object)?;
        self.guard.check(FileId::of(&stat))?;
        Ok(Some((object, FileType::from_raw_mode(stat.st_mode))))
    }

    fn enter(&mut self, directory: OwnedFd, name: OsString) -> Result<(), Refusal> {
        if self.above.len() >= MAX_DEPTH {
            return Err(Refusal::Invalid(PathFault::TooDeep));
        }
        let below = Pinned::new(directory)?;
        self.above.push(std::mem::replace(&mut self.here, below));
        self.way.push(name);
        Ok(())
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), Refusal> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Refusal::Invalid(PathFault::TooManyLinks));
        }
        let target = readlinkat(link, "", Vec::new())?;
        let target = target.as_bytes();
        if target.first() == Some(&b'/') {
            return Err(Refusal::Outside);
        }
        let names = target.split(|byte| *byte == b'/').rev().filter(|name| !matches!(*name, b"" | b"."));
        self.steps
            .extend(names.map(|name| Step { name: OsStr::from_bytes(name).to_owned(), origin: Origin::Link }));
        Ok(())
    }

    /// What the caller wrote from here on has neither links nor a way up.
    fn foresee(mut self, step: Step) -> Result<WalkEnd, Refusal> {
        if step.origin == Origin::Link {
            return Err(Refusal::NotFound);
        }
        let missing = self.steps.len() + 1;
        self.way.push(step.name);
        self.way.extend(self.steps.into_iter().rev().map(|step| step.name));
        if self.way.len() > MAX_DEPTH + 1 {
            return Err(Refusal::Invalid(PathFault::TooDeep));
        }
        Ok(WalkEnd::Missing { path: self.way, missing })
    }

    fn create(&mut self, step: &Step) -> Result<(), Refusal> {
        if self.missing == Missing::Refuse || step.origin == Origin::Link {
            return Err(Refusal::NotFound);
        }
        match mkdirat(&self.here.fd, step.name.as_os_str(), Mode::RWXU) {
            // Somebody was faster; what they made is looked at like anything else.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.guard.refresh();
        match self.look(step)? {
            Some((object, FileType::Directory)) => self.enter(object, step.name.clone()),
            Some((link, FileType::Symlink)) => self.follow(&link),
            Some(_) => Err(Refusal::NotADirectory),
            None => Err(Refusal::NotFound),
        }
    }
}
