//! Removes a directory that a child filled arbitrarily: nested deeply, with very many files, without permissions for
//! us. Instead of descending, it moves nested entries to the top, so that it never holds more than two directories
//! open. It stops when its time is over and continues with the next call. Links are removed, not followed.

use std::fs::{DirEntry, Permissions, ReadDir};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

/// Removes what it can within the time. Returns whether everything is gone.
pub(super) fn remove(top: &Path, until: Instant) -> bool {
    let mut lift = Lift { top, until, lifted: 0 };
    loop {
        match lift.round() {
            Ok(Round::Gone) => return true,
            Ok(Round::Again) => {}
            Ok(Round::Late) | Err(_) => return is_gone(top),
        }
    }
}

enum Round {
    Gone,
    Again,
    Late,
}

struct Lift<'a> {
    top: &'a Path,
    until: Instant,
    lifted: u64,
}

impl Lift<'_> {
    /// Processes all entries at the top once.
    fn round(&mut self) -> io::Result<Round> {
        let Some(entries) = listed(self.top)? else { return Ok(Round::Gone) };
        for entry in entries {
            if Instant::now() > self.until {
                return Ok(Round::Late);
            }
            let entry = entry?;
            if !is_directory(&entry)? {
                std::fs::remove_file(entry.path())?;
            } else if !self.empty(&entry.path())? {
                return Ok(Round::Late);
            }
        }
        match std::fs::remove_dir(self.top) {
            Ok(()) => Ok(Round::Gone),
            // Entries were moved here after the listing.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(Round::Again),
            Err(error) => Err(error),
        }
    }

    /// Removes a directory at the top after moving its entries up. False if the time was too short.
    fn empty(&mut self, directory: &Path) -> io::Result<bool> {
        let Some(entries) = listed(directory)? else { return Ok(true) };
        for entry in entries {
            if Instant::now() > self.until {
                return Ok(false);
            }
            let entry = entry?;
            if is_directory(&entry)? {
                open_up(&entry.path())?;
                std::fs::rename(entry.path(), self.free_place())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        std::fs::remove_dir(directory)?;
        Ok(true)
    }

    /// An unused name at the top.
    fn free_place(&mut self) -> std::path::PathBuf {
        loop {
            let place = self.top.join(format!("lifted-{}", self.lifted));
            self.lifted += 1;
            if place.symlink_metadata().is_err() {
                return place;
            }
        }
    }
}

/// The entries of a directory; none if it is gone. A link or a file in its place is removed.
fn listed(directory: &Path) -> io::Result<Option<ReadDir>> {
    match directory.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return std::fs::remove_file(directory).map(|()| None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    open_up(directory)?;
    std::fs::read_dir(directory).map(Some)
}

/// The child may have removed all permissions. Its processes are dead by now.
fn open_up(directory: &Path) -> io::Result<()> {
    std::fs::set_permissions(directory, Permissions::from_mode(0o700))
}

fn is_directory(entry: &DirEntry) -> io::Result<bool> {
    Ok(entry.file_type()?.is_dir())
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
#[path = "rubble_tests.rs"]
mod tests;
