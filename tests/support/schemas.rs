//! Messages of MCP against the official schemas in `tests/schemas/mcp`. `check` takes a revision and a message as it was
//! seen on the wire, with who sent it and, for an answer, the method that it answers. It refuses what the schema of
//! that revision refuses, what the sender may not send there, and members that came with a later revision: the
//! schemas are open, so that nothing else would notice those.

mod belongs;
mod methods;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use methods::{Kind, METHODS, Method};
use serde_json::{Value, json};

/// The revisions, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    R2026_07_28,
    R2025_11_25,
    R2025_06_18,
    R2025_03_26,
    R2024_11_05,
}

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// A message on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) sender: Sender,
    pub(crate) message: &'a Value,
    /// The method of the request that this answers, if it is an answer.
    pub(crate) answers: Option<&'a str>,
}

impl Revision {
    pub(crate) const ALL: [Self; 5] =
        [Self::R2026_07_28, Self::R2025_11_25, Self::R2025_06_18, Self::R2025_03_26, Self::R2024_11_05];

    /// Its name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::R2026_07_28 => "2026-07-28",
            Self::R2025_11_25 => "2025-11-25",
            Self::R2025_06_18 => "2025-06-18",
            Self::R2025_03_26 => "2025-03-26",
            Self::R2024_11_05 => "2024-11-05",
        }
    }

    /// The revision with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Names are dates, so they sort.
    fn is_since(self, other: Self) -> bool {
        self.name() >= other.name()
    }

    /// Read once: a test has many messages.
    fn schema(self) -> &'static Schema {
        static READ: [OnceLock<Schema>; Revision::ALL.len()] = [const { OnceLock::new() }; Revision::ALL.len()];
        READ[self as usize].get_or_init(|| self.read())
    }

    fn read(self) -> Schema {
        let text = match self {
            Self::R2026_07_28 => include_str!("../schemas/mcp/2026-07-28.json"),
            Self::R2025_11_25 => include_str!("../schemas/mcp/2025-11-25.json"),
            Self::R2025_06_18 => include_str!("../schemas/mcp/2025-06-18.json"),
            Self::R2025_03_26 => include_str!("../schemas/mcp/2025-03-26.json"),
            Self::R2024_11_05 => include_str!("../schemas/mcp/2024-11-05.json"),
        };
        let place = if self.is_since(Self::R2025_11_25) { "$defs" } else { "definitions" };
        Schema { revision: self, place, json: serde_json::from_str(text).unwrap(), validators: Mutex::default() }
    }
}

/// Whether a message is one of the revision; the error says where it is not.
pub(crate) fn check(revision: Revision, seen: Seen<'_>) -> Result<(), String> {
    let schema = revision.schema();
    let message = seen
        .message
        .as_object()
        .ok_or("not an object: check the messages of a batch one by one")?;
    let method = message.get("method").and_then(Value::as_str);
    let checked = match (method, message.get("id"), message.get("error")) {
        (Some(name), Some(_), _) => schema.request(Kind::Request, name, seen),
        (Some(name), None, _) => schema.request(Kind::Notification, name, seen),
        (None, _, Some(error)) => schema.error(error, seen.message),
        (None, _, None) => schema.result(seen),
    };
    checked.map_err(|reason| format!("{} in {}: {}", reason, revision.name(), seen.message))
}

/// One of the official files.
struct Schema {
    revision: Revision,
    place: &'static str,
    json: Value,
    /// One for every definition that was asked for, of which there are some hundred.
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

impl Schema {
    fn request(&self, kind: Kind, name: &str, seen: Seen<'_>) -> Result<(), String> {
        let (envelope, union) = match (kind, seen.sender) {
            (Kind::Request, Sender::Client) => ("JSONRPCRequest", "ClientRequest"),
            (Kind::Request, Sender::Server) => ("JSONRPCRequest", "ServerRequest"),
            (Kind::Notification, Sender::Client) => ("JSONRPCNotification", "ClientNotification"),
            (Kind::Notification, Sender::Server) => ("JSONRPCNotification", "ServerNotification"),
        };
        let method = self.method(name).filter(|method| method.kind == kind);
        let method = method.ok_or_else(|| format!("{name} is no {kind}"))?;
        if !self.is_member(union, method) {
            return Err(format!("the {:?} may not send {name}", seen.sender));
        }
        self.holds(envelope, seen.message)?;
        self.holds(method.definition, seen.message)?;
        belongs::params(self.revision, &seen.message["params"])
    }

    fn error(&self, error: &Value, message: &Value) -> Result<(), String> {
        self.holds(self.first_of(&["JSONRPCErrorResponse", "JSONRPCError"]), message)?;
        belongs::error_code(self.revision, error["code"].as_i64())
    }

    fn result(&self, seen: Seen<'_>) -> Result<(), String> {
        let result = &seen.message["result"];
        self.holds(self.first_of(&["JSONRPCResultResponse", "JSONRPCResponse"]), seen.message)?;
        if let Some(name) = seen.answers {
            let method = self
                .method(name)
                .ok_or_else(|| format!("nobody can answer {name}, which does not exist"))?;
            self.holds(self.result_of(method, result)?, result)?;
        }
        belongs::result(self.revision, seen.answers.unwrap_or_default(), result)
    }

    /// A result may stand for another one: more input is wanted, or the work goes on as a task.
    fn result_of(&self, method: &Method, result: &Value) -> Result<&'static str, String> {
        let plain = method
            .result
            .ok_or_else(|| format!("{} is a notification and has no answer", method.name))?;
        if self.revision == Revision::R2026_07_28 {
            return match result["resultType"].as_str() {
                Some("input_required") if method.may_ask => Ok("InputRequiredResult"),
                Some("input_required") => Err(format!("{} cannot ask for input", method.name)),
                Some("task") => Ok("Result"),
                Some(_) | None => Ok(plain),
            };
        }
        let is_task = self.revision == Revision::R2025_11_25 && result.get("task").is_some();
        Ok(if is_task { "CreateTaskResult" } else { plain })
    }

    /// The method, if this revision has it.
    fn method(&self, name: &str) -> Option<&'static Method> {
        METHODS
            .iter()
            .find(|method| method.name == name && self.definition(method.definition).is_some())
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.json[self.place].get(name)
    }

    fn first_of(&self, names: &[&'static str; 2]) -> &'static str {
        if self.definition(names[0]).is_some() { names[0] } else { names[1] }
    }

    /// Whether a union such as `ClientRequest` has the method. A union of one is that one.
    fn is_member(&self, union: &str, method: &Method) -> bool {
        let Some(union) = self.definition(union) else { return false };
        match union["anyOf"].as_array() {
            Some(members) => members.iter().any(|member| member["$ref"] == self.reference(method.definition)),
            None => union["properties"]["method"]["const"] == method.name,
        }
    }

    fn reference(&self, name: &str) -> String {
        format!("#/{}/{name}", self.place)
    }

    fn holds(&self, definition: &str, instance: &Value) -> Result<(), String> {
        let validator = self.validator(definition);
        let errors = validator
            .iter_errors(instance)
            .map(|error| format!("{error} at `{}`", error.instance_path()));
        let errors: Vec<String> = errors.collect();
        if errors.is_empty() { Ok(()) } else { Err(format!("no {definition}: {}", errors.join("; "))) }
    }

    fn validator(&self, definition: &str) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(definition.to_owned()).or_insert_with(|| {
            let mut document = self.json.clone();
            document["$ref"] = json!(self.reference(definition));
            Arc::new(jsonschema::validator_for(&document).unwrap())
        });
        Arc::clone(validator)
    }
}

#[cfg(test)]
#[path = "schemas_tests.rs"]
mod tests;
