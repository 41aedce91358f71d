//! A skill as a whole: its files in memory, checked, with the digest of each and of all.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use openfang_types::ids::SkillName;
use openfang_types::limits::{
    SKILL_COMPATIBILITY_CHARS, SKILL_DESCRIPTION_CHARS, SKILL_FILES_MAX, SKILL_MAX_BYTES, SKILL_TEXT_MAX_BYTES,
};
use openfang_types::skills::SkillFile;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::SKILL_FILE;
use super::frontmatter::{self, FrontmatterError};
use crate::workspace::{PathFault, RelPath, WorkspaceError};

/// The files of a skill, by their paths. Within the limits, and no two of them are one on another system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFiles {
    files: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillPackage {
    pub name: SkillName,
    pub description: String,
    /// The frontmatter, as it is written.
    pub frontmatter: Map<String, Value>,
    /// The text behind the frontmatter.
    pub body: String,
    /// The files, by path.
    pub files: Vec<SkillFile>,
    /// The digest of all files.
    pub digest: String,
    /// What does not follow the standard, and is accepted.
    pub warnings: Vec<String>,
}

/// Why a directory is no skill that can be used.
#[derive(Debug, thiserror::Error)]
pub enum SkillFault {
    #[error("it has no {SKILL_FILE}")]
    NoSkillFile,
    #[error("{SKILL_FILE} is larger than {SKILL_TEXT_MAX_BYTES} bytes")]
    SkillFileTooLarge,
    #[error("{SKILL_FILE} is not UTF-8 text")]
    NotText,
    #[error("{SKILL_FILE}: {0}")]
    Frontmatter(#[from] FrontmatterError),
    #[error("{SKILL_FILE}: there is no description; say what the skill is for")]
    NoDescription,
    #[error("{SKILL_FILE}: {0}")]
    Name(String),
    #[error("it has more than {SKILL_FILES_MAX} files")]
    TooManyFiles,
    #[error("its files have more than {SKILL_MAX_BYTES} bytes")]
    TooLarge,
    #[error("its directories are too deep")]
    TooDeep,
    #[error("the path {path:?} cannot be used: {why}")]
    Path { path: String, why: PathFault },
    #[error("the paths {0:?} and {1:?} are one file on some systems")]
    CaseTwins(String, String),
    #[error("the path {0:?} comes twice")]
    Twice(String),
    #[error("{0:?} is a link; put a copy of its target there")]
    Link(String),
    #[error("{0:?} is neither a file nor a directory")]
    Special(String),
    #[error(transparent)]
    Unreadable(#[from] WorkspaceError),
    #[error("{path:?} is not the file that was trusted: its digest is another one")]
    Changed { path: String },
    #[error("there is no file {0:?} in the skill")]
    NoSuchFile(String),
    #[error("the skill cannot be stored: {0}")]
    Storage(#[from] std::io::Error),
}

impl SkillFiles {
    /// Adds a file. Its path must be plain, and unlike all others in every writing.
    pub fn add(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), SkillFault> {
        let parsed = RelPath::parse(path).map_err(|why| SkillFault::Path { path: shown(path), why })?;
        if parsed.names().join("/") != path {
            return Err(SkillFault::Path { path: shown(path), why: PathFault::ParentDirectory });
        }
        if self.files.len() >= SKILL_FILES_MAX {
            return Err(SkillFault::TooManyFiles);
        }
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > SKILL_MAX_BYTES {
            return Err(SkillFault::TooLarge);
        }
        match self.files.entry(path.to_owned()) {
            Entry::Occupied(_) => return Err(SkillFault::Twice(shown(path))),
            Entry::Vacant(free) => drop(free.insert(bytes)),
        }
        Ok(())
    }

    /// How many bytes may still be added.
    pub const fn room(&self) -> usize {
        SKILL_MAX_BYTES.saturating_sub(self.bytes)
    }

    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// The files, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The same without a directory that all files lie in.
    #[must_use]
    pub fn without_common_directory(self) -> Self {
        if self.files.contains_key(SKILL_FILE) {
            return self;
        }
        let first = self
            .files
            .keys()
            .next()
            .and_then(|path| path.split_once('/'))
            .map(|(first, _)| format!("{first}/"));
        let Some(prefix) = first.filter(|first| self.files.keys().all(|path| path.starts_with(first))) else {
            return self;
        };
        let rest = |(path, bytes): (String, Vec<u8>)| (path[prefix.len()..].to_owned(), bytes);
        Self { files: self.files.into_iter().map(rest).collect(), bytes: self.bytes }
    }

    fn check_twins(&self) -> Result<(), SkillFault> {
        let mut folded: BTreeMap<String, &str> = BTreeMap::new();
        for path in self.files.keys() {
            if let Some(twin) = folded.insert(path.to_lowercase(), path) {
                return Err(SkillFault::CaseTwins(shown(twin), shown(path)));
            }
        }
        Ok(())
    }
}

impl SkillPackage {
    /// Checks the files of a skill. `directory` is the name of the directory that it lies in.
    pub fn of(files: &SkillFiles, directory: Option<&str>) -> Result<Self, SkillFault> {
        files.check_twins()?;
        let text = files.get(SKILL_FILE).ok_or(SkillFault::NoSkillFile)?;
        if text.len() > SKILL_TEXT_MAX_BYTES {
            return Err(SkillFault::SkillFileTooLarge);
        }
        let document = frontmatter::read(std::str::from_utf8(text).map_err(|_| SkillFault::NotText)?)?;
        let mut warnings = Vec::new();
        if document.is_repaired {
            warnings.push("a value with a colon has no quotes; it was read as one text".to_owned());
        }
        let name = name_of(&document.members, directory, &mut warnings)?;
        let description = text_of(&document.members, "description").map(str::trim).unwrap_or_default().to_owned();
        if description.is_empty() {
            return Err(SkillFault::NoDescription);
        }
        warn_of_lengths(&document.members, &description, &mut warnings);
        let listed: Vec<SkillFile> = files
            .iter()
            .map(|(path, bytes)| SkillFile {
                path: path.to_owned(),
                sha256: hex_digest(bytes),
                size: bytes.len() as u64,
            })
            .collect();
        let digest = digest_of(&listed);
        Ok(Self {
            name,
            description,
            frontmatter: document.members,
            body: document.body,
            files: listed,
            digest,
            warnings,
        })
    }

    /// A text of the frontmatter.
    pub fn text(&self, key: &str) -> Option<&str> {
        text_of(&self.frontmatter, key)
    }

    /// A text below `metadata` of the frontmatter.
    pub fn metadata(&self, key: &str) -> Option<String> {
        match self.frontmatter.get("metadata")?.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The version that the skill says it has.
    pub fn version(&self) -> Option<String> {
        self.metadata("version").or_else(|| self.text("version").map(str::to_owned))
    }

    /// The tools that the skill expects, as it names them.
    pub fn allowed_tools(&self) -> Vec<String> {
        match self.frontmatter.get("allowed-tools") {
            Some(Value::String(text)) => tools_in(text),
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
        }
    }
}

/// The names in a list of tools that spaces or commas separate. What stands in parentheses belongs to its name.
fn tools_in(text: &str) -> Vec<String> {
    let (mut tools, mut tool, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            tools.extend((!tool.is_empty()).then(|| std::mem::take(&mut tool)));
        } else {
            tool.push(c);
        }
    }
    tools.extend((!tool.is_empty()).then_some(tool));
    tools
}

fn name_of(
    members: &Map<String, Value>,
    directory: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<SkillName, SkillFault> {
    let written = text_of(members, "name").or(directory);
    let written = written.ok_or_else(|| SkillFault::Name("there is no name".to_owned()))?;
    let name: SkillName = written.parse().map_err(|error| SkillFault::Name(format!("{error}")))?;
    if let Some(directory) = directory.filter(|directory| *directory != name.as_str()) {
        warnings.push(format!("the name is {name}, and the directory is called {:?}", shown(directory)));
    }
    Ok(name)
}

fn warn_of_lengths(members: &Map<String, Value>, description: &str, warnings: &mut Vec<String>) {
    if description.chars().count() > SKILL_DESCRIPTION_CHARS {
        warnings.push(format!("the description is longer than {SKILL_DESCRIPTION_CHARS} characters"));
    }
    let compatibility = text_of(members, "compatibility").unwrap_or_default();
    if compatibility.chars().count() > SKILL_COMPATIBILITY_CHARS {
        warnings.push(format!("`compatibility` is longer than {SKILL_COMPATIBILITY_CHARS} characters"));
    }
}

fn text_of<'a>(members: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    members.get(key).and_then(Value::as_str)
}

/// The digest of all files: of their digests and paths, in the order of the paths.
pub fn digest_of(files: &[SkillFile]) -> String {
    let mut digest = Sha256::new();
    for file in files {
        digest.update(format!("{} {}\n", file.sha256, file.path));
    }
    crate::pipeline::digest::hex(&digest.finalize())
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn hex_digest(bytes: &[u8]) -> String {
    crate::pipeline::digest::hex(&Sha256::digest(bytes))
}

fn shown(path: &str) -> String {
    path.chars().take(200).collect()
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
