//! A card as it is served: its bytes and its cache validators.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::render::RenderedCard;
use super::{AgentCard, CardForm};

/// A document ready to be served. Equal content gives equal bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDocument {
    pub body: Bytes,
    /// A strong entity tag, including its quotes.
    pub etag: String,
    /// When this content was first served.
    pub last_modified: Timestamp,
}

impl CardDocument {
    /// Writes a card in a form.
    pub fn new(card: &AgentCard, form: CardForm, last_modified: Timestamp) -> Self {
        Self::of(&RenderedCard(card, form), last_modified)
    }

    pub(super) fn of(content: &impl Serialize, last_modified: Timestamp) -> Self {
        // A card consists of strings, lists and maps of strings, so serialization cannot fail.
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

/// Enough bytes to make a collision practically impossible.
const TAG_BYTES: usize = 16;

/// Several cards as one document, for `GET /a2a/agents`.
pub fn listing(cards: &[Arc<CardDocument>]) -> Bytes {
    #[derive(Serialize)]
    struct ListTasks<'a> {
        agents: Vec<&'a RawValue>,
        total: usize,
    }
    let agents: Vec<&RawValue> = cards.iter().filter_map(|card| serde_json::from_slice(&card.body).ok()).collect();
    let total = agents.len();
    serde_json::to_vec(&ListTasks { agents, total }).unwrap_or_default().into()
}
