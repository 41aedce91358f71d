//! `[[mcp_servers]]` of `config.toml`, edited as text: an entry comes or goes, and every other byte stays.
//!
//! Nothing is parsed into values and printed again. `layout` says where an entry stands, `render` how a new one is
//! written, and the text is cut and joined at these places. Adding an entry and removing it gives the same bytes.
//! [`rewrite`] reads the outcome as strictly as a start would before a byte of the file changes.

use std::ops::Range;

use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;

use layout::{Entry, Layout};

pub use file::{Edit, replace_text, rewrite};

mod file;
mod inline;
mod layout;
mod render;

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
    /// The entry asks for a variable of ours.
    #[error("{server} uses {variable}, a variable of OpenFang itself, which no server may have; use another name")]
    OwnVariable { server: ServerName, variable: String },
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

/// The text with this entry.
pub fn add(text: &str, entry: &McpServerConfigEntry, existing: Existing) -> Result<String, EditError> {
    if let Some(variable) = entry.own_variable() {
        return Err(EditError::OwnVariable { server: entry.name.clone(), variable: variable.to_owned() });
    }
    let layout = Layout::of(text)?;
    match (layout.find(&entry.name), existing) {
        (Some(_), Existing::Keep) => Err(EditError::Exists(entry.name.clone())),
        (Some(index), Existing::Replace) => Ok(layout.replaced(index, entry)),
        (None, _) => Ok(layout.extended(entry)),
    }
}

/// The text without the entry of this name, and without the comment directly above it.
pub fn remove(text: &str, name: &ServerName) -> Result<String, EditError> {
    let layout = Layout::of(text)?;
    let index = layout.find(name).ok_or_else(|| EditError::Unknown(name.clone()))?;
    Ok(match &layout.array {
        Some(array) => cut(text, &array.without(text, index)),
        None => cut(text, &layout.removed_lines(&layout.entries[index])),
    })
}

impl Layout<'_> {
    fn find(&self, name: &ServerName) -> Option<usize> {
        self.names.iter().position(|held| held.as_deref() == Some(name.as_str()))
    }

    /// At the end: what comes after a header belongs to it, so an entry can stand nowhere else without a care.
    fn extended(&self, entry: &McpServerConfigEntry) -> String {
        if let Some(array) = &self.array {
            return splice(self.text, &array.with(self.text, self.newline, &render::inline(entry)));
        }
        let lines = render::table(entry).join(self.newline);
        let newline = self.newline;
        match self.text {
            "" => format!("{lines}{newline}"),
            // A file without a last line break stays one: otherwise removing the entry could not bring it back.
            text if text.ends_with('\n') => format!("{text}{newline}{lines}{newline}"),
            text => format!("{text}{newline}{newline}{lines}"),
        }
    }

    fn replaced(&self, index: usize, entry: &McpServerConfigEntry) -> String {
        if let Some(array) = &self.array {
            let place = array.elements[index].span.clone();
            return splice(self.text, &[(place, render::inline(entry))]);
        }
        let parts = &self.entries[index].parts;
        let mut pieces = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            if number == 0 {
                let ends_line = self.text[part.clone()].ends_with('\n');
                let end = if ends_line { self.newline } else { "" };
                pieces.push((part.clone(), format!("{}{end}", render::table(entry).join(self.newline))));
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
