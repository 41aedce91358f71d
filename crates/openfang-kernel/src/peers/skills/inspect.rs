//! What a person is shown of skills: the list, and everything that a decision is about.

use std::collections::BTreeSet;

use openfang_runtime::skills::{SkillFiles, SkillPackage, findings};
use openfang_types::ids::SkillName;
use openfang_types::limits::SKILL_SHOWN_BYTES;
use openfang_types::skills::{
    SkillChange, SkillChangeKind, SkillDetails, SkillList, SkillState, SkillView, UnusableSkill,
};

use super::ledger::{Ledger, Location, SkillRecord};
use super::places::Found;
use super::{SkillError, Skills, unusable};

/// The skills that were found, and those that are remembered.
pub(super) fn list(skills: &Skills, ledger: &Ledger, found: Found) -> SkillList {
    let Found { skills: mut in_places, mut unusable } = found;
    let mut views = Vec::new();
    for (name, record) in &ledger.skills {
        let here = in_places.remove(name);
        if let Some((location, _)) = here.as_ref().filter(|(location, _)| *location != record.location) {
            let reason = format!("the skill {name} from {} is known under this name", record.location.shown());
            unusable.push(UnusableSkill { source: location.shown(), reason });
        }
        let package = match here {
            Some((location, package)) if location == record.location => Ok(package),
            Some(_) | None => skills.read(&record.location, &record.digest).map(|(_, package)| package),
        };
        let package = package.inspect_err(|fault| {
            let reason = fault.to_string();
            unusable.push(UnusableSkill { source: record.location.shown(), reason });
        });
        views.push(view(skills, name, (&record.location, Some(record)), package.ok().as_ref()));
    }
    for (name, (location, package)) in &in_places {
        views.push(view(skills, name, (location, None), Some(package)));
    }
    views.sort_by(|a, b| a.name.cmp(&b.name));
    let projects = ledger.projects.iter().map(|project| project.display().to_string()).collect();
    SkillList { skills: views, unusable, projects }
}

/// Everything about one skill.
pub(super) fn details(
    skills: &Skills,
    name: &SkillName,
    (location, record): (&Location, Option<&SkillRecord>),
) -> Result<SkillDetails, SkillError> {
    let known = record.map(|record| record.digest.as_str()).unwrap_or_default();
    let (files, package) = skills.read(location, known).map_err(unusable)?;
    let trusted = record.filter(|record| record.is_trusted && record.digest != package.digest);
    let changes = trusted.map(|record| {
        let before = skills.store.files(&record.digest).unwrap_or_default();
        changes_between(&before, &files)
    });
    let skill = view(skills, name, (location, record), Some(&package));
    Ok(describe(skill, (&files, &package), changes.unwrap_or_default()))
}

/// Everything about a skill that is not installed.
pub(crate) fn describe(
    skill: SkillView,
    (files, package): (&SkillFiles, &SkillPackage),
    changes: Vec<SkillChange>,
) -> SkillDetails {
    SkillDetails {
        skill,
        version: package.version(),
        license: package.text("license").map(str::to_owned),
        compatibility: package.text("compatibility").map(str::to_owned),
        allowed_tools: package.allowed_tools(),
        files: package.files.clone(),
        warnings: package.warnings.clone(),
        findings: findings::find(files),
        changes,
        instructions: package.body.clone(),
    }
}

fn view(
    skills: &Skills,
    name: &SkillName,
    (location, record): (&Location, Option<&SkillRecord>),
    package: Option<&SkillPackage>,
) -> SkillView {
    let state = match (record, package) {
        (Some(_), None) => SkillState::Missing,
        (Some(record), Some(package)) if record.digest != package.digest || package.name != *name => {
            SkillState::Changed
        }
        (Some(record), Some(_)) if record.is_trusted => SkillState::Trusted,
        (Some(_) | None, _) => SkillState::Installed,
    };
    let in_force = skills.pipeline.catalog().skills();
    let digest = package.map(|package| package.digest.clone()).unwrap_or_default();
    SkillView {
        name: name.clone(),
        description: package.map(|package| package.description.clone()).unwrap_or_default(),
        state,
        enabled: record.is_some_and(|record| record.is_enabled),
        active: in_force.get(name).is_some_and(|ready| ready.digest == digest),
        source: location.shown(),
        server: record.and_then(|record| Some(record.server.as_ref()?.0.clone())),
        digest,
    }
}

/// How the files differ.
fn changes_between(before: &SkillFiles, after: &SkillFiles) -> Vec<SkillChange> {
    let paths: BTreeSet<&str> = before.iter().chain(after.iter()).map(|(path, _)| path).collect();
    let text = |bytes: Option<&[u8]>| {
        let bytes = bytes.filter(|bytes| bytes.len() <= SKILL_SHOWN_BYTES)?;
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    };
    let change = |path: &str| {
        let (old, new) = (before.get(path), after.get(path));
        let kind = match (old, new) {
            (None, Some(_)) => SkillChangeKind::Added,
            (Some(_), None) => SkillChangeKind::Removed,
            (Some(old), Some(new)) if old != new => SkillChangeKind::Changed,
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(SkillChange { path: path.to_owned(), kind, before: text(old), after: text(new) })
    };
    paths.into_iter().filter_map(change).collect()
}
