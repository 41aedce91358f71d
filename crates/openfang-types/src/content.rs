//! What tools return, in the content blocks of MCP 2026-07-28.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::taint::Labels;

/// One block of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Base64.
        data: String,
        /// What kind of picture.
        mime_type: String,
    },
    /// Sound.
    Audio {
        /// Base64.
        data: String,
        /// What kind of sound.
        mime_type: String,
    },
    /// A pointer to a resource.
    ResourceLink {
        /// Where.
        uri: String,
        /// What it is called.
        name: String,
    },
    /// A resource itself.
    Resource {
        /// Its content, as the source wrote it.
        resource: Value,
    },
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::Audio { .. } | Self::ResourceLink { .. } | Self::Resource { .. } => None,
        }
    }
}

/// The result of a tool call. A tool that fails says so here, in a sentence its caller can act on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// The same result for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Where the content came from; never leaves the house.
    #[serde(skip)]
    pub labels: Labels,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            structured_content: None,
            is_error: false,
            labels: Labels::none(),
        }
    }

    /// A failure the caller can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Adds the result for programs.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }

    /// Adds labels to what the tool returned.
    #[must_use]
    pub fn labelled(mut self, labels: &Labels) -> Self {
        self.labels.join(labels);
        self
    }

    /// All text blocks, joined by newlines.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(ContentBlock::as_text).collect();
        texts.join("\n")
    }
}
