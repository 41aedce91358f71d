//! What values say about themselves: labels of arguments, results and messages.

use openfang_types::call::Arguments;
use openfang_types::ids::ToolName;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Part, PartBody};
use openfang_types::tool::ToolTraits;
use serde_json::Value;

use super::{Sensitive, ToolError};

/// What the arguments say about themselves; a configured secret in them is refused.
pub(super) fn found_in(sensitive: &Sensitive, tool: &ToolName, arguments: &Arguments<'_>) -> Result<Labels, ToolError> {
    // Most arguments hold nothing to be found, and a look at the bytes says so.
    if arguments.as_written().is_some_and(|raw| sensitive.is_harmless_json(raw.get())) {
        return Ok(Labels::none());
    }
    let unreadable;
    let value = match arguments.value() {
        Ok(value) => value,
        Err(_) => {
            unreadable = Value::from(arguments.json().get());
            &unreadable
        }
    };
    if sensitive.holds_configured(value) {
        return Err(ToolError::SecretInArguments(tool.clone()));
    }
    Ok(sensitive.labels_of(value, "the arguments"))
}

/// Labels the result of a tool that config calls personal. Rather too many than too few: a pattern that fits the name of
/// another server's tool counts here.
pub(super) fn label_personal(sensitive: &Sensitive, traits: &ToolTraits, found: &mut Labels) {
    let tool = &traits.name;
    let mut patterns = sensitive.pii_tools().iter();
    if patterns.any(|glob| glob.fits_name_of_any_server(tool) || glob.covers(traits)) {
        found.add(Label::Pii, format!("the result of {tool}, which config calls personal"));
    }
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
