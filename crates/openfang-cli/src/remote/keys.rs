//! The keys of servers on other machines, one for each origin, in a file that only its owner reads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use openfang_kernel::home::{Home, create_private_directory, replace_private_file};
use openfang_types::limits::{REMOTE_KEYS, REMOTE_KEYS_FILE_MAX_BYTES};
use openfang_types::secret::Secret;

use super::ServerOrigin;
use crate::error::CliError;

type Keys = BTreeMap<String, String>;

/// The file with the keys.
pub(crate) struct StoredKeys {
    path: PathBuf,
}

impl StoredKeys {
    pub(crate) fn of(home: &Home) -> Self {
        Self { path: home.server_keys() }
    }

    pub(crate) fn get(&self, origin: &ServerOrigin) -> Result<Option<Secret>, CliError> {
        Ok(self.read()?.remove(origin.as_str()).map(Secret::new))
    }

    /// Stores a key, in the place of an earlier one for the same server.
    pub(crate) fn set(&self, origin: &ServerOrigin, key: &Secret) -> Result<(), CliError> {
        let mut keys = self.read()?;
        keys.insert(origin.as_str().to_owned(), key.expose().to_owned());
        if keys.len() > REMOTE_KEYS {
            return Err(CliError::Usage(format!(
                "the limit of {REMOTE_KEYS} servers is reached; forget one with `openfang logout URL`"
            )));
        }
        self.write(&keys)
    }

    /// Forgets the key for a server; whether there was one.
    pub(crate) fn remove(&self, origin: &ServerOrigin) -> Result<bool, CliError> {
        let mut keys = self.read()?;
        let had_one = keys.remove(origin.as_str()).is_some();
        if had_one {
            self.write(&keys)?;
        }
        Ok(had_one)
    }

    fn read(&self) -> Result<Keys, CliError> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|file| {
            check_private(&self.path, &file)?;
            file.take(REMOTE_KEYS_FILE_MAX_BYTES).read_to_end(&mut bytes)
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Keys::new()),
            read => read.map_err(|cause| self.unusable(&cause))?,
        };
        // The parser's message may quote a key.
        serde_json::from_slice(&bytes).map_err(|_| self.unusable("it is not a list of servers and keys; remove it"))
    }

    fn write(&self, keys: &Keys) -> Result<(), CliError> {
        let written = serde_json::to_vec_pretty(keys).map_err(io::Error::from).and_then(|bytes| {
            if let Some(directory) = self.path.parent().filter(|directory| !directory.exists()) {
                create_private_directory(directory)?;
            }
            replace_private_file(&self.path, &bytes)
        });
        written.map_err(|cause| self.unusable(&cause))
    }

    fn unusable(&self, why: &(impl std::fmt::Display + ?Sized)) -> CliError {
        CliError::Usage(format!("{} cannot be used: {why}", self.path.display()))
    }
}

#[cfg(unix)]
fn check_private(path: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = file.metadata()?.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "others can read it (mode {mode:03o}), and it holds keys; run `chmod 600 {}` and replace the keys",
        path.display()
    )))
}

#[cfg(not(unix))]
fn check_private(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
