//! Questions of a call as a caller of the API gets them: the answers come with the same call, made again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Questions of a call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskedBack {
    /// The questions, by the key that each answer comes back under.
    pub questions: BTreeMap<String, Question>,
    /// What comes back with the answers, unchanged.
    pub state: String,
}

/// One question, as MCP has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The method, such as `elicitation/create`.
    pub method: String,
    /// The parameters of the method.
    pub params: Box<RawValue>,
}

/// Progress of a call, as the API tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToldProgress {
    /// How far the call has come.
    pub progress: f64,
    /// How far there is to go, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A log line of a call, as the API tells it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToldLog {
    /// How important it is.
    pub level: super::LogLevel,
    /// Which part of the callee says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    pub data: Box<RawValue>,
}
