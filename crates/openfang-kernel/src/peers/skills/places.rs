//! Where skills are looked for, and what is found there. All calls block.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openfang_runtime::skills::SkillPackage;
use openfang_runtime::skills::place::{FoundSkill, SearchBudget, find};
use openfang_types::config::SkillsConfig;
use openfang_types::ids::SkillName;
use openfang_types::skills::UnusableSkill;

use super::ledger::{Ledger, Location};
use crate::settings::home::Home;

/// Where programs put the skills of a user. They are only read.
const OF_USER: [&str; 2] = [".agents/skills", ".claude/skills"];
/// Where the skills of a project are.
const OF_PROJECT: [&str; 3] = [".agents/skills", ".claude/skills", ".openfang/skills"];

/// What was found in the places.
#[derive(Default)]
pub(super) struct Found {
    pub(super) skills: BTreeMap<SkillName, (Location, SkillPackage)>,
    pub(super) unusable: Vec<UnusableSkill>,
}

/// The places, the most specific first: a skill there hides those of the same name in later ones.
fn places(home: &Home, config: &SkillsConfig, ledger: &Ledger) -> Vec<PathBuf> {
    let projects = ledger.projects.iter().flat_map(|project| OF_PROJECT.map(|below| project.join(below)));
    let mut places: Vec<PathBuf> = projects.collect();
    places.push(home.skills());
    places.extend(config.paths.iter().map(|path| home.root().join(path)));
    if config.user
        && let Some(user) = std::env::home_dir().filter(|user| user.is_absolute())
    {
        places.extend(OF_USER.map(|below| user.join(below)));
    }
    places
}

/// Looks at all places.
pub(super) fn search(home: &Home, config: &SkillsConfig, ledger: &Ledger) -> Found {
    let (mut found, mut budget) = (Found::default(), SearchBudget::default());
    for place in places(home, config, ledger) {
        match find(&place, &mut budget) {
            Ok(skills) => skills.into_iter().for_each(|skill| found.add(&place, skill)),
            Err(fault) => found.refuse(place.display().to_string(), fault.to_string()),
        }
    }
    found
}

impl Found {
    fn add(&mut self, place: &Path, skill: FoundSkill) {
        let FoundSkill { directory, package } = skill;
        let location = Location::Place { place: place.to_owned(), directory };
        match package {
            Ok(package) => match self.skills.get(&package.name) {
                Some((first, _)) => {
                    let why = format!("the skill {} in {} comes first", package.name, first.shown());
                    tracing::debug!(skill = %package.name, first = first.shown(), hidden = location.shown(), "a skill is hidden");
                    self.refuse(location.shown(), why);
                }
                None => drop(self.skills.insert(package.name.clone(), (location, package))),
            },
            Err(fault) => self.refuse(location.shown(), fault.to_string()),
        }
    }

    fn refuse(&mut self, source: String, reason: String) {
        self.unusable.push(UnusableSkill { source, reason });
    }
}
