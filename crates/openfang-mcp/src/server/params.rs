//! The parameters of a request, read in one pass: what every request may say about itself, and what calls name.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::McpError;
use crate::meta::Meta;

/// What a call names.
#[derive(Debug, Default)]
pub(crate) struct CallTarget {
    /// A tool or a prompt.
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    /// What a tool or a prompt is given.
    pub(crate) arguments: Option<Box<RawValue>>,
    /// A task, for the methods of tasks.
    pub(crate) task_id: Option<String>,
    /// Whether the call asks to become a task, as the legacy era does.
    pub(crate) wants_task: bool,
    /// Whether answers to questions came along, or the state in which they were asked.
    pub(crate) has_input: bool,
}

/// The members as they are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ParamMembers<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    task: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

/// Reads them. What is of another type than a method wants counts as missing.
pub(crate) fn read(params: Option<&RawValue>) -> Result<(Meta, CallTarget), McpError> {
    let Some(params) = params.filter(|raw| raw.get().starts_with('{')) else { return Ok(Default::default()) };
    let unreadable = |_| McpError::InvalidParams("params cannot be read".to_owned());
    let members: ParamMembers<'_> = serde_json::from_str(params.get()).map_err(unreadable)?;
    let text = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let named = CallTarget {
        name: text(members.name),
        uri: text(members.uri),
        arguments: members.arguments.map(ToOwned::to_owned),
        task_id: text(members.task_id),
        wants_task: members.task.is_some_and(|task| task.get().starts_with('{')),
        has_input: members.input_responses.is_some() || members.request_state.is_some(),
    };
    Ok((members.meta.map(Meta::read).transpose()?.unwrap_or_default(), named))
}
