//! The contract of kept results: what a result of a tool lost on its way, for its owner, for a while.

use jiff::Timestamp;
use openfang_types::ids::{Owner, ResultId};
use openfang_types::taint::Labels;

use crate::StoreFuture;

/// Kept results of owners. One that has expired is gone, whether or not it was deleted already.
pub trait ResultStore: Send + Sync {
    /// Keeps a result under a fresh id, unless its owner keeps too much already.
    fn keep<'a>(&'a self, owner: &'a Owner, id: ResultId, result: KeptResult, now: Timestamp) -> StoreFuture<'a, ()>;
    /// The result, if it is this owner's and has not expired.
    fn get<'a>(&'a self, owner: &'a Owner, id: ResultId, now: Timestamp) -> StoreFuture<'a, Option<KeptResult>>;
    /// Deletes what has expired. Says how many there were.
    fn delete_expired(&self, now: Timestamp) -> StoreFuture<'_, usize>;
}

/// Something that a result lost, as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptResult {
    /// What the content is.
    pub form: ResultForm,
    /// All of it, also what was not lost.
    pub content: String,
    /// Where it came from.
    pub labels: Labels,
    /// What narrowed the caller whose call left it; none if that is not known.
    pub scope: Option<String>,
    /// When it is gone.
    pub expires_at: Timestamp,
}

/// What the content of a kept result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultForm {
    /// The text of the result.
    Text,
    /// A JSON document: a content block, or structured content.
    Json,
}

impl ResultForm {
    /// The word in the database.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Text, Self::Json].into_iter().find(|form| form.as_str() == word)
    }

    /// The media type of the content.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Json => "application/json",
        }
    }
}

impl KeptResult {
    /// Whether somebody who is narrowed so may read it: a whole caller all that is its owner's, a narrowed one what was left
    /// so.
    pub fn is_known_to(&self, narrowing: &str) -> bool {
        narrowing.is_empty() || self.scope.as_deref() == Some(narrowing)
    }

    /// Whether it is gone.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}
