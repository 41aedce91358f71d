//! Lists of tools, prompts and templates, prepared once per revision: a listing is made when what it shows changes,
//! and answering costs a copy of bytes. Of a list with many pages only the first is kept prepared, once it was asked for
//! twice: who reads on does so once, and ten thousand entries need not be held twice.
//!
//! Entries are in the order of their names. A cursor names the last entry of the page before, so that it stays good
//! when the list changes in between; one that we did not make is refused.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use openfang_types::jsonrpc::one_line;
use openfang_types::limits::MCP_PAGE_ENTRIES;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::raw;
use crate::error::McpError;
use crate::revision::{Revision, Structured};
pub use entry::{Entry, Late};
pub(crate) use pack::Pack;

mod entry;
mod pack;

/// What a listing lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    Tools,
    Prompts,
    Resources,
    /// Resources that have no end, by pattern.
    Templates,
    /// Skills, by the URI of their instructions.
    Skills,
}

impl Listed {
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Skills => "skills",
        }
    }
}

/// Members of entries that not every revision has: the first and the last that do.
const MEMBERS: &[(&str, Revision, Revision)] = &[
    ("icons", Revision::V2025_11_25, Revision::NEWEST),
    ("execution", Revision::V2025_11_25, Revision::V2025_11_25),
    ("outputSchema", Revision::V2025_06_18, Revision::NEWEST),
    ("title", Revision::V2025_06_18, Revision::NEWEST),
    ("_meta", Revision::V2025_06_18, Revision::NEWEST),
];

#[derive(Debug)]
pub struct Listing {
    listed: Listed,
    entries: Vec<Entry>,
    /// The first page, by revision.
    first: [OnceLock<Bytes>; 5],
    /// Which of them were asked for: what is asked for once need not be held.
    asked: [AtomicBool; 5],
    mirrored: OnceLock<HashMap<String, Vec<MirroredParam>>>,
}

/// An argument that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredParam {
    /// The header's name behind `Mcp-Param-`.
    pub header: String,
    /// The members that lead to the argument.
    pub path: Vec<String>,
}

impl MirroredParam {
    /// What the header repeats; null where the arguments do not have it.
    pub(crate) fn value_in<'a>(&self, arguments: &'a Value) -> &'a Value {
        let found = self.path.iter().try_fold(arguments, |value, member| value.get(member));
        found.unwrap_or(&Value::Null)
    }
}

impl Listing {
    /// A list of these.
    pub fn new(listed: Listed, mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        Self { listed, entries, first: Default::default(), asked: Default::default(), mirrored: OnceLock::new() }
    }

    /// The entry of that name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.at(self.place_of(name)?)
    }

    /// Where in the order of names the entry of that name stands.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| entry.name().cmp(name)).ok()
    }

    /// The entry at a place in the order of names.
    pub fn at(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place)
    }

    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order of their names.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(Entry::name)
    }

    /// The entries of one page, and the cursor that leads to the next page.
    pub fn page_entries(&self, cursor: Option<&str>) -> Result<(&[Entry], Option<String>), McpError> {
        let begin = match cursor.filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(cursor) => {
                let name = name_in(cursor).ok_or(McpError::BadCursor)?;
                self.entries.partition_point(|entry| entry.name() <= name.as_str())
            }
        };
        let rest = self.entries.get(begin..).unwrap_or_default();
        let page = &rest[..rest.len().min(MCP_PAGE_ENTRIES)];
        let next = page.last().filter(|_| page.len() < rest.len());
        Ok((page, next.map(|last| cursor_after(last.name()))))
    }

    /// The members of the result for one page, without the braces.
    pub(crate) fn page(&self, revision: Revision, cursor: Option<&str>) -> Result<Bytes, McpError> {
        let number = match cursor.filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(cursor) => self.page_after(&name_in(cursor).ok_or(McpError::BadCursor)?),
        };
        if number == 0 {
            let prepared = &self.first[revision.index()];
            if self.asked[revision.index()].swap(true, Ordering::Relaxed) {
                return Ok(prepared.get_or_init(|| self.render(revision, 0)).clone());
            }
            return Ok(self.render(revision, 0));
        }
        if number * MCP_PAGE_ENTRIES >= self.entries.len() {
            return Err(McpError::BadCursor);
        }
        Ok(self.render(revision, number))
    }

    /// Whether some tool asks for headers that repeat its arguments.
    pub fn has_mirrored(&self) -> bool {
        !self.mirrored.get_or_init(|| self.find_mirrored()).is_empty()
    }

    /// The arguments that headers repeat, for the tool that these parameters name.
    pub(crate) fn mirrored(&self, params: Option<&RawValue>) -> &[MirroredParam] {
        #[derive(Deserialize)]
        struct ToolParams {
            name: String,
        }
        let mirrored = self.mirrored.get_or_init(|| self.find_mirrored());
        if mirrored.is_empty() {
            return &[];
        }
        let named = params.and_then(|raw| serde_json::from_str::<ToolParams>(raw.get()).ok());
        named.and_then(|named| mirrored.get(&named.name)).map_or(&[], Vec::as_slice)
    }

    fn find_mirrored(&self) -> HashMap<String, Vec<MirroredParam>> {
        let mut found = HashMap::new();
        // Most lists have none, and a look at the bytes says so.
        for (entry, json) in self.entries.iter().map(|entry| (entry, entry.json())) {
            if !json.contains(MIRRORED) {
                continue;
            }
            let value: Value = serde_json::from_str(&json).unwrap_or_default();
            let mut params = Vec::new();
            mirrored_in(&value["inputSchema"], &mut Vec::new(), &mut params);
            if !params.is_empty() {
                found.insert(entry.name().to_owned(), params);
            }
        }
        found
    }

    /// Pages have a fixed length, so a page that begins elsewhere because the list changed begins a little early:
    /// an entry may come twice, none is left out.
    fn page_after(&self, name: &str) -> usize {
        self.entries.partition_point(|entry| entry.name() <= name) / MCP_PAGE_ENTRIES
    }

    /// The members of the result behind its opening brace, without what an era adds.
    fn render(&self, revision: Revision, number: usize) -> Bytes {
        let rest = self.entries.get(number * MCP_PAGE_ENTRIES..).unwrap_or_default();
        let entries = &rest[..rest.len().min(MCP_PAGE_ENTRIES)];
        // Entries of a list are mostly alike.
        let some = [entries.first(), entries.get(entries.len() / 2), entries.last()];
        let longest = some.into_iter().flatten().map(|entry| entry.json().len()).max();
        let mut body = String::with_capacity((longest.unwrap_or(0) + 8) * entries.len() + 256);
        body.push_str(&format!("\"{}\":[", self.listed.member()));
        for (index, entry) in entries.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            let json = entry.json();
            body.push_str(less_in(&json, revision).as_deref().map_or(&json, RawValue::get));
        }
        body.push(']');
        if let Some(last) = entries.last().filter(|_| entries.len() < rest.len()) {
            body.push_str(&format!(",\"nextCursor\":\"{}\"", cursor_after(last.name())));
        }
        body.shrink_to_fit();
        Bytes::from(one_line(body.into_bytes()))
    }
}

/// The member of a schema that asks for a header.
pub(crate) const MIRRORED: &str = "x-mcp-header";

/// Finds the marks below a schema, on every way through `properties`.
pub(crate) fn mirrored_in(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredParam>) {
    if let Some(header) = schema[MIRRORED].as_str() {
        found.push(MirroredParam { header: header.to_owned(), path: path.clone() });
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        path.push(name.clone());
        mirrored_in(property, path, found);
        path.pop();
    }
}

/// What marks a cursor as ours.
const CURSOR: &str = "after ";

fn cursor_after(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{CURSOR}{name}"))
}

fn name_in(cursor: &str) -> Option<String> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    text.strip_prefix(CURSOR).map(str::to_owned)
}

/// An entry as a revision has it. The newest one gets the very bytes, the others those of every member they have: a
/// schema means what its author wrote, down to the order and the digits.
pub(crate) fn shown_in(entry: &RawValue, revision: Revision) -> Cow<'_, RawValue> {
    less_in(entry.get(), revision).map_or(Cow::Borrowed(entry), Cow::Owned)
}

/// What is left of an entry in a revision that does not have all of it; none where that is everything. The newest legacy
/// one has every member of the newest; only what it takes as the schema of a result is less.
fn less_in(entry: &str, revision: Revision) -> Option<Box<RawValue>> {
    if (revision == Revision::NEWEST && !entry.contains("\"execution\""))
        || (revision == Revision::NEWEST_LEGACY && !entry.contains("outputSchema"))
    {
        return None;
    }
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(entry).ok()?;
    for (name, first, last) in MEMBERS {
        if revision < *first || revision > *last {
            members.remove(*name);
        }
    }
    if revision < Revision::V2025_03_26 && members.contains_key("inputSchema") {
        members.remove("annotations");
    }
    // Before the modern era a structured result is an object, and so is its schema.
    let is_object =
        |schema: &RawValue| serde_json::from_str::<Value>(schema.get()).is_ok_and(|schema| schema["type"] == "object");
    if revision.facts().structured != Structured::Any
        && members.get("outputSchema").is_some_and(|schema| !is_object(schema))
    {
        members.remove("outputSchema");
    }
    Some(raw(&members))
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
