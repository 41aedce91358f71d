//! A directory that lasts as long as a command.

use std::path::{Path, PathBuf};

use openfang_kernel::home::create_private_directory;
use openfang_types::clock::IdSource as _;

use crate::error::CliError;

/// A private directory that is removed at the end.
pub(crate) struct TemporaryHome(PathBuf);

impl TemporaryHome {
    pub(crate) fn create() -> Result<Self, CliError> {
        let name = format!("openfang-{}", openfang_kernel::SystemIds::default().random().simple());
        let place = Self(std::env::temp_dir().join(name));
        create_private_directory(&place.0)?;
        Ok(place)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryHome {
    fn drop(&mut self) {
        // What is left of it lies in the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
