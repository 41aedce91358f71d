//! Keeping two processes apart that work in one workspace: a lock on its directory, which ends with the process.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use openfang_types::limits::{WORKSPACE_LOCK, WORKSPACE_LOCK_POLL};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::beneath;
use super::refusal::Refusal;
use crate::workspace::LockKind;

/// A workspace that is taken, until this is dropped.
#[derive(Debug)]
pub struct FileLock {
    _directory: OwnedFd,
}

pub(super) fn lock(root: BorrowedFd<'_>, kind: LockKind) -> Result<FileLock, Refusal> {
    let directory = beneath::open(root, ".", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let operation = match kind {
        LockKind::Read => FlockOperation::NonBlockingLockShared,
        LockKind::Write => FlockOperation::NonBlockingLockExclusive,
    };
    let deadline = Instant::now() + WORKSPACE_LOCK;
    loop {
        match flock(&directory, operation) {
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {}
            // A file system without locks: then only this process keeps its own writers apart.
            Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {
                return Ok(FileLock { _directory: directory });
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(Refusal::System(Errno::BUSY)),
            Err(errno) => return Err(errno.into()),
        }
        #[expect(clippy::disallowed_methods, reason = "file work blocks, and here two processes meet")]
        std::thread::sleep(WORKSPACE_LOCK_POLL);
    }
}
