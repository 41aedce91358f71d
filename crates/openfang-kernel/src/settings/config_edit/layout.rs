//! Where the entries of a list stand in a text: as tables under headers, or as elements of an array.

use std::ops::Range;

use toml_parser::parser::{Event, EventKind, parse_document};
use toml_parser::{ParseError, Source};

use super::EditError;
use super::inline::{Array, Element};

/// The keys that lead to a list, such as `a2a`, `external_agents`.
pub(super) type KeyPath = &'static [&'static str];

/// A text and where its entries stand.
pub(super) struct Layout<'t> {
    pub(super) text: &'t str,
    /// How its lines end.
    pub(super) newline: &'static str,
    /// The names of the entries, in order; none where there is none.
    pub(super) names: Vec<Option<String>>,
    /// The entries that stand under headers.
    pub(super) entries: Vec<Entry>,
    /// The array they stand in instead.
    pub(super) array: Option<Array>,
    sections: Vec<Section>,
}

/// An entry under headers: whole lines, in more than one place if headers of others stand between.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) parts: Vec<Range<usize>>,
}

/// A header and what is written under it.
struct Section {
    keys: Vec<String>,
    is_element: bool,
    /// From the header's line to the end of the last line that is no blank and no comment.
    lines: Range<usize>,
}

impl<'t> Layout<'t> {
    pub(super) fn of(text: &'t str, path: KeyPath) -> Result<Self, EditError> {
        let faulty = |why: &str| EditError::Faulty(format!("the file is not valid TOML: {why}"));
        let values: toml::Table = toml::from_str(text).map_err(|error| faulty(error.message()))?;
        let source = Source::new(text);
        let tokens = source.lex().into_vec();
        let mut events = Vec::new();
        let mut wrong: Option<ParseError> = None;
        parse_document(&tokens, &mut |event: Event| events.push(event), &mut wrong);
        if let Some(error) = wrong {
            return Err(faulty(error.description()));
        }
        let mut walk = Walk::new(text, source, path);
        events.iter().for_each(|event| walk.take(event));
        let Walk { sections, array, .. } = walk;
        let layout = Self {
            text,
            newline: if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" },
            names: names(&values, path),
            entries: entries(&sections, path),
            array,
            sections,
        };
        let found = layout.array.as_ref().map_or(layout.entries.len(), |array| array.elements.len());
        if found == layout.names.len() {
            Ok(layout)
        } else {
            Err(faulty(&format!("{} is not a list of tables", path.join("."))))
        }
    }

    /// Where the last thing before this place ends that is no blank and no comment.
    pub(super) fn content_before(&self, place: usize) -> usize {
        let before = self.sections.iter().filter(|section| section.lines.end <= place);
        before.map(|section| section.lines.end).max().unwrap_or(0)
    }
}

fn names(values: &toml::Table, path: KeyPath) -> Vec<Option<String>> {
    let Some((list, above)) = path.split_last() else { return Vec::new() };
    let table = above.iter().try_fold(values, |table, key| table.get(*key)?.as_table());
    let listed = table
        .and_then(|table| table.get(*list))
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten();
    listed
        .map(|entry| entry.get("name").and_then(toml::Value::as_str).map(str::to_owned))
        .collect()
}

/// Sections that follow each other are one part, with all that stands between them.
fn entries(sections: &[Section], path: KeyPath) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut goes_on = false;
    for section in sections {
        let is_ours =
            section.keys.len() >= path.len() && section.keys.iter().zip(path).all(|(key, wanted)| key == wanted);
        if section.is_element {
            entries.push(Entry::default());
            goes_on = false;
        }
        if is_ours && let Some(entry) = entries.last_mut() {
            match entry.parts.last_mut() {
                Some(part) if goes_on => part.end = section.lines.end,
                _ => entry.parts.push(section.lines.clone()),
            }
        }
        goes_on = is_ours;
    }
    entries
}

/// Reads the events of the parser in order.
struct Walk<'t> {
    text: &'t str,
    source: Source<'t>,
    sections: Vec<Section>,
    array: Option<Array>,
    /// How many arrays and inline tables are open.
    depth: usize,
    keys: Vec<String>,
    /// Whether the value of the list is being read.
    is_in_array: bool,
    path: KeyPath,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str, source: Source<'t>, path: KeyPath) -> Self {
        let root = Section { keys: Vec::new(), is_element: false, lines: 0..0 };
        Self { text, source, sections: vec![root], array: None, depth: 0, keys: Vec::new(), is_in_array: false, path }
    }

    fn take(&mut self, event: &Event) {
        let (start, end) = (event.span().start(), event.span().end());
        match event.kind() {
            EventKind::Whitespace | EventKind::Comment | EventKind::Error => return,
            EventKind::Newline => {
                if self.depth == 0 {
                    self.keys.clear();
                }
                return;
            }
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
                self.sections.push(Section { keys: Vec::new(), is_element: false, lines: line..line });
                self.keys.clear();
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                let keys = std::mem::take(&mut self.keys);
                if let Some(section) = self.sections.last_mut() {
                    section.is_element = event.kind() == EventKind::ArrayTableClose && keys == self.path;
                    section.keys = keys;
                }
            }
            EventKind::SimpleKey if self.depth == 0 => self.keys.push(self.key(event)),
            EventKind::ArrayOpen => {
                if self.depth == 0 && self.is_list() {
                    self.array = Some(Array { inner: end..end, elements: Vec::new() });
                    self.is_in_array = true;
                }
                self.depth += 1;
            }
            EventKind::InlineTableOpen => {
                if let Some(array) = self.array.as_mut().filter(|_| self.is_in_array && self.depth == 1) {
                    array.elements.push(Element { span: start..end, comma: None });
                }
                self.depth += 1;
            }
            EventKind::InlineTableClose => {
                self.depth = self.depth.saturating_sub(1);
                if let Some(element) = self.element() {
                    element.span.end = end;
                }
            }
            EventKind::ValueSep => {
                if let Some(element) = self.element() {
                    element.comma = Some(start..end);
                }
            }
            EventKind::ArrayClose => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0
                    && std::mem::take(&mut self.is_in_array)
                    && let Some(array) = &mut self.array
                {
                    array.inner.end = start;
                }
            }
            EventKind::SimpleKey | EventKind::KeySep | EventKind::KeyValSep | EventKind::Scalar => {}
        }
        let line_end = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at + 1);
        if let Some(section) = self.sections.last_mut() {
            section.lines.end = line_end;
        }
    }

    /// Whether the key that was read last names the list.
    fn is_list(&self) -> bool {
        let above = self.sections.last().map(|section| section.keys.as_slice()).unwrap_or_default();
        let named: Vec<&str> = above.iter().chain(&self.keys).map(String::as_str).collect();
        named == self.path
    }

    /// The element that was read last, if what comes now belongs to the array itself.
    fn element(&mut self) -> Option<&mut Element> {
        let is_direct = self.is_in_array && self.depth == 1;
        self.array.as_mut().filter(|_| is_direct)?.elements.last_mut()
    }

    fn key(&self, event: &Event) -> String {
        let mut key = String::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut key, &mut ());
        }
        key
    }
}
