//! The cards that are made already. One made with other tools is looked at again, and stays as it is, with its signature
//! and its time, if it says the same. When they become too many all of them go: they are cheap to make, only not each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use openfang_a2a::card::{CardDocument, CardForm};
use openfang_types::ids::AgentName;
use openfang_types::limits::CARDS_KEPT_BYTES;

/// What a card depends on, beside the tools.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CardRequest {
    /// What the viewer was granted; none: nobody in particular.
    pub(crate) viewer: Option<String>,
    pub(crate) agent: Option<AgentName>,
    pub(crate) form: CardForm,
    pub(crate) document: DocumentKind,
    /// Where the house is said to be: known for good only when it listens.
    pub(crate) base: String,
    /// Whether a credential is asked for.
    pub(crate) guarded: bool,
}

/// Whether a card is asked for, or the list of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DocumentKind {
    Card,
    /// The list of all agents that the viewer is shown.
    Catalogue,
}

/// The cards that are made already.
#[derive(Default)]
pub(crate) struct CardCache {
    made: Mutex<CachedCards>,
    keys: OnceLock<Arc<CardDocument>>,
}

#[derive(Default)]
struct CachedCards {
    cards: HashMap<CardRequest, One>,
    bytes: usize,
}

struct One {
    /// With which tools it was last seen to be right.
    version: u64,
    /// The tag of what it says, without the signature: that may be another one each time.
    content: String,
    document: Arc<CardDocument>,
}

impl CardCache {
    /// The card, if the tools are those it was made with.
    pub(crate) fn fresh(&self, asked: &CardRequest, version: u64) -> Option<Arc<CardDocument>> {
        let made = self.made();
        let one = made.cards.get(asked).filter(|one| one.version == version)?;
        Some(Arc::clone(&one.document))
    }

    /// The card, if it says this with these tools as well.
    pub(crate) fn same(&self, asked: &CardRequest, version: u64, content: &str) -> Option<Arc<CardDocument>> {
        let mut made = self.made();
        let one = made.cards.get_mut(asked).filter(|one| one.content == content)?;
        one.version = one.version.max(version);
        Some(Arc::clone(&one.document))
    }

    /// Keeps a card. Everybody gets the same one, whoever was first.
    pub(crate) fn keep(
        &self,
        asked: CardRequest,
        version: u64,
        content: String,
        document: CardDocument,
    ) -> Arc<CardDocument> {
        if let Some(first) = self.same(&asked, version, &content) {
            return first;
        }
        let document = Arc::new(document);
        let bytes = document.body.len();
        let mut made = self.made();
        if let Some(old) = made.cards.remove(&asked) {
            made.bytes = made.bytes.saturating_sub(old.document.body.len());
        }
        if made.bytes.saturating_add(bytes) > CARDS_KEPT_BYTES {
            *made = CachedCards::default();
        }
        if bytes <= CARDS_KEPT_BYTES {
            made.bytes = made.bytes.saturating_add(bytes);
            made.cards.insert(asked, One { version, content, document: Arc::clone(&document) });
        }
        document
    }

    /// The keys, made once.
    pub(crate) fn keys(&self, make: impl FnOnce() -> CardDocument) -> Arc<CardDocument> {
        Arc::clone(self.keys.get_or_init(|| Arc::new(make())))
    }

    fn made(&self) -> MutexGuard<'_, CachedCards> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
