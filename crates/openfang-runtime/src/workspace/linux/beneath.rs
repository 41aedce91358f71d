//! The only open calls below the root: one name, on a pinned directory, no link followed, nothing outside reachable.
//!
//! The kernel enforces it (`RESOLVE_BENEATH`), so a name that turns into a link or a way up between two calls gives an
//! error and not an escape.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::path::Arg;

/// The kernel answers EAGAIN when a rename disturbed a scoped lookup; whoever renames in a loop does not get to hold us.
const ATTEMPTS: usize = 64;

/// A handle that can be asked what it is, and be walked from, without opening anything for effect.
pub(super) fn look(directory: BorrowedFd<'_>, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    scoped(directory, name, OFlags::PATH, Mode::empty())
}

/// Opens what exists. A pipe does not block, a terminal is not adopted.
pub(super) fn open(directory: BorrowedFd<'_>, name: impl Arg + Copy, access: OFlags) -> Result<OwnedFd, Errno> {
    scoped(directory, name, access | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())
}

/// Creates a file that only we can read, or fails when the name is taken.
pub(super) fn create(directory: BorrowedFd<'_>, name: impl Arg + Copy) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOCTTY;
    scoped(directory, name, flags, Mode::RUSR | Mode::WUSR)
}

fn scoped(directory: BorrowedFd<'_>, name: impl Arg + Copy, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(directory, name, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}
