//! What is remembered of skills: where each lies, the digest of the files that were trusted, and whether it is enabled.
//!
//! Nothing is remembered of a skill that was only found. A file that is missing trusts nothing; one that cannot be read is an
//! error, and skills are off.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openfang_types::ids::{ServerName, SkillName};
use serde::{Deserialize, Serialize};

use super::error::SkillError;
use crate::settings::home::{Home, create_private_directory, open_lock, replace_private_file};

/// The largest file that is read.
const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What is remembered of all skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    #[serde(default)]
    pub(super) skills: BTreeMap<SkillName, SkillRecord>,
    /// Project directories in which skills are looked for.
    #[serde(default)]
    pub(super) projects: BTreeSet<PathBuf>,
}

/// What is remembered of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillRecord {
    pub(super) location: Location,
    /// The MCP server that it came from, and its URI there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<(ServerName, String)>,
    /// The digest of the files that were trusted or installed.
    pub(super) digest: String,
    pub(super) is_trusted: bool,
    pub(super) is_enabled: bool,
    pub(super) since: Timestamp,
}

/// Where the files of a skill are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Location {
    /// In a directory of the operator, or of a program. It is only read.
    Place { place: PathBuf, directory: String },
    /// In the private store alone: it was installed from there.
    Store { from: String },
}

impl Location {
    /// Where it is, for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Place { place, directory } if directory == "." => place.display().to_string(),
            Self::Place { place, directory } => place.join(directory).display().to_string(),
            Self::Store { from } => from.clone(),
        }
    }
}

/// The file of the ledger. Several processes may change it, one at a time.
#[derive(Debug, Clone)]
pub(super) struct LedgerFile {
    directory: PathBuf,
}

impl LedgerFile {
    pub(super) fn of(home: &Home) -> Self {
        Self { directory: home.skill_data() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.join("ledger.json")
    }

    /// What is remembered. Blocks.
    pub(super) fn read(&self) -> Result<Ledger, SkillError> {
        let path = self.path();
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(FILE_MAX_BYTES).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
            read => read.map_err(|cause| unusable(&path, cause))?,
        };
        serde_json::from_slice(&bytes).map_err(|cause| unusable(&path, cause))
    }

    /// Changes what is remembered, whoever else does so at the same time. A change that fails changes nothing. Blocks.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Ledger) -> Result<T, SkillError>) -> Result<T, SkillError> {
        let path = self.path();
        create_private_directory(&self.directory).map_err(|cause| unusable(&self.directory, cause))?;
        let lock_path = self.directory.join("ledger.lock");
        let lock = open_lock(&lock_path).map_err(|cause| unusable(&lock_path, cause))?;
        lock.lock().map_err(|cause| unusable(&lock_path, cause))?;
        let before = self.read()?;
        let mut next = before.clone();
        let made = change(&mut next)?;
        if next != before {
            let written = serde_json::to_vec_pretty(&next).map_err(io::Error::from);
            let written = written.and_then(|bytes| replace_private_file(&path, &bytes));
            written.map_err(|cause| unusable(&path, cause))?;
        }
        Ok(made)
    }
}

fn unusable(path: &Path, cause: impl std::fmt::Display) -> SkillError {
    SkillError::Ledger { path: path.display().to_string(), cause: cause.to_string() }
}
