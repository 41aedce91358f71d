//! Tables and lists of fields. On a terminal they fit its width: the last column of a table is truncated, and long fields
//! wrap. Elsewhere nothing is truncated.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::escape;
use super::paint::{Tone, paint};

const GAP: usize = 2;
/// The minimum width of a truncated column.
const LEAST: usize = 12;

/// The colors and width to render with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) colour: bool,
    /// The width of the terminal, if there is one.
    pub(super) width: Option<usize>,
}

/// A text and its tone.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn toned(text: impl ToString, tone: Tone) -> Self {
        Self { text: escape::cell(&text.to_string()), tone }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// Rows with a heading row.
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|name| Cell::toned(name, Tone::Strong)).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(super) fn render(&self, look: &Look) -> String {
        let widths = self.widths(look);
        self.rows.iter().map(|row| line(row, &widths, look)).collect()
    }

    fn widths(&self, look: &Look) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.width()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..columns).map(widest).collect();
        if let (Some(width), Some((last, others))) = (look.width, widths.split_last_mut()) {
            let taken: usize = others.iter().map(|width| width + GAP).sum();
            *last = (*last).min(width.saturating_sub(taken).max(LEAST));
        }
        widths
    }
}

fn line(row: &[Cell], widths: &[usize], look: &Look) -> String {
    let mut line = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let text = cut(&cell.text, *width);
        line.push_str(&paint(&text, cell.tone, look.colour));
        if index + 1 < row.len() {
            line.extend(std::iter::repeat_n(' ', width - text.width().min(*width) + GAP));
        }
    }
    format!("{}\n", line.trim_end())
}

/// Truncates the text to a width, with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1; // the mark's own
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// Labels and values, one pair per line.
#[derive(Default)]
pub(crate) struct Fields {
    fields: Vec<(&'static str, Cell)>,
}

impl Fields {
    pub(crate) fn add(&mut self, name: &'static str, value: impl Into<Cell>) {
        self.fields.push((name, value.into()));
    }

    pub(super) fn render(&self, look: &Look) -> String {
        let indent = self.fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0) + GAP;
        let room = look.width.map(|width| width.saturating_sub(indent).max(LEAST));
        let mut out = String::new();
        for (name, value) in &self.fields {
            let mut label = *name;
            for line in wrapped(&value.text, room) {
                let space = " ".repeat(indent - label.width());
                let line = paint(&line, value.tone, look.colour);
                let label = paint(std::mem::take(&mut label), Tone::Strong, look.colour);
                out.push_str(format!("{label}{space}{line}").trim_end());
                out.push('\n');
            }
        }
        out
    }
}

/// Wraps the text between words to lines of at most `room`. A longer word gets its own line.
fn wrapped(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
