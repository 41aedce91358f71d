//! Prompts of a server, under their names on the aggregate.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_mcp::listing::{Entry, Late, Listing};
use openfang_types::ids::ServerName;
use openfang_types::names::Names;
use serde_json::value::RawValue;

/// The prompts of a server, each with a name of its own among the prompts of all servers.
pub(crate) struct NamedPrompts {
    server: ServerName,
    listing: Arc<Listing>,
    names: Names,
}

impl NamedPrompts {
    /// The prompts of a list, each under the name that stands in its place; the same value as before where nothing changed.
    pub(super) fn new(
        server: &ServerName,
        listing: &Arc<Listing>,
        names: Names,
        before: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        match before.filter(|before| Arc::ptr_eq(&before.listing, listing) && before.names == names) {
            Some(before) => Arc::clone(before),
            None => Arc::new(Self { server: server.clone(), listing: Arc::clone(listing), names }),
        }
    }

    /// The prompts as entries of a list.
    pub(super) fn entries(self: &Arc<Self>) -> impl Iterator<Item = Entry> {
        (0..self.names.len()).map(|place| Entry::late(Arc::clone(self) as Arc<dyn Late>, place))
    }

    /// The names, in the order of the server's own names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// What the server calls the prompt at a place.
    pub(super) fn own_name(&self, place: usize) -> Option<&str> {
        self.listing.at(place).map(Entry::name)
    }
}

impl Late for NamedPrompts {
    fn name(&self, place: usize) -> &str {
        self.names.get(place).unwrap_or_default()
    }

    fn json(&self, place: usize) -> Cow<'_, str> {
        let written = || {
            let entry = self.listing.at(place)?.json();
            let mut members: BTreeMap<String, Cow<'_, RawValue>> = serde_json::from_str(&entry).ok()?;
            let description = members.get("description").and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
            let description = format!("[MCP:{}] {}", self.server, description.unwrap_or_default());
            for (member, text) in [("name", self.name(place)), ("description", description.as_str())] {
                members.insert(member.to_owned(), Cow::Owned(serde_json::value::to_raw_value(text).ok()?));
            }
            serde_json::to_string(&members).ok()
        };
        written().map_or(Cow::Borrowed("null"), Cow::Owned)
    }
}
