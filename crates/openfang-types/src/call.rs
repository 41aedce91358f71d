//! A call and its way back, whichever protocol it came by: what a call is given, what it reports, and how it ends.
//!
//! A call ends with a result, or with questions to whoever called. Whoever has the answers makes the same call again,
//! with them. Progress and log lines go to a [`CallListener`] meanwhile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

pub use arguments::Arguments;
pub use asked_back::{AskedBack, Question, ToldLog, ToldProgress};
pub use capabilities::{Capability, ClientCapabilities};

mod arguments;
mod asked_back;
mod capabilities;

/// How a call ended.
#[derive(Debug, Clone)]
pub enum Outcome<T> {
    Done(T),
    /// Whoever called must answer something first.
    NeedsInput(InputRequired),
}

impl<T> Outcome<T> {
    /// The same outcome with another result.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(done) => Outcome::Done(change(done)),
            Self::NeedsInput(needed) => Outcome::NeedsInput(needed),
        }
    }

    /// The same outcome with another result, or why there is none.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Outcome<U>, E> {
        Ok(match self {
            Self::Done(done) => Outcome::Done(change(done)?),
            Self::NeedsInput(needed) => Outcome::NeedsInput(needed),
        })
    }
}

/// What whoever called must answer.
#[derive(Debug, Clone, Default)]
pub struct InputRequired {
    /// The requests, by a key that the answers come back under.
    pub requests: BTreeMap<String, InputRequest>,
    /// What the callee wants back with the answers. It comes back unchanged or not at all.
    pub state: Vec<u8>,
}

/// One request to whoever called.
#[derive(Debug, Clone)]
pub struct InputRequest {
    /// What the client must have declared.
    pub needs: Capability,
    /// The method of MCP.
    pub method: &'static str,
    /// The parameters of the method.
    pub params: Box<RawValue>,
}

impl InputRequest {
    /// Asks the user to fill in a form.
    pub fn elicitation(message: &str, schema: &Value) -> Self {
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        Self { needs: Capability::ElicitationForm, method: "elicitation/create", params: written(&params) }
    }

    /// Asks the client's model.
    pub fn sampling(params: &Value) -> Self {
        Self { needs: Capability::Sampling, method: "sampling/createMessage", params: written(params) }
    }

    /// Asks for the client's directories.
    pub fn roots() -> Self {
        Self { needs: Capability::Roots, method: "roots/list", params: written(&json!({})) }
    }
}

fn written(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[derive(Debug, Clone, Default)]
pub struct Resumed {
    /// The answers, by key. Not all need be there, and some may be malformed.
    pub answers: BTreeMap<String, Box<RawValue>>,
    pub state: Vec<u8>,
}

/// Hears how a call goes.
pub trait CallListener: Send + Sync {
    /// The call has come this far.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>);
    /// The callee says something.
    fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawValue);
    /// From which level on log lines are wanted; none where nobody wants any.
    fn level(&self) -> Option<LogLevel>;
    /// Whether anybody hears progress.
    fn wants_progress(&self) -> bool {
        true
    }
}

/// How much a client wants to hear, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    /// Could become a problem.
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}
