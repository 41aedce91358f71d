//! `home.json`: what a home remembers of itself, so that a loss is not taken for a first start.
//!
//! It is written once the database is there, and from then on whenever users or the protection of the server change.
//! Whatever is in it and no longer in the home is a [`HomeLoss`]: nothing is made in its place until the operator
//! says so with `openfang home accept`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openfang_types::limits::HOME_RECORD_MAX_BYTES;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Home, HomeError, replace_private_file};

/// What a home remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HomeRecord {
    /// Which home this is; its database has the same id. None: whichever database is there is taken, or made.
    pub(crate) id: Option<Uuid>,
    /// The id of `secret.key`.
    pub(crate) secret_key: Option<String>,
    /// How often users, keys and logins had changed when they were read last.
    #[serde(default)]
    pub(crate) accounts: u64,
    /// Whether there were users.
    #[serde(default)]
    pub(crate) has_users: bool,
    /// Whether the server was started with an `api_key`.
    #[serde(default)]
    pub(crate) has_api_key: bool,
}

/// Something that the home had and has no more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HomeLoss {
    /// `home.json` cannot be understood.
    #[error("{path} is damaged; restore it, or accept the home as it is with `openfang home accept`", path = .0.display())]
    Record(PathBuf),
    /// `secret.key` is not there.
    #[error("{path} is missing, and this home had one; restore it from a backup, or create a new one with `openfang home accept` (this ends page tokens, MCP sessions and push signatures)", path = .0.display())]
    SecretKey(PathBuf),
    /// The users are gone, and without them everybody on this machine would be let in.
    #[error(
        "this home had users, and now it has neither users nor an api_key, so every local process would have access; if users are missing, restore a backup with `openfang restore`; add a user with `openfang user add`, or accept it with `openfang home accept`"
    )]
    Users,
    /// The key is gone from the configuration, and without it everybody on this machine would be let in.
    #[error(
        "this server was protected by an api_key, and now it has neither an api_key nor users, so every local process would have access; set api_key in config.toml or OPENFANG_API_KEY in the environment, add a user with `openfang user add`, or accept it with `openfang home accept`"
    )]
    ApiKey,
}

impl HomeRecord {
    /// Reads the record; none if the home has never had a database.
    pub(crate) fn read(home: &Home) -> Result<Option<Self>, RecordError> {
        let path = home.record();
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|cause| HomeError::new(path.clone(), cause))?,
        };
        let mut bytes = Vec::new();
        file.take(HOME_RECORD_MAX_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|cause| HomeError::new(path.clone(), cause))?;
        Ok(Some(serde_json::from_slice(&bytes).map_err(|_| HomeLoss::Record(path))?))
    }

    /// What protected the server and does so no more.
    pub(crate) const fn lost_protection(&self, has_users: bool, has_api_key: bool) -> Option<HomeLoss> {
        match (has_users || has_api_key, self.has_users, self.has_api_key) {
            (true, ..) | (false, false, false) => None,
            (false, true, _) => Some(HomeLoss::Users),
            (false, false, true) => Some(HomeLoss::ApiKey),
        }
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        replace_private_file(path, &serde_json::to_vec_pretty(self)?)
    }
}

/// Why the record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] HomeError),
    #[error(transparent)]
    Lost(#[from] HomeLoss),
}

/// The record of a home that is open. Several processes may keep it at a time.
pub(crate) struct HomeMemory {
    home: Home,
    /// As this process wrote or read it last.
    last: Mutex<HomeRecord>,
}

impl HomeMemory {
    /// Takes over the record of a home, and writes one for a home that has none.
    pub(crate) fn open(home: &Home, record: HomeRecord) -> Result<Self, HomeError> {
        let memory = Self { home: home.clone(), last: Mutex::new(record.clone()) };
        memory.update(|kept| (kept.id, kept.secret_key) = (record.id, record.secret_key.clone()))?;
        Ok(memory)
    }

    /// What was last read or written.
    pub(crate) fn record(&self) -> HomeRecord {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers what there is of users now. Blocks.
    pub(crate) fn saw_accounts(&self, generation: u64, has_users: bool) {
        let known = self.record();
        if known.accounts >= generation && (known.has_users || !has_users) {
            return;
        }
        let noted = self.update(|kept| {
            kept.accounts = kept.accounts.max(generation);
            kept.has_users |= has_users;
        });
        if let Err(error) = noted {
            tracing::error!(%error, "the home does not remember that its users have changed");
        }
    }

    /// Changes the record, whoever else does so at the same time, if that makes a difference. Blocks.
    pub(crate) fn update(&self, change: impl FnOnce(&mut HomeRecord)) -> Result<(), HomeError> {
        let path = self.home.record();
        let wrong = |cause| HomeError::new(path.clone(), cause);
        let lock_path = self.home.record_lock();
        let lock = super::open_lock(&lock_path).map_err(|cause| HomeError::new(lock_path.clone(), cause))?;
        lock.lock().map_err(|cause| HomeError::new(lock_path, cause))?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let written = HomeRecord::read(&self.home).ok().flatten();
        let mut next = written.clone().unwrap_or_else(|| last.clone());
        change(&mut next);
        if written.as_ref() != Some(&next) {
            next.write(&path).map_err(wrong)?;
        }
        *last = next;
        Ok(())
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
