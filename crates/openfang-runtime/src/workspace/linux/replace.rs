//! Writing a whole file: beside its place under a name of its own, then renamed over it. Whoever reads sees all of the
//! old file or all of the new one, and a write that does not fit leaves nothing behind.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, OFlags, RenameFlags, fsync, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use uuid::Uuid;

use super::protected::Guard;
use super::refusal::{Refusal, errno_of};
use super::{beneath, check_file};
use crate::workspace::Written;

/// How often a name may change between free and taken under our hands before we give up.
const ATTEMPTS: usize = 16;

pub(super) fn replace(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    bytes: &[u8],
    guard: &Guard<'_>,
) -> Result<Written, Refusal> {
    is_taken(parent, name, guard)?;
    let draft = Draft::write(parent, bytes)?;
    let created = draft.publish(name, guard)?;

    // The file is in place: a directory that cannot be synced is no reason to tell the caller otherwise.
    let _ = beneath::open(parent, ".", OFlags::RDONLY | OFlags::DIRECTORY).and_then(|directory| fsync(&directory));
    Ok(Written { bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX), created })
}

/// Whether there is a file that we may replace. It is opened for writing, though nothing is written to it: a rename
/// would also replace what the owner has made read-only.
fn is_taken(parent: BorrowedFd<'_>, name: &OsStr, guard: &Guard<'_>) -> Result<bool, Refusal> {
    match beneath::open(parent, name, OFlags::WRONLY) {
        Err(Errno::NOENT) => Ok(false),
        opened => check_file(&opened?, guard).map(|_| true),
    }
}

/// The new content under a passing name; gone again unless it is published.
struct Draft<'a> {
    parent: BorrowedFd<'a>,
    name: String,
    is_published: bool,
}

impl<'a> Draft<'a> {
    fn write(parent: BorrowedFd<'a>, bytes: &[u8]) -> Result<Self, Refusal> {
        let name = format!(".openfang-{}.tmp", Uuid::new_v4().simple());
        let mut file = File::from(beneath::create(parent, name.as_str())?);
        let draft = Self { parent, name, is_published: false };
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| errno_of(&error))?;
        Ok(draft)
    }

    /// Puts the draft in its place and tells whether the name was free.
    fn publish(mut self, name: &OsStr, guard: &Guard<'_>) -> Result<bool, Refusal> {
        for _ in 0..ATTEMPTS {
            let is_new = !is_taken(self.parent, name, guard)?;
            match self.rename_to(name, is_new) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
                Ok(()) => {
                    self.is_published = true;
                    return Ok(is_new);
                }
            }
        }
        Err(Refusal::System(Errno::BUSY))
    }

    /// A name that was free must still be free, for what came there since has not been checked.
    fn rename_to(&self, name: &OsStr, is_new: bool) -> Result<(), Errno> {
        let draft = self.name.as_str();
        if is_new {
            match renameat_with(self.parent, draft, self.parent, name, RenameFlags::NOREPLACE) {
                // Some network file systems have no such rename.
                Err(Errno::INVAL) => {}
                renamed => return renamed,
            }
        }
        renameat(self.parent, draft, self.parent, name)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = unlinkat(self.parent, self.name.as_str(), AtFlags::empty());
        }
    }
}
