//! What a user without imagination answers: the defaults, else the simplest value of the type.

use std::collections::BTreeMap;

use openfang_mcp::client::RawMembers;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The answer to a question.
pub(crate) fn to(method: &str, params: &Value) -> Value {
    match method {
        "elicitation/create" => json!({"action": "accept", "content": filled(&params["requestedSchema"])}),
        "sampling/createMessage" => {
            json!({"role": "assistant", "model": "none", "content": {"type": "text", "text": "yes"}})
        }
        _ => json!({"roots": []}),
    }
}

/// What a call must be made again with, if its result asks for more. A result that does not say what it is, is the end.
pub(crate) fn wanted(result: &RawValue) -> serde_json::Result<Option<RawMembers>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wanted {
        #[serde(default)]
        result_type: Option<String>,
        #[serde(default)]
        input_requests: BTreeMap<String, Question>,
        /// Opaque: it goes back as it came.
        #[serde(default)]
        request_state: Option<Box<RawValue>>,
    }
    #[derive(Deserialize)]
    struct Question {
        method: String,
        #[serde(default)]
        params: Value,
    }
    let wanted: Wanted = serde_json::from_str(result.get())?;
    if wanted.result_type.as_deref() != Some("input_required") {
        return Ok(None);
    }
    let answers: Map<String, Value> = wanted
        .input_requests
        .into_iter()
        .map(|(key, asked)| (key, to(&asked.method, &asked.params)))
        .collect();
    let members = RawMembers::none().with("inputResponses", &answers);
    Ok(Some(members.with_some("requestState", wanted.request_state.as_deref())))
}

fn filled(schema: &Value) -> Value {
    let Some(properties) = schema["properties"].as_object() else { return json!({}) };
    let value = |property: &Value| match (property.get("default"), property["type"].as_str()) {
        (Some(default), _) => default.clone(),
        (None, Some("boolean")) => json!(true),
        (None, Some("integer" | "number")) => json!(1),
        (None, _) => json!("yes"),
    };
    properties
        .iter()
        .map(|(name, property)| (name.clone(), value(property)))
        .collect::<Map<_, _>>()
        .into()
}
