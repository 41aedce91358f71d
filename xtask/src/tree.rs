//! The files of the project, in memory: what git tracks or would track. Without git (an unpacked archive) the
//! directory is walked instead. Files that are not text, and files that are gone, are left out.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::process;

/// Never part of the project, whoever lists it.
const SKIPPED_DIRECTORIES: &[&str] = &[".git", "target", "node_modules"];

/// One text file; the path is relative to the root, with slashes.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All files, by path.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads the project below `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = match git_paths() {
            Ok(paths) => paths,
            Err(_) => walk(root, "")?,
        };
        paths.sort_unstable();
        paths.dedup();
        let text = |path: String| Some(File { text: fs::read_to_string(root.join(&path)).ok()?, path });
        Ok(Self { files: paths.into_iter().filter_map(text).collect() })
    }

    /// A tree from literals.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect() }
    }

    /// Every file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.path.ends_with(".rs"))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// The first line of a file that begins with `start`, counted from one; the first line when there is none.
    pub(crate) fn line_of(&self, path: &str, start: &str) -> usize {
        let found = self
            .text(path)
            .and_then(|text| text.lines().position(|line| line.trim_start().starts_with(start)));
        found.map_or(1, |index| index + 1)
    }
}

/// `safe.directory`: in a container the checkout often belongs to somebody else, which git refuses by default.
fn git_paths() -> Result<Vec<String>> {
    let args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = process::capture(process::program("git").args(args))?;
    Ok(listed
        .split('\0')
        .filter(|path| !path.is_empty() && !is_skipped(path))
        .map(str::to_owned)
        .collect())
}

fn walk(root: &Path, below: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if is_skipped(&path) {
            continue;
        }
        match entry.file_type()? {
            kind if kind.is_dir() => paths.extend(walk(root, &path)?),
            kind if kind.is_file() => paths.push(path),
            _ => {}
        }
    }
    Ok(paths)
}

fn is_skipped(path: &str) -> bool {
    path.split('/').any(|part| SKIPPED_DIRECTORIES.contains(&part))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
