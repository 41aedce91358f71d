//! Who else may write what the home holds. Whoever writes the configuration decides which programs run here, so a home that
//! everybody may write is refused; one that a group or another user may write is complained about. So is a directory above
//! it: whoever may rename the home may put another in its place.

use std::path::{Path, PathBuf};

use super::Home;
use crate::settings::agents::SCRIPT;

/// Something that others may write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exposure {
    #[error("{path} is writable by everybody (mode {mode:03o}), so anybody could run code as this user; fix it with `chmod go-w {path}`", path = path.display())]
    Everybody {
        /// Which file or directory.
        path: PathBuf,
        mode: u32,
    },
    #[error("{path} is writable by its group (mode {mode:03o}), so the group could run code as this user; fix it with `chmod g-w {path}`", path = path.display())]
    Group {
        /// Which file or directory.
        path: PathBuf,
        mode: u32,
    },
    #[error("{path} belongs to another user (uid {owner}), who could run code as this user; change the owner with `chown`", path = path.display())]
    Owner {
        /// Which file or directory.
        path: PathBuf,
        owner: u32,
    },
}

impl Home {
    /// What others may write of this home. An error is a reason not to use it.
    pub fn exposures(&self) -> Result<Vec<Exposure>, Exposure> {
        let mut exposures = Vec::new();
        let above = self.above().into_iter().map(|path| (path, Sticky::Protects));
        let own = self.decisive().into_iter().map(|path| (path, Sticky::HelpsNot));
        for (path, sticky) in above.chain(own) {
            match exposure(path, sticky) {
                Some(exposure @ Exposure::Everybody { .. }) => return Err(exposure),
                exposure => exposures.extend(exposure),
            }
        }
        Ok(exposures)
    }

    /// What decides what this home does and who may use it.
    fn decisive(&self) -> Vec<PathBuf> {
        let mut paths = vec![self.root.clone(), self.config(), self.record(), self.data(), self.secret_key()];
        paths.extend([
            self.database(),
            self.database_log(),
            self.agents(),
            self.daemon(),
            self.mcp(),
            self.ended_sessions(),
            self.skill_data(),
        ]);
        paths.extend(entries(&self.skill_data()));
        paths.extend(entries(&self.mcp()));
        paths.extend(self.agent_files());
        paths
    }

    /// The directory of every agent, and what is written there: manifests and scripts.
    pub(crate) fn agent_files(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for agent in entries(&self.agents()).into_iter().filter(|path| path.is_dir()) {
            let named = named_files(&agent);
            let is_read = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "toml") || named.contains(path);
            paths.extend(entries(&agent).into_iter().filter(is_read));
            paths.push(agent);
        }
        paths
    }

    /// The directories above the home, the nearest first.
    fn above(&self) -> Vec<PathBuf> {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        root.ancestors().skip(1).map(Path::to_owned).collect()
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The files that the manifest of an agent names: a script, instructions, a schema. A manifest that cannot be read is refused
/// later.
fn named_files(agent: &Path) -> Vec<PathBuf> {
    let manifest = std::fs::read_to_string(agent.join("agent.toml")).unwrap_or_default();
    let manifest: toml::Table = toml::from_str(&manifest).unwrap_or_default();
    let named = |section: &str, key: &str| manifest.get(section)?.get(key)?.as_str();
    let script = named("model", "script").unwrap_or(SCRIPT);
    let others = [named("model", "system_prompt_file"), named("output", "schema")];
    [Some(script)].into_iter().chain(others).flatten().map(|name| agent.join(name)).collect()
}

/// What the sticky bit of a directory is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sticky {
    /// Above the home: nobody may rename what is another's.
    Protects,
    /// A directory such as /tmp is not one to keep a home's files in.
    HelpsNot,
}

#[cfg(unix)]
fn exposure(path: PathBuf, sticky: Sticky) -> Option<Exposure> {
    use std::os::unix::fs::MetadataExt as _;
    let found = path.metadata().ok()?;
    let (mode, owner) = (found.mode() & 0o777, found.uid());
    let is_protected = sticky == Sticky::Protects && found.mode() & 0o1000 != 0;
    if mode & 0o002 != 0 && !is_protected {
        return Some(Exposure::Everybody { path, mode });
    }
    if mode & 0o020 != 0 && !is_protected {
        return Some(Exposure::Group { path, mode });
    }
    let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    (!is_ours).then_some(Exposure::Owner { path, owner })
}

#[cfg(not(unix))]
fn exposure(_: PathBuf, _: Sticky) -> Option<Exposure> {
    None
}

#[cfg(unix)]
#[cfg(test)]
#[path = "exposure_tests.rs"]
mod tests;
