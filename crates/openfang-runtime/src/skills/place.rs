//! Finding skills in a place: a directory of skills, or of directories with skills. All calls block.

use std::path::Path;

use openfang_types::limits::{
    SKILL_ENTRIES_MAX, SKILL_PLACE_DEPTH, SKILL_PLACE_DIRECTORIES, SKILLS_FOUND_MAX, SKILLS_FOUND_MAX_BYTES,
};

use super::package::{SkillFault, SkillPackage};
use super::{SKILL_FILE, directory};
use crate::workspace::{Entry, EntryKind, Workspace, WorkspaceError};

/// What a look at places may still find and read.
#[derive(Debug)]
pub struct SearchBudget {
    skills: usize,
    bytes: usize,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { skills: SKILLS_FOUND_MAX, bytes: SKILLS_FOUND_MAX_BYTES }
    }
}

/// A directory with a `SKILL.md`.
#[derive(Debug)]
pub struct FoundSkill {
    /// The directory, from the place.
    pub directory: String,
    pub package: Result<SkillPackage, SkillFault>,
}

/// Finds the skills of a place, by directory. A place that is not there has none.
pub fn find(place: &Path, budget: &mut SearchBudget) -> Result<Vec<FoundSkill>, SkillFault> {
    if !place.is_dir() {
        return Ok(Vec::new());
    }
    let workspace = Workspace::view(place)?;
    let own_name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut found = Vec::new();
    let mut waiting = vec![(".".to_owned(), 0_usize)];
    let mut looked_at = 0;
    while let Some((directory, depth)) = waiting.pop() {
        looked_at += 1;
        if looked_at > SKILL_PLACE_DIRECTORIES || budget.skills == 0 {
            tracing::warn!(place = %place.display(), "there are more skills or directories than are looked at");
            break;
        }
        let entries = match workspace.list(&directory, SKILL_ENTRIES_MAX) {
            Ok(listing) => listing.entries,
            // It is gone, or somebody put something else in its place.
            Err(WorkspaceError::NotFound { .. } | WorkspaceError::NotADirectory { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        if entries.iter().any(|entry| entry.name == SKILL_FILE && entry.kind != EntryKind::Directory) {
            budget.skills -= 1;
            let name = directory.rsplit('/').next().filter(|name| *name != ".").unwrap_or(&own_name);
            let package = package(&workspace, (&directory, name), budget);
            found.push(FoundSkill { directory, package });
            continue;
        }
        for Entry { name, kind, .. } in entries.into_iter().rev() {
            let path = if directory == "." { name.clone() } else { format!("{directory}/{name}") };
            match kind {
                EntryKind::Directory if depth < SKILL_PLACE_DEPTH && !name.starts_with('.') => {
                    waiting.push((path, depth + 1));
                }
                EntryKind::Link if depth == 0 => {
                    found.push(FoundSkill { package: Err(SkillFault::Link(name)), directory: path });
                }
                EntryKind::Directory | EntryKind::Link | EntryKind::File | EntryKind::Other => {}
            }
        }
    }
    found.sort_by(|a, b| a.directory.cmp(&b.directory));
    Ok(found)
}

/// Reads a skill, and takes what it read from the budget.
fn package(
    workspace: &Workspace,
    (directory, name): (&str, &str),
    budget: &mut SearchBudget,
) -> Result<SkillPackage, SkillFault> {
    let files = directory::read(workspace, directory)?;
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    budget.bytes = budget.bytes.checked_sub(bytes).ok_or(SkillFault::TooLarge)?;
    SkillPackage::of(&files, Some(name))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "place_tests.rs"]
mod tests;
