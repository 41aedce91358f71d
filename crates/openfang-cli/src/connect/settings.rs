//! Settings files of other programs: read within limits, and replaced in one step.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use openfang_kernel::config_edit::{self, EditError};
use openfang_types::limits::CONNECT_FILE_BYTES;
use sha2::{Digest as _, Sha256};

/// A settings file and its text.
#[derive(Debug, Clone)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    /// The text, or none if the file does not exist.
    pub(crate) text: Option<String>,
}

impl SettingsFile {
    /// Reads the file. One that is too large, no file, or no text is an error that says so.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let unreadable = |why: &dyn std::fmt::Display| format!("it cannot be read: {why}");
        let text = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && std::fs::symlink_metadata(path).is_err() => None,
            Err(cause) => return Err(unreadable(&cause)),
            Ok(found) if !found.is_file() => return Err(unreadable(&"it is not a file")),
            Ok(found) if found.len() > CONNECT_FILE_BYTES => {
                return Err(unreadable(&format_args!("it is larger than {CONNECT_FILE_BYTES} bytes")));
            }
            Ok(_) => Some(std::fs::read_to_string(path).map_err(|cause| unreadable(&cause))?),
        };
        Ok(Self { path: path.to_owned(), text })
    }

    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The digest of the text, or none if the file does not exist.
    pub(crate) fn digest(&self) -> Option<String> {
        self.text.as_deref().map(digest)
    }

    /// Replaces the text, unless somebody else has written the file meanwhile. Directories that are missing are made, and
    /// returned.
    pub(crate) fn replace(&self, text: &str) -> Result<Vec<PathBuf>, EditError> {
        let made = self.make_directories()?;
        config_edit::replace_text(&self.path, self.text(), text)?;
        Ok(made)
    }

    fn make_directories(&self) -> Result<Vec<PathBuf>, EditError> {
        let parents = self.path.ancestors().skip(1);
        let missing: Vec<PathBuf> = parents.take_while(|parent| !parent.exists()).map(Path::to_owned).collect();
        if let Some(deepest) = missing.first() {
            let wrong = |cause| EditError::Unwritable(format!("{} cannot be created: {cause}", deepest.display()));
            std::fs::create_dir_all(deepest).map_err(wrong)?;
        }
        Ok(missing)
    }
}

/// The digest of a text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
