//! The private copies of skills, each in a directory that is called after the digest of its files. A copy is complete or not
//! there, and never changes. What is read from it is hashed again. All calls block.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use openfang_types::skills::SkillFile;
use uuid::Uuid;

use super::directory;
use super::package::{SkillFault, SkillFiles, SkillPackage, hex_digest};
use crate::workspace::Workspace;

/// What the names of unfinished copies begin with.
const UNFINISHED: &str = ".new-";

/// The private copies of skills. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SkillStore {
    root: PathBuf,
}

impl SkillStore {
    /// The copies below a directory, which need not exist yet.
    pub const fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Keeps a copy of a skill. One that is there already, and is whole, stays.
    pub fn put(&self, files: &SkillFiles, package: &SkillPackage) -> Result<(), SkillFault> {
        let place = self.root.join(&package.digest);
        if self.files(&package.digest).is_ok_and(|kept| kept == *files) {
            return Ok(());
        }
        private_directory(&self.root)?;
        let beside = self.root.join(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
        let placed = write_all(&beside, files).and_then(|()| {
            if place.exists() {
                fs::remove_dir_all(&place)?;
            }
            fs::rename(&beside, &place)
        });
        placed.inspect_err(|_| drop(fs::remove_dir_all(&beside)))?;
        Ok(())
    }

    /// All files of a copy, as they are.
    pub fn files(&self, digest: &str) -> Result<SkillFiles, SkillFault> {
        directory::read(&Workspace::view(&self.root.join(digest))?, ".")
    }

    /// The bytes of a file, if they are those that it is known by.
    pub fn read(&self, digest: &str, file: &SkillFile) -> Result<Vec<u8>, SkillFault> {
        let changed = || SkillFault::Changed { path: file.path.clone() };
        let size = usize::try_from(file.size).map_err(|_| changed())?;
        let read = Workspace::view(&self.root.join(digest))?.read(&file.path, size)?;
        if read.truncated || hex_digest(&read.bytes) != file.sha256 {
            return Err(changed());
        }
        Ok(read.bytes)
    }

    /// Removes all copies but these, and what was left unfinished.
    pub fn keep_only(&self, digests: &BTreeSet<String>) -> io::Result<()> {
        if !self.root.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if !digests.contains(&*entry.file_name().to_string_lossy()) && entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

fn write_all(directory: &Path, files: &SkillFiles) -> io::Result<()> {
    private_directory(directory)?;
    for (path, bytes) in files.iter() {
        let path = directory.join(path);
        if let Some(parent) = path.parent() {
            private_directory(parent)?;
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    Ok(())
}

fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "store_tests.rs"]
mod tests;
