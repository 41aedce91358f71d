//! Reading a skill from a directory, through the path gate: links, pipes, devices and files with a second name are refused, and
//! nothing outside of the directory can be reached. All calls block.

use openfang_types::limits::{SKILL_DEPTH, SKILL_ENTRIES_MAX};

use super::package::{SkillFault, SkillFiles};
use crate::workspace::{Entry, EntryKind, Workspace};

/// What a version control system keeps beside the files.
const LEFT_OUT: [&str; 3] = [".git", ".hg", ".svn"];

/// Reads all files below a directory of a place; `.` is the place itself.
pub fn read(place: &Workspace, directory: &str) -> Result<SkillFiles, SkillFault> {
    let mut files = SkillFiles::default();
    let mut waiting = vec![(String::new(), 0_usize)];
    while let Some((below, depth)) = waiting.pop() {
        let listing = place.list(&joined(directory, &below), SKILL_ENTRIES_MAX)?;
        if listing.truncated {
            return Err(SkillFault::TooManyFiles);
        }
        for Entry { name, kind, .. } in listing.entries {
            let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            match kind {
                EntryKind::Directory if LEFT_OUT.contains(&name.as_str()) => {}
                EntryKind::Directory if depth + 1 >= SKILL_DEPTH => return Err(SkillFault::TooDeep),
                EntryKind::Directory => waiting.push((path, depth + 1)),
                EntryKind::File => {
                    let read = place.read(&joined(directory, &path), files.room())?;
                    if read.truncated {
                        return Err(SkillFault::TooLarge);
                    }
                    files.add(&path, read.bytes)?;
                }
                EntryKind::Link => return Err(SkillFault::Link(path)),
                EntryKind::Other => return Err(SkillFault::Special(path)),
            }
        }
    }
    Ok(files)
}

fn joined(directory: &str, below: &str) -> String {
    match (directory, below) {
        (".", "") => ".".to_owned(),
        (".", below) => below.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, below) => format!("{directory}/{below}"),
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "directory_tests.rs"]
mod tests;
