//! What results hold, as the newest revision has it, and what an older peer gets in the place of a block that its revision
//! does not have.

use std::borrow::Cow;

use openfang_types::content::BlockKind;
pub use openfang_types::content::{Beside, Block, NotABlock};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::revision::Facts;

pub(crate) use results::shown_call;
pub use results::{Completion, PromptMessage, PromptResult, PromptRole, ResourceContents};

mod results;

/// A block, or a text in its place where the revision has no such block.
fn shown_in<'b>(block: &'b Block, facts: &Facts) -> Cow<'b, Block> {
    let is_known = match block.kind() {
        BlockKind::Audio => facts.audio,
        BlockKind::ResourceLink => facts.resource_links,
        BlockKind::Text | BlockKind::Image | BlockKind::Resource | BlockKind::Other => true,
    };
    if is_known { Cow::Borrowed(block) } else { Cow::Owned(described(block)) }
}

fn described(block: &Block) -> Block {
    let value: Value = block.written().and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    let member = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
    match block.kind() {
        BlockKind::Audio => {
            Block::text(format!("[audio, {}: this protocol version cannot carry it]", member("mimeType")))
        }
        BlockKind::ResourceLink => Block::text(format!("{}: {}", member("name"), member("uri"))),
        BlockKind::Text | BlockKind::Image | BlockKind::Resource | BlockKind::Other => block.clone(),
    }
}

/// Our own types are always written; an empty object stands for one that could not be.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
