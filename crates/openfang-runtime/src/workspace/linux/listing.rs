//! The first names of a directory. All names are read but only the smallest ones kept, so a directory with a million
//! entries costs as much memory as the answer.

use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use rustix::io::Errno;

use super::beneath;
use super::protected::{FileId, Guard};
use super::refusal::Refusal;
use crate::workspace::{Entry, EntryKind, Listing, shown};

/// Where reading stops: a directory that grows while it is read must not keep us for ever.
const MAX_READ: usize = 2_000_000;

pub(super) fn list(directory: BorrowedFd<'_>, max_entries: usize, guard: &Guard<'_>) -> Result<Listing, Refusal> {
    let fd = beneath::open(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let id = FileId::of(&fstat(&fd)?);
    let mut names = FirstNames { names: BinaryHeap::new(), max: max_entries, truncated: false };
    for (read, entry) in Dir::new(fd)?.enumerate() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if read >= MAX_READ {
            names.truncated = true;
            break;
        }
        if name != b"." && name != b".." && guard.check_place(id, OsStr::from_bytes(name)).is_ok() {
            names.offer(name);
        }
    }
    let truncated = names.truncated;
    let sorted = names.names.into_sorted_vec();
    let entries = sorted.iter().filter_map(|name| describe(directory, name, guard)).collect();
    Ok(Listing { entries, truncated })
}

/// The smallest names seen so far, the largest of them on top.
struct FirstNames {
    names: BinaryHeap<Vec<u8>>,
    max: usize,
    truncated: bool,
}

impl FirstNames {
    fn offer(&mut self, name: &[u8]) {
        if self.names.len() < self.max {
            self.names.push(name.to_vec());
            return;
        }
        self.truncated = true;
        if let Some(mut largest) = self.names.peek_mut()
            && name < largest.as_slice()
        {
            *largest = name.to_vec();
        }
    }
}

/// `None` for what is gone by now, and for what is ours.
fn describe(directory: BorrowedFd<'_>, name: &[u8], guard: &Guard<'_>) -> Option<Entry> {
    let stat = match statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return None,
        // A directory may be readable and yet closed: its names are all there is to know.
        Err(_) => return Some(Entry { name: shown::name(name), kind: EntryKind::Other, size: 0 }),
    };
    guard.check(FileId::of(&stat)).ok()?;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            EntryKind::Other
        }
    };
    let size = if kind == EntryKind::File { u64::try_from(stat.st_size).unwrap_or_default() } else { 0 };
    Some(Entry { name: shown::name(name), kind, size })
}
