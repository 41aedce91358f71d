//! A list with one optional entry.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openfang_mcp::listing::{Entry, Listed, Listing};
use serde_json::value::RawValue;

/// A list that can change.
pub(super) struct ChangingList {
    without: Arc<Listing>,
    with: Arc<Listing>,
    has_changed: AtomicBool,
}

impl ChangingList {
    /// A list of these entries. The entry called `passing` is present after every other change.
    pub(super) fn new(listed: Listed, entries: &[Entry], passing: &str) -> Self {
        let lasting = entries.iter().filter(|entry| entry.name() != passing).cloned();
        Self {
            without: Arc::new(Listing::new(listed, lasting.collect())),
            with: Arc::new(Listing::new(listed, entries.to_vec())),
            has_changed: AtomicBool::new(false),
        }
    }

    pub(super) fn current(&self) -> Arc<Listing> {
        let current = if self.has_changed.load(Ordering::SeqCst) { &self.with } else { &self.without };
        Arc::clone(current)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.current().names().any(|listed| listed == name)
    }

    pub(super) fn change(&self) {
        self.has_changed.fetch_xor(true, Ordering::SeqCst);
    }
}

/// An entry with these members, whose bytes are kept.
pub(super) fn entry(name: &str, members: &str) -> Entry {
    Entry::new(name, definition(name, members))
}

/// The definition as JSON.
pub(super) fn definition(name: &str, members: &str) -> Box<RawValue> {
    let json = RawValue::from_string(format!(r#"{{"name":"{name}",{members}}}"#));
    json.expect("the definitions of the fixture are JSON")
}
