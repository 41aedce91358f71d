//! A server's list as it is taken in: entry by entry checked, and packed. What cannot be used is left out and named.

use std::collections::{BTreeMap, HashMap};

use openfang_types::limits::{
    MCP_DESCRIPTION_BYTES, MCP_UPSTREAM_ENTRIES, MCP_URI_MAX_BYTES, SCHEMA_MAX_BYTES, TOOL_NAME_MAX_BYTES,
};
use openfang_types::mcp_status::McpLeftOut;
use openfang_types::schema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ClientError, Mirror};
use crate::listing::{Entry, Late as _, Listed, Listing, Pack};

/// A list that is being taken in.
pub(super) struct Checking {
    listed: Listed,
    /// Entries that came, whether they can be used or not.
    came: usize,
    pack: Pack,
    /// By where the tool is in the pack.
    mirrors: Vec<(usize, Mirror)>,
    left_out: Vec<McpLeftOut>,
}

/// What came of a page.
pub(super) struct PageOutcome {
    /// Where the next one begins.
    pub(super) next: Option<String>,
    /// Whether it has more than is taken of a list.
    pub(super) is_too_many: bool,
}

/// A list that was taken in.
pub(super) struct Checked {
    pub(super) listing: Listing,
    pub(super) mirrors: HashMap<String, Mirror>,
    pub(super) left_out: Vec<McpLeftOut>,
}

impl Checking {
    pub(super) fn new(listed: Listed) -> Self {
        Self { listed, came: 0, pack: Pack::default(), mirrors: Vec::new(), left_out: Vec::new() }
    }

    /// Takes a page in, as the server sent it.
    pub(super) fn page(&mut self, result: &RawValue) -> Result<PageOutcome, ClientError> {
        let member = self.listed.member();
        let wrong = || ClientError::NotMcp(format!("its answer has no list of {member}"));
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(result.get()).map_err(|_| wrong())?;
        let entries = members.get(member).ok_or_else(wrong)?;
        let mut entries: Vec<&RawValue> = serde_json::from_str(entries.get()).map_err(|_| wrong())?;
        let next = members.get("nextCursor").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let is_too_many = self.came + entries.len() > MCP_UPSTREAM_ENTRIES;
        entries.truncate(MCP_UPSTREAM_ENTRIES - self.came);
        self.entries(entries);
        Ok(PageOutcome { next, is_too_many })
    }

    /// Takes entries in. They are packed in the order in which they will mostly be read.
    pub(super) fn entries(&mut self, entries: Vec<&RawValue>) {
        self.came += entries.len();
        let mut good = Vec::with_capacity(entries.len());
        for json in entries {
            match check(self.listed, json) {
                Ok(name) => good.push((name, json)),
                Err((name, why)) => self.leave_out(name, why),
            }
        }
        good.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, json) in good {
            let mirror = match mirror_of(&name, self.listed, json) {
                Ok(mirror) => mirror,
                Err((name, why)) => {
                    self.leave_out(name, why);
                    continue;
                }
            };
            self.mirrors.extend(mirror.map(|mirror| (self.pack.len(), mirror)));
            if self.pack.push(&name, json.get()).is_err() {
                self.leave_out(name, "it cannot be held");
            }
        }
    }

    fn leave_out(&mut self, name: String, why: &str) {
        self.left_out.push(McpLeftOut { name, why: why.to_owned() });
    }

    /// The list. Of two entries with one name the first that came is taken.
    pub(super) fn finish(mut self) -> Checked {
        let pack = std::mem::take(&mut self.pack).close();
        let mut entries: Vec<Entry> = (0..pack.len()).map(|place| Entry::late(pack.clone(), place)).collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        entries.dedup_by(|second, first| {
            let is_there_twice = second.name() == first.name();
            if is_there_twice {
                self.leave_out(second.name().to_owned(), "the name is there twice");
            }
            is_there_twice
        });
        let listing = Listing::new(self.listed, entries);
        let mut mirrors = HashMap::new();
        for (place, mirror) in self.mirrors {
            // One that was there twice is another tool.
            if let Some(entry) = listing.get(pack.name(place)).filter(|entry| entry.place() == place) {
                mirrors.insert(entry.name().to_owned(), mirror);
            }
        }
        Checked { listing, mirrors, left_out: self.left_out }
    }
}

/// The name of an entry that can be used, or a printable name and what is wrong with it.
fn check(listed: Listed, json: &RawValue) -> Result<String, (String, &'static str)> {
    let value: Value = serde_json::from_str(json.get()).unwrap_or_default();
    let (key, longest) = match listed {
        Listed::Tools | Listed::Prompts => ("name", TOOL_NAME_MAX_BYTES),
        Listed::Resources | Listed::Skills => ("uri", MCP_URI_MAX_BYTES),
        Listed::Templates => ("uriTemplate", MCP_URI_MAX_BYTES),
    };
    let Some(name) = value[key].as_str() else { return Err((printable(&value.to_string()), "it has no name")) };
    let refuse = |why| Err((printable(name), why));
    // A URI is used as the server wrote it, and some write letters there that have to be escaped.
    let can_be_seen = |c: char| match listed {
        Listed::Skills => c.is_ascii_graphic(),
        Listed::Tools | Listed::Prompts | Listed::Templates => c.is_ascii_graphic() || c == ' ',
        Listed::Resources => !c.is_control(),
    };
    if name.is_empty() || !name.chars().all(can_be_seen) {
        return refuse("its name is empty or has characters that cannot be seen or told apart");
    }
    // Two names that differ in such spaces only look alike.
    if listed == Listed::Tools && (name.trim() != name || name.contains("  ")) {
        return refuse("its name begins or ends with a space, or has two in a row");
    }
    if name.len() > longest {
        return refuse(match listed {
            Listed::Tools | Listed::Prompts => "its name is longer than 128 characters",
            Listed::Resources | Listed::Templates | Listed::Skills => "its URI is longer than 8 KiB",
        });
    }
    if value["description"].as_str().is_some_and(|text| text.len() > MCP_DESCRIPTION_BYTES) {
        return refuse("its description is larger than 8 KiB");
    }
    if json.get().len() > 4 * SCHEMA_MAX_BYTES {
        return refuse("its definition is larger than 256 KiB");
    }
    if listed == Listed::Tools {
        if let Some(why) = schema::fault_of(&value["inputSchema"]) {
            return Err((printable(name), why));
        }
        if let Some(why) = value.get("outputSchema").and_then(schema::fault_of) {
            return Err((printable(name), why));
        }
    }
    Ok(name.to_owned())
}

/// Which arguments of a tool headers repeat, if any; one that asks for what cannot be is not usable.
fn mirror_of(name: &str, listed: Listed, json: &RawValue) -> Result<Option<Mirror>, (String, &'static str)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tool<'a> {
        #[serde(borrow)]
        input_schema: &'a RawValue,
    }
    // Most have none, and a look at the bytes says so.
    if listed != Listed::Tools || !json.get().contains("x-mcp-header") {
        return Ok(None);
    }
    let Ok(tool) = serde_json::from_str::<Tool<'_>>(json.get()) else { return Ok(None) };
    match Mirror::of(tool.input_schema) {
        Ok(mirror) => Ok(Some(mirror).filter(|mirror| !mirror.is_empty())),
        Err(_) => Err((printable(name), "its x-mcp-header asks for a header that cannot be sent")),
    }
}

/// A name for people to read: what cannot be seen is escaped, and it is not long.
fn printable(name: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' { c.to_string() } else { c.escape_unicode().to_string() };
    name.chars().take(64).map(shown).collect()
}

#[cfg(test)]
#[path = "checking_tests.rs"]
mod tests;
