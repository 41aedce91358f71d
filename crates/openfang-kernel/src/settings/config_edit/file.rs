//! The file itself: read, edited, read again as a start would read it, and replaced in one step.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use openfang_types::config::{ExternalAgent, McpServerConfigEntry, McpServerSettings};
use openfang_types::ids::{AgentName, ServerName};

use super::{EditError, Existing, NamedEntry, NewEntry, add, add_entry, remove, remove_entry, settings};
use crate::settings::config_file::{self, ConfigError};
use crate::settings::home::create_private_file;
use crate::settings::strict_toml::Fault;

/// What is to be done to the file.
#[derive(Debug, Clone, Copy)]
pub enum Edit<'a> {
    Add(&'a McpServerConfigEntry, Existing),
    Remove(&'a ServerName),
    /// Sets some settings of a server.
    Set(&'a ServerName, &'a McpServerSettings),
    AddAgent(&'a ExternalAgent, Existing),
    RemoveAgent(&'a AgentName),
}

/// Edits the file at a path; all edits or none. One that is not there yet is made, for its owner alone.
pub fn rewrite(path: &Path, edits: &[Edit<'_>]) -> Result<(), EditError> {
    let before = read(path)?;
    let mut after = before.clone();
    for edit in edits {
        after = match edit {
            Edit::Add(entry, existing) => add(&after, entry, *existing)?,
            Edit::Remove(name) => remove(&after, name)?,
            Edit::Set(name, settings) => settings::set(&after, name, settings)?,
            Edit::AddAgent(entry, existing) => add_entry(&after, NewEntry::Agent(entry), *existing)?,
            Edit::RemoveAgent(name) => remove_entry(&after, NamedEntry::Agent(name))?,
        };
    }
    check(path, &before, &after, edits)?;
    replace_text(path, &before, &after)
}

fn read(path: &Path) -> Result<String, EditError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(cause) => Err(EditError::Unwritable(ConfigError::Unreadable { path: path.to_owned(), cause }.to_string())),
    }
}

/// No edit makes a file that a start would refuse, or that says something else about anything else. What was wrong
/// before, because the environment makes it right, stays as it was.
fn check(path: &Path, before: &str, after: &str, edits: &[Edit<'_>]) -> Result<(), EditError> {
    let faulty = |faults: &[Fault]| {
        let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
        EditError::Faulty(lines.join("\n"))
    };
    let (was, known) = config_file::checked(path, before).map_err(|faults| faulty(&faults.0))?;
    let (is, mut problems) = config_file::checked(path, after).map_err(|faults| faulty(&faults.0))?;
    problems.retain(|new| !known.iter().any(|old| (&old.key, &old.why) == (&new.key, &new.why)));
    if !problems.is_empty() {
        return Err(faulty(&problems));
    }
    let mut expected = was;
    for edit in edits {
        let (servers, agents) = (&mut expected.mcp_servers, &mut expected.a2a.external_agents);
        match edit {
            Edit::Add(entry, _) => match servers.iter_mut().find(|held| held.name == entry.name) {
                Some(held) => *held = (*entry).clone(),
                None => servers.push((*entry).clone()),
            },
            Edit::Remove(name) => servers.retain(|held| held.name != **name),
            Edit::Set(name, settings) => {
                let held = servers.iter_mut().find(|held| held.name == **name);
                held.into_iter().for_each(|held| *held = settings.applied_to(held));
            }
            Edit::AddAgent(entry, _) => match agents.iter_mut().find(|held| held.name == entry.name) {
                Some(held) => *held = (*entry).clone(),
                None => agents.push((*entry).clone()),
            },
            Edit::RemoveAgent(name) => agents.retain(|held| held.name != **name),
        }
    }
    if is == expected {
        return Ok(());
    }
    Err(EditError::Faulty("the file has a layout that cannot be edited automatically; edit it by hand".to_owned()))
}

/// Puts the new text in the place of the old, in one step: whoever reads sees all of it or nothing of it.
pub fn replace_text(path: &Path, before: &str, after: &str) -> Result<(), EditError> {
    let wrong = |cause: io::Error| EditError::Unwritable(format!("{} cannot be written: {cause}", path.display()));
    let target = target_of(path).map_err(wrong)?;
    let fresh = Fresh::write(&target, after).map_err(wrong)?;
    if read(path)? != before {
        return Err(EditError::Changed);
    }
    fresh.put_into_place(&target).map_err(wrong)
}

/// The file behind a link, so that the link stays one.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            Ok(path.to_owned())
        }
        found => found,
    }
}

/// The new text beside the file; gone with this value unless it was put into place.
struct Fresh {
    path: PathBuf,
}

impl Fresh {
    fn write(target: &Path, text: &str) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.{}-{number}.new", std::process::id()));
        let mut file = create_private_file(&path)?;
        let fresh = Self { path };
        file.write_all(text.as_bytes())?;
        if let Ok(old) = fs::metadata(target) {
            keep_owner(&file, &old);
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        Ok(fresh)
    }

    fn put_into_place(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        if let Some(directory) = target.parent().filter(|_| cfg!(unix)) {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // After the rename there is nothing of this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// An administrator who edits somebody's file must not take it from them. Anybody else cannot give one away.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
