//! The file of the vault: names, sealed values and who uses them. Several processes may change it, one at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use openfang_types::ids::SecretName;
use openfang_types::limits::SECRETS_FILE_MAX_BYTES;
use serde::{Deserialize, Serialize};

use super::{SecretUse, SecretView, VaultError};
use crate::settings::home::{Home, open_lock, replace_private_file};

pub(super) type Secrets = BTreeMap<SecretName, SealedSecret>;

/// Where the secrets of a home are.
pub(super) struct VaultFile {
    path: PathBuf,
    lock: PathBuf,
}

/// A secret, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealedSecret {
    /// The nonce, the value under AES-256-GCM and the tag, in base64.
    pub(super) sealed: String,
    /// The id of the key of the home that it was sealed with.
    pub(super) key: String,
    pub(super) created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_used: Option<Timestamp>,
    #[serde(default)]
    pub(super) uses: Vec<SecretUse>,
}

impl SealedSecret {
    pub(super) fn view(self, name: SecretName) -> SecretView {
        SecretView { name, created_at: self.created_at, last_used: self.last_used, uses: self.uses }
    }
}

impl VaultFile {
    pub(super) fn of(home: &Home) -> Self {
        Self { path: home.secrets(), lock: home.secrets_lock() }
    }

    /// What is stored. A file that is not there stores nothing.
    pub(super) fn read(&self) -> Result<Secrets, VaultError> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(SECRETS_FILE_MAX_BYTES).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Secrets::new()),
            read => read.map_err(|cause| unusable(&self.path, cause))?,
        };
        serde_json::from_slice(&bytes).map_err(|cause| unusable(&self.path, cause))
    }

    /// Changes what is stored, whoever else does so at the same time. A change that fails changes nothing.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Secrets) -> Result<T, VaultError>,
    ) -> Result<T, VaultError> {
        let lock = open_lock(&self.lock).map_err(|cause| unusable(&self.lock, cause))?;
        lock.lock().map_err(|cause| unusable(&self.lock, cause))?;
        let before = self.read()?;
        let mut next = before.clone();
        let made = change(&mut next)?;
        if next != before {
            let written = serde_json::to_vec_pretty(&next).map_err(io::Error::from);
            let written = written.and_then(|bytes| replace_private_file(&self.path, &bytes));
            written.map_err(|cause| unusable(&self.path, cause))?;
        }
        Ok(made)
    }
}

fn unusable(path: &Path, cause: impl std::fmt::Display) -> VaultError {
    VaultError::File { path: path.display().to_string(), cause: cause.to_string() }
}
