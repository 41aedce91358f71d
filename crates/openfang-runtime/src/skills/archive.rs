//! Unpacking a zip archive into memory. Nothing is written before every entry was checked.
//!
//! Only plain archives are read: stored or deflated, without encryption, without the 64-bit extension, in one part. The number of
//! entries and their sizes are read from the directory of the archive before anything is unpacked, and held while it is.

use std::io::Read as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use openfang_types::limits::{SKILL_ARCHIVE_MAX_BYTES, SKILL_FILES_MAX, SKILL_MAX_BYTES};

use super::package::{SkillFault, SkillFiles};

const END: u32 = 0x0605_4b50;
const ENTRY: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
const END_BYTES: usize = 22;
/// The longest comment behind the end of the directory.
const COMMENT_MAX: usize = 65_535;
/// Entries that are directories count too, up to as many as there may be files.
const ENTRIES_MAX: usize = SKILL_FILES_MAX * 2;

/// Why an archive is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("it is larger than {SKILL_ARCHIVE_MAX_BYTES} bytes")]
    TooLarge,
    #[error("it is not a zip archive")]
    NotZip,
    #[error("it has {0} entries; a skill has at most {SKILL_FILES_MAX} files")]
    TooManyEntries(usize),
    #[error("the entry {0:?} is a link")]
    Link(String),
    #[error("the entry {0:?} is neither a file nor a directory")]
    Special(String),
    #[error("the entry {0:?} is encrypted, or packed in a way that is not supported")]
    Unsupported(String),
    #[error("the entry {0:?} is damaged, or not what the directory of the archive says")]
    Damaged(String),
    #[error("its files have more than {SKILL_MAX_BYTES} bytes")]
    Unpacked,
    #[error("the name of an entry is not UTF-8")]
    Name,
    #[error(transparent)]
    Skill(#[from] SkillFault),
}

/// An entry of the directory.
struct Entry<'a> {
    name: &'a str,
    flags: u16,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    /// The kind and permissions, where a Unix system wrote the archive.
    mode: u32,
    offset: usize,
}

/// Unpacks an archive into memory.
pub fn unpack(bytes: &[u8]) -> Result<SkillFiles, ArchiveError> {
    if bytes.len() > SKILL_ARCHIVE_MAX_BYTES {
        return Err(ArchiveError::TooLarge);
    }
    let entries = directory(bytes)?;
    let declared = entries.iter().try_fold(0_usize, |sum, entry| sum.checked_add(entry.size));
    if declared.is_none_or(|sum| sum > SKILL_MAX_BYTES) {
        return Err(ArchiveError::Unpacked);
    }
    let mut files = SkillFiles::default();
    for entry in &entries {
        check_kind(entry)?;
        if entry.name.ends_with('/') {
            // Its path must be plain too; files bring their directories along.
            SkillFiles::default().add(entry.name.trim_end_matches('/'), Vec::new())?;
            continue;
        }
        files.add(entry.name, content(bytes, entry)?)?;
    }
    Ok(files)
}

fn check_kind(entry: &Entry<'_>) -> Result<(), ArchiveError> {
    const KIND: u32 = 0o170_000;
    let name = || entry.name.chars().take(200).collect();
    match entry.mode & KIND {
        0 | 0o100_000 | 0o040_000 => Ok(()),
        0o120_000 => Err(ArchiveError::Link(name())),
        _ => Err(ArchiveError::Special(name())),
    }
}

/// The entries, as the directory at the end lists them.
fn directory(bytes: &[u8]) -> Result<Vec<Entry<'_>>, ArchiveError> {
    let from = bytes.len().saturating_sub(END_BYTES + COMMENT_MAX);
    let is_end = |at: &usize| {
        u32_at(bytes, *at) == Some(END)
            && u16_at(bytes, at + 20).is_some_and(|comment| at + END_BYTES + usize::from(comment) == bytes.len())
    };
    let last = bytes.len().checked_sub(END_BYTES).ok_or(ArchiveError::NotZip)?;
    let end = (from..=last).rev().find(is_end).ok_or(ArchiveError::NotZip)?;
    let number = |offset: usize| u16_at(bytes, end + offset).map(usize::from).ok_or(ArchiveError::NotZip);
    let (disk, here, count) = (number(4)?, number(8)?, number(10)?);
    if disk != 0 || here != count || count == usize::from(u16::MAX) {
        return Err(ArchiveError::NotZip);
    }
    if count > ENTRIES_MAX {
        return Err(ArchiveError::TooManyEntries(count));
    }
    let mut at = size_at(bytes, end + 16).ok_or(ArchiveError::NotZip)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let (entry, next) = entry_at(bytes, at)?;
        entries.push(entry);
        at = next;
    }
    Ok(entries)
}

fn entry_at(bytes: &[u8], at: usize) -> Result<(Entry<'_>, usize), ArchiveError> {
    let short = |offset: usize| u16_at(bytes, at.saturating_add(offset)).ok_or(ArchiveError::NotZip);
    let long = |offset: usize| u32_at(bytes, at.saturating_add(offset)).ok_or(ArchiveError::NotZip);
    let size = |offset: usize| size_at(bytes, at.saturating_add(offset)).ok_or(ArchiveError::NotZip);
    if long(0)? != ENTRY {
        return Err(ArchiveError::NotZip);
    }
    let (name_len, extra, comment) = (short(28)?, short(30)?, short(32)?);
    let name_at = at + 46;
    let name_end = name_at + usize::from(name_len);
    let name = bytes.get(name_at..name_end).ok_or(ArchiveError::NotZip)?;
    let is_unix = short(4)? >> 8 == 3;
    let entry = Entry {
        name: std::str::from_utf8(name).map_err(|_| ArchiveError::Name)?,
        flags: short(8)?,
        method: short(10)?,
        crc: long(16)?,
        packed: size(20)?,
        size: size(24)?,
        mode: if is_unix { long(38)? >> 16 } else { 0 },
        offset: size(42)?,
    };
    Ok((entry, name_end + usize::from(extra) + usize::from(comment)))
}

/// The bytes of an entry, which must be exactly as many as were declared.
fn content(bytes: &[u8], entry: &Entry<'_>) -> Result<Vec<u8>, ArchiveError> {
    let name = || entry.name.chars().take(200).collect::<String>();
    let damaged = || ArchiveError::Damaged(name());
    let at = entry.offset;
    if u32_at(bytes, at) != Some(LOCAL) {
        return Err(damaged());
    }
    let length = |offset: usize| u16_at(bytes, at + offset).map(usize::from).ok_or_else(damaged);
    let (name_len, extra) = (length(26)?, length(28)?);
    let name_at = at + 30;
    // Programs that go by the one name must not unpack something else than those that go by the other.
    if bytes.get(name_at..name_at + name_len) != Some(entry.name.as_bytes()) {
        return Err(damaged());
    }
    let begin = name_at + name_len + extra;
    let packed = bytes.get(begin..begin.saturating_add(entry.packed)).ok_or_else(damaged)?;
    let is_encrypted = entry.flags & 1 != 0;
    let content = match entry.method {
        _ if is_encrypted => return Err(ArchiveError::Unsupported(name())),
        0 => packed.to_vec(),
        8 => {
            let mut unpacked = Vec::new();
            let most = entry.size as u64 + 1;
            DeflateDecoder::new(packed).take(most).read_to_end(&mut unpacked).map_err(|_| damaged())?;
            unpacked
        }
        _ => return Err(ArchiveError::Unsupported(name())),
    };
    let mut crc = Crc::new();
    crc.update(&content);
    if content.len() != entry.size || crc.sum() != entry.crc {
        return Err(damaged());
    }
    Ok(content)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
