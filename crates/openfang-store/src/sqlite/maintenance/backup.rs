//! Copies the whole database as of one moment, while others write. The copy appears under its name when it is complete
//! and synced, and never replaces another file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use uuid::Uuid;

use super::{DatabaseFile, MaintenanceError};

pub(super) fn backup(from: &DatabaseFile, to: &Path) -> Result<u64, MaintenanceError> {
    let not_written = |cause: io::Error| match cause.kind() {
        io::ErrorKind::AlreadyExists => MaintenanceError::Exists { path: to.to_owned() },
        _ => MaintenanceError::NotWritten { path: to.to_owned(), cause },
    };
    if fs::symlink_metadata(to).is_ok() {
        return Err(MaintenanceError::Exists { path: to.to_owned() });
    }
    let partial = Partial::beside(to).map_err(not_written)?;
    copy_into(from, &partial)?;
    partial.publish(to).map_err(not_written)
}

/// Everything that was committed before this began is in it.
fn copy_into(from: &DatabaseFile, partial: &Partial) -> Result<(), MaintenanceError> {
    let path = &partial.path;
    let unusable = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    let not_written = |cause| MaintenanceError::NotWritten { path: path.clone(), cause };
    let name = path.to_str().ok_or_else(|| not_written(unusable("its name is not valid UTF-8")))?;
    match from.connection.execute("VACUUM INTO ?1", [name]) {
        Ok(_) => Ok(()),
        Err(error) if is_about_the_copy(&error) => Err(not_written(io::Error::other(error))),
        Err(error) => Err(from.unreadable(error)),
    }
}

fn is_about_the_copy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DiskFull | ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// An incomplete file, which is removed when this is dropped.
struct Partial {
    path: PathBuf,
}

impl Partial {
    /// An empty file in the same directory, readable by its owner only. SQLite keeps its mode.
    fn beside(to: &Path) -> io::Result<Self> {
        let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file");
        let mut name = OsString::from(".");
        name.push(to.file_name().ok_or_else(no_name)?);
        name.push(format!(".{}.partial", Uuid::new_v4().simple()));
        let path = to.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?;
        Ok(Self { path })
    }

    /// Renames the file to its final name, unless the name is taken.
    fn publish(self, to: &Path) -> io::Result<u64> {
        let file = File::open(&self.path)?;
        file.sync_all()?;
        match fs::hard_link(&self.path, to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links. The name was free a moment ago.
            Err(_) => fs::rename(&self.path, to)?,
        }
        sync_directory_of(to)?;
        Ok(file.metadata()?.len())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

/// Syncs the directory, which makes the new name durable.
fn sync_directory_of(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
