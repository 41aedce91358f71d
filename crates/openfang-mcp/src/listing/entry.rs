//! An entry of a list: its name, and where what it says is to be had.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

/// An entry of a listing. Cheap to clone.
#[derive(Clone)]
pub struct Entry {
    source: Arc<dyn Late>,
    place: usize,
}

/// Whoever can write entries when somebody wants to read them, so that they need not be held as they are read.
pub trait Late: Send + Sync {
    /// What the entry at a place is called.
    fn name(&self, place: usize) -> &str;

    /// The entry at a place with all members of the newest revision.
    fn json(&self, place: usize) -> Cow<'_, str>;
}

impl Entry {
    /// An entry with all members of the newest revision, as its source wrote it.
    pub fn new(name: impl Into<String>, json: Box<RawValue>) -> Self {
        Self::late(Arc::new(Alone { name: name.into(), json }), 0)
    }

    /// An entry that is written when somebody wants to read it, each time.
    pub fn late(source: Arc<dyn Late>, place: usize) -> Self {
        Self { source, place }
    }

    /// What it is called; the order of lists goes by it.
    pub fn name(&self) -> &str {
        self.source.name(self.place)
    }

    /// The entry with all members of the newest revision.
    pub fn json(&self) -> Cow<'_, str> {
        self.source.json(self.place)
    }

    /// Where it stands in what it came from.
    pub(crate) const fn place(&self) -> usize {
        self.place
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.name()).finish()
    }
}

/// An entry that came by itself.
struct Alone {
    name: String,
    json: Box<RawValue>,
}

impl Late for Alone {
    fn name(&self, _: usize) -> &str {
        &self.name
    }

    fn json(&self, _: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.json.get())
    }
}
