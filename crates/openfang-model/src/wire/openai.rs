//! What the two wires of OpenAI say alike.

use serde::Deserialize;

use crate::answer::Stop;
use crate::json::count;

/// How much of the input came from the cache, and went there.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InputDetails {
    #[serde(deserialize_with = "count")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) cache_write_tokens: Option<u64>,
}

/// How much of the output was reasoning.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    #[serde(deserialize_with = "count")]
    pub(super) reasoning_tokens: Option<u64>,
}

/// What the reason `content_filter` means.
pub(super) fn filtered() -> Stop {
    Stop::Filtered("the provider's filter stopped the answer".to_owned())
}
