//! What every provider demands of a conversation, checked before anything is encoded: the user begins, every call has
//! exactly one result right behind its answer, and no result is without its call.

use std::collections::HashSet;
use std::sync::Arc;

use openfang_types::limits::MODEL_REQUEST_MAX_BYTES;

use crate::answer::calls;
use crate::request::Item;

/// Why a request cannot be sent to anybody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unencodable {
    #[error("the conversation is empty; it needs a message of the user")]
    Empty,
    #[error("the conversation begins with something else than a message of the user")]
    NotUserFirst,
    /// An answer's call has no result right behind it.
    #[error("the call {call:?} has no result right behind its answer")]
    NoResult { call: String },
    /// A result answers no call of the answer before it, or is not in its place.
    #[error("the result of {call:?} belongs to no call of the answer before it")]
    NoCall { call: String },
    /// Two calls of one answer have the same id.
    #[error("two calls of one answer have the id {call:?}")]
    SameId { call: String },
    /// The encoded request is too large.
    #[error("the request has {bytes} bytes, more than {MODEL_REQUEST_MAX_BYTES}; send fewer or smaller items")]
    TooLarge { bytes: usize },
}

/// Checks that a conversation is one that providers take.
pub(crate) fn check(items: &[Arc<Item>]) -> Result<(), Unencodable> {
    let Some(first) = items.first() else { return Err(Unencodable::Empty) };
    if !matches!(**first, Item::User { .. }) {
        return Err(Unencodable::NotUserFirst);
    }
    let mut waiting: Vec<&str> = Vec::new();
    for item in items {
        match &**item {
            Item::Results { results } => {
                let mut open = std::mem::take(&mut waiting).into_iter();
                for result in results {
                    if open.next() != Some(result.call.as_str()) {
                        return Err(Unencodable::NoCall { call: result.call.clone() });
                    }
                }
                waiting = open.collect();
                none_open(&waiting)?;
            }
            Item::User { .. } => none_open(&waiting)?,
            Item::Answer { blocks, .. } => {
                none_open(&waiting)?;
                let mut seen = HashSet::new();
                for call in calls(blocks) {
                    if !seen.insert(call.id.as_str()) {
                        return Err(Unencodable::SameId { call: call.id.clone() });
                    }
                    waiting.push(&call.id);
                }
            }
        }
    }
    none_open(&waiting)
}

fn none_open(waiting: &[&str]) -> Result<(), Unencodable> {
    match waiting.first() {
        Some(call) => Err(Unencodable::NoResult { call: (*call).to_owned() }),
        None => Ok(()),
    }
}
