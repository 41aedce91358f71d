//! A card as it is served: its bytes, and what caches go by.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::render::Written;
use super::{AgentCard, CardForm};

/// A document, ready to be served. Whoever is shown the same is given the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDocument {
    /// The JSON.
    pub body: Bytes,
    /// A strong entity tag, in its quotes.
    pub etag: String,
    /// Since when this may be shown.
    pub last_modified: Timestamp,
}

impl CardDocument {
    /// A card in a form.
    pub fn new(card: &AgentCard, form: CardForm, last_modified: Timestamp) -> Self {
        Self::of(&Written(card, form), last_modified)
    }

    pub(super) fn of(content: &impl Serialize, last_modified: Timestamp) -> Self {
        // Cards are strings, lists and maps of strings: there is nothing in them that JSON cannot say.
        let body = serde_json::to_vec(content).unwrap_or_default();
        let mut etag = String::from('"');
        for byte in Sha256::digest(&body).iter().take(TAG_BYTES) {
            // Writing to a string cannot fail.
            let _ = write!(etag, "{byte:02x}");
        }
        etag.push('"');
        Self { body: body.into(), etag, last_modified }
    }
}

/// As many as make an accident impossible.
const TAG_BYTES: usize = 16;

/// Several cards as one document, as `GET /a2a/agents` shows them.
pub fn listing(cards: &[Arc<CardDocument>]) -> Bytes {
    #[derive(Serialize)]
    struct Listing<'a> {
        agents: Vec<&'a RawValue>,
        total: usize,
    }
    let agents: Vec<&RawValue> = cards.iter().filter_map(|card| serde_json::from_slice(&card.body).ok()).collect();
    let total = agents.len();
    serde_json::to_vec(&Listing { agents, total }).unwrap_or_default().into()
}
