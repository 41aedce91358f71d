//! Who else may write what the home holds. Whoever writes the configuration decides which programs run here, so a home that
//! everybody may write is refused; one that a group or another user may write is complained about.

use std::path::{Path, PathBuf};

use super::Home;

/// Something that others may write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exposure {
    /// Everybody may.
    #[error("{path} can be written by everybody (mode {mode:03o}), and who writes it decides what runs here; take that away with `chmod go-w {path}`", path = path.display())]
    Everybody {
        /// Which file or directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A group may.
    #[error("{path} can be written by its group (mode {mode:03o}), and who writes it decides what runs here; take that away with `chmod g-w {path}`", path = path.display())]
    Group {
        /// Which file or directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another user may.
    #[error("{path} belongs to another user (uid {owner}), who decides what runs here; give it to the user that runs openfang with `chown`", path = path.display())]
    Owner {
        /// Which file or directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
}

impl Home {
    /// What others may write of this home. An error is a reason not to use it.
    pub fn exposures(&self) -> Result<Vec<Exposure>, Exposure> {
        let mut exposures = Vec::new();
        for path in self.decisive() {
            match exposure(path) {
                Some(exposure @ Exposure::Everybody { .. }) => return Err(exposure),
                exposure => exposures.extend(exposure),
            }
        }
        Ok(exposures)
    }

    /// What decides what this home does and who may use it.
    fn decisive(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.root.clone(), self.config(), self.record(), self.data(), self.secret_key()];
        paths.extend([self.database(), self.agents()]);
        paths.extend(self.agent_files());
        paths
    }

    /// The directory of every agent, and what is written there: manifests and scripts.
    pub(crate) fn agent_files(&self) -> Vec<PathBuf> {
        let below =
            |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths = Vec::new();
        for agent in below(&self.agents()).filter(|path| path.is_dir()) {
            paths.extend(below(&agent).filter(|path| path.extension().is_some_and(|kind| kind == "toml")));
            paths.push(agent);
        }
        paths
    }
}

#[cfg(unix)]
fn exposure(path: PathBuf) -> Option<Exposure> {
    use std::os::unix::fs::MetadataExt as _;
    let found = path.metadata().ok()?;
    let (mode, owner) = (found.mode() & 0o777, found.uid());
    // A directory in which nobody may touch what is another's, such as /tmp, is not one to keep a home in either.
    if mode & 0o002 != 0 {
        return Some(Exposure::Everybody { path, mode });
    }
    if mode & 0o020 != 0 {
        return Some(Exposure::Group { path, mode });
    }
    let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    (!is_ours).then_some(Exposure::Owner { path, owner })
}

#[cfg(not(unix))]
fn exposure(_: PathBuf) -> Option<Exposure> {
    None
}

#[cfg(unix)]
#[cfg(test)]
#[path = "exposure_tests.rs"]
mod tests;
