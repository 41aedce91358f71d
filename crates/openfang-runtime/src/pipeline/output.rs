//! What a call gives, and what the guards do with it: labels, redaction, limits.

use std::borrow::Cow;

use openfang_mcp::content::{PromptResult, ResourceContents};
use openfang_types::call::Outcome;
use openfang_types::content::{Block, BlockKind, ToolOutput};
use openfang_types::limits::Limits;
use openfang_types::principal::Door;
use openfang_types::taint::{Label, Labels};
use openfang_types::tool::ToolTraits;
use serde_json::value::RawValue;

use super::truncate::Loss;
use super::{Manner, Sensitive, taint, truncate};
use crate::context::CallContext;
use crate::tools::ToolFailure;

/// What a call gives.
pub trait CallOutput: Sized + Send {
    /// Whether the callee says that it failed.
    fn is_failure(&self) -> bool;

    /// What it means that the callee could not do it. A failure that no result can say is given back.
    fn of_failure(failure: ToolFailure, manner: Manner) -> Result<Self, ToolFailure>;

    /// What its texts say about themselves.
    fn found(&self, sensitive: &Sensitive, source: &dyn std::fmt::Display) -> Labels;

    /// The labels that the callee gave it.
    fn own_labels(&mut self) -> Option<&mut Labels> {
        None
    }

    /// Takes configured secrets out.
    fn redact(&mut self, sensitive: &Sensitive);

    /// Cuts it to the limits. What it loses is not marked yet.
    fn limit(&mut self, limits: &Limits, manner: Manner) -> Vec<Loss>;

    /// The content block at a place.
    fn block_mut(&mut self, place: usize) -> Option<&mut Block>;

    /// Adds a warning where a model reads it.
    fn warn(&mut self, warning: Option<String>);

    /// Labels a result with what it says about itself, tells the run, and takes configured secrets out. Returns its labels.
    fn label(&mut self, sensitive: &Sensitive, cx: &CallContext, traits: &ToolTraits) -> Labels {
        // Written only if something is found.
        let source = format_args!("the result of {}", traits.name);
        let mut found = self.found(sensitive, &source);
        taint::label_personal(sensitive, traits, &mut found);
        if let Some(own) = self.own_labels() {
            own.join(&found);
            found.clone_from(own);
        }
        if let Some(run) = &cx.run {
            run.enters(&found);
        }
        if cx.door != Door::Cli && found.contains(Label::Secret) {
            self.redact(sensitive);
        }
        found
    }
}

/// Whether a call ended with a failure of the callee.
pub(super) fn is_failure<T: CallOutput>(outcome: &Outcome<T>) -> bool {
    match outcome {
        Outcome::Done(output) => output.is_failure(),
        Outcome::NeedsInput(_) => false,
    }
}

impl CallOutput for ToolOutput {
    fn is_failure(&self) -> bool {
        self.is_error
    }

    fn of_failure(failure: ToolFailure, manner: Manner) -> Result<Self, ToolFailure> {
        match (manner, failure.of_server()) {
            (Manner::HandedThrough, Some(_)) => Err(failure),
            (Manner::HandedThrough | Manner::Checked, _) => {
                Ok(Self { labels: failure.labels().clone(), ..Self::error(failure.to_string()) })
            }
        }
    }

    fn found(&self, sensitive: &Sensitive, source: &dyn std::fmt::Display) -> Labels {
        let mut found = Labels::none();
        for block in self.content.iter().filter(|block| is_readable(block)) {
            found.join(&labels_of_block(block, sensitive, source));
        }
        if let Some(structured) = &self.structured {
            found.join(&sensitive.labels_of_json(structured, source));
        }
        found
    }

    fn own_labels(&mut self) -> Option<&mut Labels> {
        Some(&mut self.labels)
    }

    fn redact(&mut self, sensitive: &Sensitive) {
        for block in &mut self.content {
            redact_block(block, sensitive);
        }
        self.structured.iter_mut().for_each(|raw| redact_raw(raw, sensitive));
    }

    fn block_mut(&mut self, place: usize) -> Option<&mut Block> {
        self.content.get_mut(place)
    }

    fn limit(&mut self, limits: &Limits, manner: Manner) -> Vec<Loss> {
        match manner {
            Manner::Checked => truncate::to_limits(self, limits),
            Manner::HandedThrough => truncate::to_byte_limit(self, limits.tool_result_block_bytes),
        }
    }

    fn warn(&mut self, warning: Option<String>) {
        self.content.extend(warning.map(|text| Block::text(format!("[openfang] {text}"))));
    }
}

impl CallOutput for PromptResult {
    fn is_failure(&self) -> bool {
        false
    }

    fn of_failure(failure: ToolFailure, _: Manner) -> Result<Self, ToolFailure> {
        Err(failure)
    }

    fn found(&self, sensitive: &Sensitive, source: &dyn std::fmt::Display) -> Labels {
        let mut found = Labels::none();
        for message in self.messages.iter().filter(|message| is_readable(&message.content)) {
            found.join(&labels_of_block(&message.content, sensitive, source));
        }
        found
    }

    fn redact(&mut self, sensitive: &Sensitive) {
        for message in &mut self.messages {
            redact_block(&mut message.content, sensitive);
        }
    }

    fn block_mut(&mut self, place: usize) -> Option<&mut Block> {
        self.messages.get_mut(place).map(|message| &mut message.content)
    }

    fn limit(&mut self, limits: &Limits, _: Manner) -> Vec<Loss> {
        let cap = limits.tool_result_block_bytes;
        let messages = self.messages.iter_mut().enumerate();
        messages
            .filter_map(|(place, message)| truncate::take_if_large(&mut message.content, place, cap))
            .collect()
    }

    fn warn(&mut self, _: Option<String>) {}
}

impl CallOutput for ResourceContents {
    fn is_failure(&self) -> bool {
        false
    }

    fn of_failure(failure: ToolFailure, _: Manner) -> Result<Self, ToolFailure> {
        Err(failure)
    }

    fn found(&self, sensitive: &Sensitive, source: &dyn std::fmt::Display) -> Labels {
        let mut found = Labels::none();
        self.contents.iter().for_each(|part| found.join(&sensitive.labels_of_json(part, source)));
        found
    }

    fn redact(&mut self, sensitive: &Sensitive) {
        self.contents.iter_mut().for_each(|part| redact_raw(part, sensitive));
    }

    fn block_mut(&mut self, _: usize) -> Option<&mut Block> {
        None
    }

    fn limit(&mut self, _: &Limits, _: Manner) -> Vec<Loss> {
        Vec::new()
    }

    fn warn(&mut self, _: Option<String>) {}
}

/// Pictures and sounds are not looked into.
fn is_readable(block: &Block) -> bool {
    match block.kind() {
        BlockKind::Image | BlockKind::Audio => false,
        BlockKind::Text | BlockKind::ResourceLink | BlockKind::Resource | BlockKind::Other => true,
    }
}

fn labels_of_block(block: &Block, sensitive: &Sensitive, source: &dyn std::fmt::Display) -> Labels {
    match block.written() {
        Some(json) => sensitive.labels_of_json(json, source),
        None => block.as_text().map(|text| sensitive.labels_of_text(&text, source)).unwrap_or_default(),
    }
}

fn redact_block(block: &mut Block, sensitive: &Sensitive) {
    let clean = match block.written() {
        Some(json) => redacted(json, sensitive).and_then(|json| Block::from_raw(json).ok()),
        None => block.as_text().and_then(|text| match sensitive.redacted(&text) {
            Cow::Owned(clean) => Some(Block::text(clean)),
            Cow::Borrowed(_) => None,
        }),
    };
    if let Some(clean) = clean {
        *block = clean;
    }
}

fn redact_raw(raw: &mut Box<RawValue>, sensitive: &Sensitive) {
    if let Some(clean) = redacted(raw, sensitive) {
        *raw = clean;
    }
}

/// The JSON without configured secrets, if one was in it.
pub(super) fn redacted(json: &RawValue, sensitive: &Sensitive) -> Option<Box<RawValue>> {
    match sensitive.redactor().json(json.get().as_bytes()) {
        Cow::Owned(clean) => RawValue::from_string(String::from_utf8(clean).ok()?).ok(),
        Cow::Borrowed(_) => None,
    }
}
