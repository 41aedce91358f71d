//! Paths of the table on this machine: the files to read servers from, and the files to write an entry to.

use std::path::{Path, PathBuf};

use openfang_kernel::config_file::Directories;

use super::{Base, Client, ClientRow, Form, Location};

/// A settings file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) client: Client,
    pub(crate) path: PathBuf,
    /// The project of the file, or `None` for the user's own file.
    pub(crate) project: Option<PathBuf>,
}

/// A file that an entry is written to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) row: &'static ClientRow,
    pub(crate) path: PathBuf,
}

/// The settings files to read, in order of precedence. A missing file is not an error.
pub(crate) fn places(directories: &Directories, here: Option<&Path>) -> Vec<Source> {
    let mut found: Vec<Source> = Vec::new();
    let mut add = |client, path: PathBuf, project: Option<&Path>| {
        if !found.iter().any(|held| held.path == path) {
            found.push(Source { client, path, project: project.map(Path::to_owned) });
        }
    };
    let rows = Client::rows().iter().filter(|row| !matches!(row.form, Form::Print(_)));
    for row in rows.clone() {
        // The file of Claude Code also has the servers of single projects; those of this directory are read.
        let project = here.filter(|_| row.client == Client::ClaudeCode);
        let paths = row.user.iter().filter_map(|location| path_of(location, directories));
        paths.for_each(|path| add(row.client, path, project));
    }
    for row in rows {
        let paths = row.project.iter().filter_map(|path| Some(here?.join(path)));
        paths.for_each(|path| add(row.client, path, here));
    }
    found
}

/// The files of the user that an entry is written to: all that exist, else the first choice on this system.
pub(crate) fn targets(row: &'static ClientRow, directories: &Directories) -> Vec<Target> {
    let target = |path| Target { row, path };
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in row.user.iter().filter_map(|location| path_of(location, directories)) {
        if path.exists() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        paths.extend(first_choice(row, directories));
    }
    paths.into_iter().map(target).collect()
}

/// Whether the program seems to be installed: a settings file exists, or the directory that is made for it.
pub(crate) fn is_installed(row: &ClientRow, directories: &Directories) -> bool {
    if row.client == Client::ClaudeCode && directories.home.as_ref().is_some_and(|home| home.join(".claude").is_dir()) {
        return true;
    }
    let mut paths = row.user.iter().filter_map(|location| path_of(location, directories));
    let own = |path: &Path| {
        path.parent()
            .filter(|parent| Some(*parent) != directories.home.as_deref())
            .map(Path::is_dir)
    };
    paths.any(|path| path.exists() || own(&path) == Some(true))
}

impl ClientRow {
    /// The file of a project that an entry is written to.
    pub(crate) fn project_target(&'static self, directory: &Path) -> Option<Target> {
        let existing = self.project.iter().map(|rest| directory.join(rest)).find(|path| path.exists());
        let path = existing.or_else(|| self.project.first().map(|rest| directory.join(rest)))?;
        Some(Target { row: self, path })
    }
}

fn first_choice(row: &ClientRow, directories: &Directories) -> Option<PathBuf> {
    let is_native = |location: &&Location| match location.base {
        Base::Home | Base::Codex => true,
        Base::Config => !(cfg!(windows) || has_both(row, Base::Library) && cfg!(target_os = "macos")),
        Base::Library => cfg!(target_os = "macos"),
        Base::Roaming => cfg!(windows),
    };
    let mut current = row.user.iter().filter(|location| !location.is_earlier);
    let chosen = current.clone().find(is_native).or_else(|| current.next());
    path_of(chosen?, directories)
}

fn has_both(row: &ClientRow, base: Base) -> bool {
    row.user.iter().any(|location| location.base == base)
}

fn path_of(location: &Location, directories: &Directories) -> Option<PathBuf> {
    let Directories { home, config, roaming, codex } = directories;
    let base = match location.base {
        Base::Home => home.clone(),
        Base::Config => config.clone(),
        Base::Library => home.as_ref().map(|home| home.join("Library/Application Support")),
        Base::Roaming => roaming.clone(),
        Base::Codex => codex.clone(),
    };
    base.map(|base| base.join(location.rest))
}

/// A file named with `--from`, as a source.
pub(crate) fn source_of_file(path: &Path) -> Source {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Source { client: Client::File, project: project_of(&path), path }
}

/// The project directory of a settings file.
pub(super) fn project_of(path: &Path) -> Option<PathBuf> {
    let directory = path.parent()?;
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_settings =
        matches!(name, ".vscode" | ".cursor" | ".zed" | ".codex" | ".gemini" | ".devin" | ".agents" | ".amp");
    if is_settings { directory.parent().map(Path::to_owned) } else { Some(directory.to_owned()) }
}
