//! What tools return, in the content blocks of MCP 2026-07-28.
//!
//! A [`Block`] keeps the bytes its source wrote, so that a relayed block loses nothing. [`ContentBlock`] is what a block
//! says, for whoever has to understand it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use block::{Block, BlockKind, NotABlock};
pub use output::{Beside, ToolOutput, is_protocol_meta};

mod block;
mod output;

/// What a block says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        data: String,
        /// What kind of picture.
        mime_type: String,
    },
    Audio {
        data: String,
        /// What kind of sound.
        mime_type: String,
    },
    /// A pointer to a resource.
    ResourceLink {
        uri: String,
        /// What it is called.
        name: String,
    },
    Resource {
        /// Its content, as the source wrote it.
        resource: Value,
    },
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
