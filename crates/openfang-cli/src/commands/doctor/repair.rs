//! Repairs that lose nothing: modes of files that are too wide, and files that a process left behind.

use std::io;
use std::path::PathBuf;

/// A repair that `--fix` may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    /// Takes the file or directory away from others.
    Mode { path: PathBuf, mode: u32 },
    /// Removes a file that leads nowhere.
    Remove(PathBuf),
}

impl Repair {
    /// The same as a command of a shell.
    pub(super) fn command(&self) -> String {
        match self {
            Self::Mode { path, mode } => format!("chmod {mode:o} {}", path.display()),
            Self::Remove(path) => format!("rm {}", path.display()),
        }
    }

    pub(super) fn make(&self) -> io::Result<()> {
        match self {
            Self::Mode { path, mode } => set_mode(path, *mode),
            Self::Remove(path) => std::fs::remove_file(path),
        }
    }
}

#[cfg(unix)]
fn set_mode(path: &std::path::Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &std::path::Path, _: u32) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no modes of files"))
}
