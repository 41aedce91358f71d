//! Which skills are in force: those that are enabled, and whose files are those that were trusted.

use std::path::PathBuf;
use std::sync::PoisonError;

use openfang_runtime::skills::{ReadySkill, SkillSet};
use openfang_types::ids::SkillName;
use openfang_types::taint::{Label, Labels};
use openfang_types::tool::Origin;

use super::Skills;
use super::ledger::{Ledger, Location, SkillRecord};
use super::marks::SkillMarks;

impl Skills {
    /// Puts the enabled skills into force. Without a ledger there are none, and nothing is looked at.
    pub(crate) fn follow_if_known(&self) {
        let is_followed = self.seen.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_followed || self.file.path().exists() {
            self.follow();
        }
    }

    /// Puts the enabled skills into force if their files or the ledger may have changed.
    pub(super) fn follow(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = match self.file.read() {
            Ok(ledger) => ledger,
            Err(error) => {
                if self.pipeline.catalog().skills().iter().next().is_some() {
                    tracing::error!(%error, "skills are off");
                    self.pipeline.catalog().replace_skills(SkillSet::default());
                }
                *seen = None;
                return;
            }
        };
        let marks = self.marks(&ledger);
        if seen.as_ref() == Some(&marks) {
            return;
        }
        self.put_into_force(&ledger);
        *seen = Some(marks);
    }

    fn marks(&self, ledger: &Ledger) -> SkillMarks {
        let enabled = ledger.skills.values().filter(|record| record.is_enabled);
        let directories: Vec<PathBuf> = enabled
            .filter_map(|record| match &record.location {
                Location::Place { place, directory } => Some(place.join(directory)),
                Location::Store { .. } => None,
            })
            .collect();
        SkillMarks::of(&[self.file.path()], &directories)
    }

    fn put_into_force(&self, ledger: &Ledger) {
        let enabled = ledger.skills.iter().filter(|(_, record)| record.is_enabled);
        let next = SkillSet::new(enabled.filter_map(|(name, record)| self.ready(name, record)));
        let now = self.pipeline.catalog().skills();
        let facts = |set: &SkillSet| -> Vec<(SkillName, String, bool)> {
            set.iter()
                .map(|skill| (skill.name.clone(), skill.digest.clone(), is_operators(&skill.labels)))
                .collect()
        };
        if facts(&now) != facts(&next) {
            self.pipeline.catalog().replace_skills(next);
        }
    }

    /// An enabled skill, if its files are those that it was enabled with.
    fn ready(&self, name: &SkillName, record: &SkillRecord) -> Option<ReadySkill> {
        let (_, package) = match self.read(&record.location, &record.digest) {
            Ok(read) => read,
            Err(fault) => {
                tracing::warn!(skill = %name, %fault, "a skill is not used, because its files cannot be read");
                return None;
            }
        };
        if package.digest != record.digest || package.name != *name {
            tracing::warn!(skill = %name, "a skill is not used, because its files have changed; see `openfang skill show {name}`");
            return None;
        }
        let labels = match (&record.server, record.is_trusted) {
            (_, true) => Labels::one(Label::Operator, format!("the skill {name}")),
            (Some((server, _)), false) => Labels::one(Label::McpServer, Origin::McpServer(server.clone()).to_string()),
            // Only a skill of a server can be enabled without being trusted.
            (None, false) => return None,
        };
        Some(ReadySkill::new(&package, self.store.clone(), (labels, record.is_trusted)))
    }
}

fn is_operators(labels: &Labels) -> bool {
    labels.contains(Label::Operator)
}
