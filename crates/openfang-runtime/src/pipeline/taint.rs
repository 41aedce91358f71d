//! Labels at the sink and on the result. The policy itself is `openfang_types::taint::forbidding_label`.

use std::borrow::Cow;

use openfang_types::content::{ContentBlock, ToolOutput};
use openfang_types::principal::Door;
use openfang_types::taint::{Label, Labels, forbidding_label};
use openfang_types::task::{Part, PartBody};
use openfang_types::tool::ToolTraits;
use serde_json::Value;

use super::{Sensitive, ToolError};
use crate::context::CallContext;

/// Refuses a call whose context or arguments carry what its sink does not take.
pub(super) fn check_sink(
    sensitive: &Sensitive,
    cx: &CallContext,
    traits: &ToolTraits,
    arguments: &Value,
) -> Result<(), ToolError> {
    let tool = &traits.name;
    if sensitive.holds_configured(arguments) {
        return Err(ToolError::SecretInArguments(tool.clone()));
    }
    let found = sensitive.labels_of(arguments, "the arguments");
    let labels = match &cx.run {
        Some(run) => {
            run.enters(&found);
            Cow::Owned(cx.context_labels().joined(&found))
        }
        None => {
            if found.contains(Label::Secret) {
                tracing::warn!(%tool, trace = %cx.trace, "the arguments of a direct call look like a secret");
            }
            let personal = found.source(Label::Pii).map(|source| Labels::one(Label::Pii, source));
            personal.map_or(Cow::Borrowed(&cx.labels), |personal| Cow::Owned(cx.labels.clone().joined(&personal)))
        }
    };
    match forbidding_label(&labels, traits.sink) {
        Some(label) => Err(ToolError::Tainted {
            tool: tool.clone(),
            sink: traits.sink,
            label,
            source_name: labels.source(label).unwrap_or("unknown").to_owned(),
        }),
        None => Ok(()),
    }
}

/// Labels a result with what it says about itself, tells the run, and takes configured secrets out of it.
pub(super) fn label(
    sensitive: &Sensitive,
    cx: &CallContext,
    traits: &ToolTraits,
    mut output: ToolOutput,
) -> ToolOutput {
    let tool = &traits.name;
    let mut found = Labels::none();
    // Written only if something is found.
    let source = format_args!("the result of {tool}");
    for block in &output.content {
        match block {
            ContentBlock::Text { text } => found.join(&sensitive.labels_of_text(text, source)),
            ContentBlock::Resource { resource } => found.join(&sensitive.labels_of(resource, source)),
            ContentBlock::ResourceLink { uri, name } => {
                found.join(&sensitive.labels_of_text(uri, source));
                found.join(&sensitive.labels_of_text(name, source));
            }
            ContentBlock::Image { .. } | ContentBlock::Audio { .. } => {}
        }
    }
    if let Some(value) = &output.structured_content {
        found.join(&sensitive.labels_of(value, source));
    }
    // Rather too many than too few: a pattern that fits another server's name counts here.
    if sensitive
        .pii_tools()
        .iter()
        .any(|glob| glob.fits_name_of_any_server(tool) || glob.covers(traits))
    {
        found.add(Label::Pii, format!("{source}, which config calls personal"));
    }
    output.labels.join(&found);
    if let Some(run) = &cx.run {
        run.enters(&output.labels);
    }
    if cx.door != Door::Cli && output.labels.contains(Label::Secret) {
        redact(sensitive, &mut output);
    }
    output
}

/// What the parts of a message say about themselves.
pub(super) fn labels_of_parts(sensitive: &Sensitive, parts: &[Part]) -> Labels {
    let mut labels = Labels::none();
    for part in parts {
        match &part.body {
            PartBody::Text(text) | PartBody::Url(text) => labels.join(&sensitive.labels_of_text(text, "the message")),
            PartBody::Data(value) => labels.join(&sensitive.labels_of(value, "the message")),
            PartBody::Raw(_) => {}
        }
    }
    labels
}

fn redact(sensitive: &Sensitive, output: &mut ToolOutput) {
    for block in &mut output.content {
        match block {
            ContentBlock::Text { text } => *text = sensitive.redacted(text).into_owned(),
            ContentBlock::Resource { resource } => sensitive.redact(resource),
            ContentBlock::ResourceLink { uri, name } => {
                *uri = sensitive.redacted(uri).into_owned();
                *name = sensitive.redacted(name).into_owned();
            }
            ContentBlock::Image { .. } | ContentBlock::Audio { .. } => {}
        }
    }
    if let Some(value) = &mut output.structured_content {
        sensitive.redact(value);
    }
}
