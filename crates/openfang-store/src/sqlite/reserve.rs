//! Disk space reserved in a file beside the database. When the disk is full the file is truncated. That makes room for
//! work in progress and for the audit log, and new work is refused until the file can be filled again. All processes of
//! a home share the file, so an empty file means the same to each of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use openfang_types::limits::STORE_RESERVE_BYTES;

/// Written to test whether writing works.
static TRIAL: [u8; 64 * 1024] = [b'.'; 64 * 1024];

/// The file, and whether it is full.
pub(super) struct Reserve {
    path: PathBuf,
    bytes: u64,
    is_full: bool,
}

struct Space {
    total: u64,
    free: u64,
}

impl Reserve {
    /// Reserves space for the database of this name. If that fails there is no reserve.
    pub(super) fn beside(database: &Path) -> Self {
        let path = database.with_extension("reserve");
        let bytes = space(&path).map_or(0, |space| STORE_RESERVE_BYTES.min(space.total / 8));
        let mut reserve = Self { path, bytes, is_full: false };
        reserve.fill();
        reserve
    }

    /// Whether the space is reserved.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Reserves the space again if there is enough.
    pub(super) fn fill(&mut self) {
        self.is_full = self.bytes == 0
            || self.try_fill().unwrap_or_else(|error| {
                tracing::warn!(%error, "no disk space can be reserved");
                // The cause is not a lack of space, but a foreign file or an unsupported file system.
                true
            });
    }

    fn try_fill(&self) -> io::Result<bool> {
        if self.path.metadata().is_ok_and(|found| found.len() >= self.bytes) {
            return Ok(true);
        }
        if space(&self.path)?.free < 2 * self.bytes {
            return Ok(false);
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&self.path)?;
        // Twice as much for a moment: a quota may allow less than the file system has.
        let filled = allocate(&file, 2 * self.bytes).and_then(|()| file.set_len(self.bytes));
        if filled.as_ref().is_err_and(is_lack_of_room) {
            self.empty()?;
            return Ok(false);
        }
        filled.map(|()| true)
    }

    /// Releases the space if the disk is full. Returns whether there is more room now. Call this after a failed write.
    pub(super) fn give_back(&mut self) -> bool {
        if self.bytes == 0 || !self.is_full || !self.is_disk_full() {
            return false;
        }
        self.is_full = false;
        match self.empty() {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, "the reserved disk space cannot be released");
                false
            }
        }
    }

    /// Whether the file system has little space left or cannot be written. With a quota, writes fail long before the
    /// file system is full.
    fn is_disk_full(&self) -> bool {
        space(&self.path).is_ok_and(|space| space.free < self.bytes)
            || self.try_write().is_err_and(|error| is_lack_of_room(&error))
    }

    /// Writes a little more than the reserve, and removes it again.
    fn try_write(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(&self.path)?;
        file.seek(io::SeekFrom::Start(self.bytes))?;
        let written = file.write_all(&TRIAL);
        file.set_len(self.bytes)?;
        written
    }

    fn empty(&self) -> io::Result<()> {
        OpenOptions::new().write(true).open(&self.path)?.set_len(0)
    }
}

/// Whether a write failed because of the disk space or a quota.
fn is_lack_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes)?)
}

#[cfg(not(target_os = "linux"))]
fn allocate(mut file: &File, bytes: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(b'.'), bytes), &mut file).map(drop)
}

/// The file system of a file, or of its future location.
fn space(path: &Path) -> io::Result<Space> {
    let found = rustix::fs::statvfs(path.parent().unwrap_or(path))?;
    Ok(Space {
        total: found.f_blocks.saturating_mul(found.f_frsize),
        free: found.f_bavail.saturating_mul(found.f_frsize),
    })
}

#[cfg(test)]
#[path = "reserve_tests.rs"]
mod tests;
