//! The skills of a home: found in places, installed from elsewhere, trusted, enabled.
//!
//! ```text
//! found in a place ──trust──> trusted ──enable──> in force, while its files have the digest that was trusted
//! installed ────────trust──┘           ^
//! installed from an MCP server ──enable┘ in force with the label of the server, until it is trusted
//! ```
//!
//! What is in force is read from a private copy. The files in a place are looked at again whenever they may have changed; if their
//! digest is another one, the skill is taken out of force and waits to be trusted again. `ledger.rs` is what is remembered,
//! `places.rs` where skills are looked for, `force.rs` what is in force, `marks.rs` whether to look again, `inspect.rs` what a person is shown.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openfang_runtime::pipeline::Pipeline;
use openfang_runtime::skills::{SkillFault, SkillFiles, SkillPackage, SkillStore, directory};
use openfang_runtime::workspace::Workspace;
use openfang_types::ids::{ServerName, SkillName};
use openfang_types::limits::{SKILL_PROJECTS_MAX, SKILLS_KNOWN_MAX};
use openfang_types::nearest::nearest;
use openfang_types::skills::{SkillDetails, SkillList};

use crate::settings::LiveSettings;
use crate::settings::home::Home;
pub use error::SkillError;
use ledger::{Ledger, LedgerFile, Location, SkillRecord};
use marks::SkillMarks;

mod error;
mod force;
pub(crate) mod inspect;
mod ledger;
mod marks;
mod places;

/// The skills of a home. All calls block.
pub(crate) struct Skills {
    home: Home,
    settings: Arc<LiveSettings>,
    pipeline: Arc<Pipeline>,
    store: SkillStore,
    file: LedgerFile,
    /// What the files of enabled skills looked like when they were last read. Held by whoever reads them.
    seen: Mutex<Option<SkillMarks>>,
}

/// Where an installed skill came from.
#[derive(Debug, Clone)]
pub(crate) struct InstallSource {
    /// The source, for people.
    pub(crate) shown: String,
    /// The MCP server and the URI there.
    pub(crate) server: Option<(ServerName, String)>,
}

impl Skills {
    pub(crate) fn new(home: &Home, settings: Arc<LiveSettings>, pipeline: Arc<Pipeline>) -> Self {
        Self {
            store: SkillStore::at(home.skill_data().join("store")),
            file: LedgerFile::of(home),
            home: home.clone(),
            settings,
            pipeline,
            seen: Mutex::default(),
        }
    }

    /// The files of a skill where they are now.
    fn read(&self, location: &Location, digest: &str) -> Result<(SkillFiles, SkillPackage), SkillFault> {
        let (files, name) = match location {
            Location::Place { place, directory } => {
                let named = place.join(directory);
                let name = named.file_name().map(|name| name.to_string_lossy().into_owned());
                (directory::read(&Workspace::view(place)?, directory)?, name)
            }
            Location::Store { .. } => (self.store.files(digest)?, None),
        };
        let package = SkillPackage::of(&files, name.as_deref())?;
        Ok((files, package))
    }

    /// All skills that there are.
    pub(crate) fn list(&self) -> Result<SkillList, SkillError> {
        let ledger = self.file.read()?;
        let found = places::search(&self.home, &self.settings.current().config().skills, &ledger);
        Ok(inspect::list(self, &ledger, found))
    }

    /// What a person decides on.
    pub(crate) fn details(&self, name: &SkillName) -> Result<SkillDetails, SkillError> {
        let ledger = self.file.read()?;
        let (location, record) = self.locate(&ledger, name)?;
        inspect::details(self, name, (&location, record))
    }

    /// Trusts the files of a skill as they are now; with a digest, only if they have it.
    pub(crate) fn trust(&self, name: &SkillName, wanted: Option<&str>, now: Timestamp) -> Result<(), SkillError> {
        let ledger = self.file.read()?;
        let (location, record) = self.locate(&ledger, name)?;
        let known = record.map(|record| record.digest.clone()).unwrap_or_default();
        let (files, package) = self.read(&location, &known).map_err(unusable)?;
        if package.name != *name {
            return Err(SkillError::Unusable(format!("its name is {} now", package.name)));
        }
        if wanted.is_some_and(|wanted| wanted != package.digest) {
            return Err(SkillError::OtherDigest { now: package.digest });
        }
        self.store.put(&files, &package).map_err(|fault| SkillError::Storage(fault.to_string()))?;
        self.file.change(|ledger| {
            let before = ledger.skills.get(name);
            if before.is_none() && ledger.skills.len() >= SKILLS_KNOWN_MAX {
                return Err(SkillError::TooMany);
            }
            let record = SkillRecord {
                location,
                server: before.and_then(|record| record.server.clone()),
                digest: package.digest.clone(),
                is_trusted: true,
                is_enabled: before.is_some_and(|record| record.is_enabled),
                since: now,
            };
            ledger.skills.insert(name.clone(), record);
            Ok(())
        })?;
        self.settle();
        Ok(())
    }

    /// Lets agents activate a skill, or not.
    pub(crate) fn set_enabled(&self, name: &SkillName, is_enabled: bool) -> Result<(), SkillError> {
        let ledger = self.file.read()?;
        self.locate(&ledger, name)?;
        self.file.change(|ledger| match ledger.skills.get_mut(name) {
            None if is_enabled => Err(SkillError::NotTrusted(name.clone())),
            None => Ok(()),
            Some(record) if is_enabled && !record.is_trusted && record.server.is_none() => {
                Err(SkillError::NotTrusted(name.clone()))
            }
            Some(record) => {
                record.is_enabled = is_enabled;
                Ok(())
            }
        })?;
        self.settle();
        Ok(())
    }

    /// Keeps a skill in the private store. It is neither trusted nor enabled.
    pub(crate) fn install(
        &self,
        (files, package): (&SkillFiles, &SkillPackage),
        source: InstallSource,
        now: Timestamp,
    ) -> Result<(), SkillError> {
        let name = &package.name;
        let ledger = self.file.read()?;
        match ledger.skills.get(name) {
            Some(SkillRecord { location: Location::Store { .. }, digest, .. }) => {
                let before = self.store.files(digest).and_then(|files| SkillPackage::of(&files, None)).ok();
                let versions = before.and_then(|before| Some((package.version()?, before.version()?)));
                if let Some((new, installed)) = versions.filter(|(new, installed)| is_older(new, installed)) {
                    return Err(SkillError::Older { name: name.clone(), new, installed });
                }
            }
            Some(record) => {
                return Err(SkillError::Exists { name: name.clone(), source_text: record.location.shown() });
            }
            None => {}
        }
        self.store.put(files, package).map_err(|fault| SkillError::Storage(fault.to_string()))?;
        self.file.change(|ledger| {
            if !ledger.skills.contains_key(name) && ledger.skills.len() >= SKILLS_KNOWN_MAX {
                return Err(SkillError::TooMany);
            }
            let record = SkillRecord {
                location: Location::Store { from: source.shown },
                server: source.server,
                digest: package.digest.clone(),
                is_trusted: false,
                is_enabled: false,
                since: now,
            };
            ledger.skills.insert(name.clone(), record);
            Ok(())
        })?;
        self.settle();
        Ok(())
    }

    /// Forgets a skill. Files in places of the operator stay.
    pub(crate) fn remove(&self, name: &SkillName) -> Result<(), SkillError> {
        let known = self.file.change(|ledger| Ok(ledger.skills.remove(name).is_some()))?;
        if !known {
            let ledger = self.file.read()?;
            let (location, _) = self.locate(&ledger, name)?;
            let why = format!("the skill {name} is not installed; it lies in {}, delete it there", location.shown());
            return Err(SkillError::Source(why));
        }
        self.settle();
        Ok(())
    }

    /// Looks for skills in a project directory from now on, or no more.
    pub(crate) fn set_project(&self, project: PathBuf, is_trusted: bool) -> Result<(), SkillError> {
        self.file.change(|ledger| {
            let is_known = match is_trusted {
                true if ledger.projects.len() >= SKILL_PROJECTS_MAX => return Err(SkillError::TooManyProjects),
                true => !ledger.projects.insert(project),
                false => ledger.projects.remove(&project),
            };
            match is_known || is_trusted {
                true => Ok(()),
                false => Err(SkillError::Source("the directory is not trusted".to_owned())),
            }
        })
    }

    /// Where a skill is: where it was trusted, else where it is found.
    fn locate<'l>(
        &self,
        ledger: &'l Ledger,
        name: &SkillName,
    ) -> Result<(Location, Option<&'l SkillRecord>), SkillError> {
        if let Some(record) = ledger.skills.get(name) {
            return Ok((record.location.clone(), Some(record)));
        }
        let mut found = places::search(&self.home, &self.settings.current().config().skills, ledger);
        if let Some((location, _)) = found.skills.remove(name) {
            return Ok((location, None));
        }
        let known = found.skills.keys().chain(ledger.skills.keys()).map(SkillName::as_str);
        let nearest = nearest(name.as_str(), known).and_then(|known| known.parse().ok());
        Err(SkillError::Unknown { name: name.clone(), nearest })
    }

    /// Puts what was changed into force, and removes copies that nobody names.
    fn settle(&self) {
        self.follow();
        let Ok(ledger) = self.file.read() else { return };
        let named = ledger.skills.values().map(|record| record.digest.clone()).collect();
        if let Err(error) = self.store.keep_only(&named) {
            tracing::warn!(%error, "copies of skills that are not needed could not be removed");
        }
    }
}

fn unusable(fault: SkillFault) -> SkillError {
    SkillError::Unusable(fault.to_string())
}

/// Whether a version is older, number by number. Versions that are not numbers are not compared.
fn is_older(new: &str, installed: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.trim_start_matches('v').split('.').map(|part| part.parse().ok()).collect()
    };
    match (numbers(new), numbers(installed)) {
        (Some(new), Some(installed)) => new < installed,
        (Some(_) | None, None) | (None, Some(_)) => false,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "skills_tests.rs"]
mod tests;
