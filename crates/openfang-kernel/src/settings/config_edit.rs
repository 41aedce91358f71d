//! `[[mcp_servers]]` and `[[a2a.external_agents]]` of `config.toml`, edited as text: an entry comes or goes, and every other
//! byte stays.
//!
//! Nothing is parsed into values and printed again. `layout` says where an entry stands, `render` how a new one is
//! written, and the text is cut and joined at these places. Adding an entry and removing it gives the same bytes.
//! [`rewrite`] reads the outcome as strictly as a start would before a byte of the file changes.

use std::ops::Range;

use openfang_types::config::{ExternalAgent, McpServerConfigEntry};
use openfang_types::ids::{AgentName, ServerName};

use layout::{Entry, KeyPath, Layout};

pub use file::{Edit, replace_text, rewrite};

mod file;
mod inline;
mod layout;
mod render;
mod settings;

/// What happens when there is an entry of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The edit is refused.
    Keep,
    /// The new entry takes its place, below the comment that stands above it.
    Replace,
}

/// Why the text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is an entry of that name.
    #[error("a server {0} already exists; remove it first, or replace it")]
    Exists(ServerName),
    /// There is no entry of that name.
    #[error("there is no server {0} in the file")]
    Unknown(ServerName),
    /// There is an external agent of that name.
    #[error("an external agent {0} already exists; remove it first, or replace it")]
    AgentExists(AgentName),
    /// There is no external agent of that name.
    #[error("there is no external agent {0} in the file")]
    UnknownAgent(AgentName),
    /// The entry asks for a variable of ours.
    #[error("{server} uses {variable}, a variable of OpenFang itself, which nobody else may have; use another name")]
    OwnVariable { server: String, variable: String },
    /// The file as it stands, or as it would be, cannot be used. What is wrong comes without any value.
    #[error("{0}")]
    Faulty(String),
    /// Somebody else has written the file meanwhile.
    #[error("another process changed the file in the meantime; review it and retry")]
    Changed,
    /// The file cannot be read or written.
    #[error("{0}")]
    Unwritable(String),
}

/// An entry to be written.
#[derive(Debug, Clone, Copy)]
pub(super) enum NewEntry<'a> {
    Server(&'a McpServerConfigEntry),
    Agent(&'a ExternalAgent),
}

/// An entry that there is, or is not.
#[derive(Debug, Clone, Copy)]
pub(super) enum NamedEntry<'a> {
    Server(&'a ServerName),
    Agent(&'a AgentName),
}

const SERVERS: KeyPath = &["mcp_servers"];
const AGENTS: KeyPath = &["a2a", "external_agents"];

impl NewEntry<'_> {
    const fn named(&self) -> NamedEntry<'_> {
        match self {
            Self::Server(entry) => NamedEntry::Server(&entry.name),
            Self::Agent(entry) => NamedEntry::Agent(&entry.name),
        }
    }

    fn own_variable(&self) -> Option<&str> {
        match self {
            Self::Server(entry) => entry.own_variable(),
            Self::Agent(entry) => entry.own_variable(),
        }
    }

    fn table(&self) -> Vec<String> {
        match self {
            Self::Server(entry) => render::table(entry),
            Self::Agent(entry) => render::agent_table(entry),
        }
    }

    fn inline(&self) -> String {
        match self {
            Self::Server(entry) => render::inline(entry),
            Self::Agent(entry) => render::agent_inline(entry),
        }
    }
}

impl NamedEntry<'_> {
    const fn path(&self) -> KeyPath {
        match self {
            Self::Server(_) => SERVERS,
            Self::Agent(_) => AGENTS,
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Server(name) => name.as_str(),
            Self::Agent(name) => name.as_str(),
        }
    }

    fn exists(&self) -> EditError {
        match self {
            Self::Server(name) => EditError::Exists((*name).clone()),
            Self::Agent(name) => EditError::AgentExists((*name).clone()),
        }
    }

    fn unknown(&self) -> EditError {
        match self {
            Self::Server(name) => EditError::Unknown((*name).clone()),
            Self::Agent(name) => EditError::UnknownAgent((*name).clone()),
        }
    }
}

/// The text with this entry.
pub fn add(text: &str, entry: &McpServerConfigEntry, existing: Existing) -> Result<String, EditError> {
    add_entry(text, NewEntry::Server(entry), existing)
}

/// The text without the entry of this name, and without the comment directly above it.
pub fn remove(text: &str, name: &ServerName) -> Result<String, EditError> {
    remove_entry(text, NamedEntry::Server(name))
}

pub(super) fn add_entry(text: &str, entry: NewEntry<'_>, existing: Existing) -> Result<String, EditError> {
    let named = entry.named();
    if let Some(variable) = entry.own_variable() {
        return Err(EditError::OwnVariable { server: named.as_str().to_owned(), variable: variable.to_owned() });
    }
    let layout = Layout::of(text, named.path())?;
    match (layout.find(named.as_str()), existing) {
        (Some(_), Existing::Keep) => Err(named.exists()),
        (Some(index), Existing::Replace) => Ok(layout.replaced(index, entry)),
        (None, _) => Ok(layout.extended(entry)),
    }
}

pub(super) fn remove_entry(text: &str, name: NamedEntry<'_>) -> Result<String, EditError> {
    let layout = Layout::of(text, name.path())?;
    let index = layout.find(name.as_str()).ok_or_else(|| name.unknown())?;
    Ok(match &layout.array {
        Some(array) => cut(text, &array.without(text, index)),
        None => cut(text, &layout.removed_lines(&layout.entries[index])),
    })
}

impl Layout<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|held| held.as_deref() == Some(name))
    }

    /// At the end: what comes after a header belongs to it, so an entry can stand nowhere else without a care.
    fn extended(&self, entry: NewEntry<'_>) -> String {
        if let Some(array) = &self.array {
            return splice(self.text, &array.with(self.text, self.newline, &entry.inline()));
        }
        let lines = entry.table().join(self.newline);
        let newline = self.newline;
        match self.text {
            "" => format!("{lines}{newline}"),
            // A file without a last line break stays one: otherwise removing the entry could not bring it back.
            text if text.ends_with('\n') => format!("{text}{newline}{lines}{newline}"),
            text => format!("{text}{newline}{newline}{lines}"),
        }
    }

    fn replaced(&self, index: usize, entry: NewEntry<'_>) -> String {
        if let Some(array) = &self.array {
            let place = array.elements[index].span.clone();
            return splice(self.text, &[(place, entry.inline())]);
        }
        let parts = &self.entries[index].parts;
        let mut pieces = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            if number == 0 {
                let ends_line = self.text[part.clone()].ends_with('\n');
                let end = if ends_line { self.newline } else { "" };
                pieces.push((part.clone(), format!("{}{end}", entry.table().join(self.newline))));
            } else {
                pieces.push((self.lines_of(part), String::new()));
            }
        }
        splice(self.text, &pieces)
    }

    fn removed_lines(&self, entry: &Entry) -> Vec<Range<usize>> {
        entry.parts.iter().map(|part| self.lines_of(part)).collect()
    }

    /// What goes with a part of an entry: the comment directly above, and the empty line that sets it apart.
    fn lines_of(&self, part: &Range<usize>) -> Range<usize> {
        let text = self.text;
        let floor = self.content_before(part.start);
        let mut start = part.start;
        while let Some(above) = line_above(text, start, floor) {
            if !text[above..start].trim_start().starts_with('#') {
                break;
            }
            start = above;
        }
        if let Some(above) = line_above(text, start, floor)
            && matches!(&text[above..start], "\n" | "\r\n")
        {
            start = above;
        }
        if part.end == text.len() && !text.ends_with('\n') {
            start = text[..start]
                .strip_suffix('\n')
                .map_or(start, |kept| kept.strip_suffix('\r').unwrap_or(kept).len());
        }
        start..part.end
    }
}

/// Where the line above begins, unless something that is no blank and no comment stands there.
fn line_above(text: &str, start: usize, floor: usize) -> Option<usize> {
    if start <= floor {
        return None;
    }
    let above = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
    (above >= floor).then_some(above)
}

fn cut(text: &str, ranges: &[Range<usize>]) -> String {
    let pieces: Vec<(Range<usize>, String)> = ranges.iter().map(|range| (range.clone(), String::new())).collect();
    splice(text, &pieces)
}

/// The text with other pieces at these places, which do not overlap and come in their order.
fn splice(text: &str, pieces: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (range, piece) in pieces {
        out.push_str(&text[done..range.start]);
        out.push_str(piece);
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
#[path = "config_edit_tests.rs"]
mod tests;
