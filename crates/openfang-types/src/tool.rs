//! What a tool says about itself. Everything a caller, a policy or a protocol needs to know is in the definition.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::Namespace;
use crate::ids::ToolName;
use crate::taint::SinkKind;

pub use origin::Origin;

mod origin;

/// A tool, as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    pub name: ToolName,
    /// What it does, for people and models.
    pub description: String,
    /// What it takes: a JSON Schema of an object.
    pub input_schema: Value,
    /// What its structured result looks like, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    pub annotations: ToolAnnotations,
    /// What it does with what it is given: decides which labels it refuses.
    pub sink: SinkKind,
    /// What kind of work it is: decides how long it may take.
    pub kind: ToolKind,
    /// Where it comes from. A tool of an MCP server is listed with the member `server`, an external agent with `agent`.
    #[serde(flatten)]
    pub origin: Origin,
    /// The OpenFang instances that it was listed through, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

/// What the guards need to know of a tool, without what is only listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTraits {
    pub name: ToolName,
    /// How it behaves, as far as we answer for it.
    pub annotations: ToolAnnotations,
    /// What it does with what it is given.
    pub sink: SinkKind,
    /// What kind of work it is.
    pub kind: ToolKind,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it has its name from.
    pub namespace: Namespace,
    /// When a call of it is in the audit log.
    pub recorded: Recorded,
}

/// When a call is in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Before it can have an effect.
    Before,
    /// Soon after it ended.
    After,
}

impl From<&ToolDefinition> for ToolTraits {
    fn from(definition: &ToolDefinition) -> Self {
        Self {
            name: definition.name.clone(),
            annotations: definition.annotations,
            sink: definition.sink,
            kind: definition.kind,
            origin: definition.origin.clone(),
            namespace: Namespace::Own,
            recorded: if definition.annotations.read_only_hint { Recorded::After } else { Recorded::Before },
        }
    }
}

/// How a tool behaves. For tools of others these are claims, not facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// The tool changes nothing.
    pub read_only_hint: bool,
    /// The tool may destroy something.
    pub destructive_hint: bool,
    /// Calling it twice is calling it once.
    pub idempotent_hint: bool,
    /// The tool reaches systems outside of this server.
    pub open_world_hint: bool,
}

impl ToolAnnotations {
    /// Looks and changes nothing.
    pub const READ_ONLY: Self =
        Self { read_only_hint: true, destructive_hint: false, idempotent_hint: true, open_world_hint: false };
    /// Changes something each time, without destroying anything.
    pub const ADDS: Self =
        Self { read_only_hint: false, destructive_hint: false, idempotent_hint: false, open_world_hint: false };
    /// Nobody answers for it: it may do anything.
    pub const ANYTHING: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: false, open_world_hint: true };
    /// Replaces what was there; doing it twice is doing it once.
    pub const REPLACES: Self =
        Self { read_only_hint: false, destructive_hint: true, idempotent_hint: true, open_world_hint: false };
}

/// What kind of work a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolKind {
    /// Has the tool timeout.
    Plain,
    /// Runs an agent and has the timeout of a run.
    RunsAgent,
    /// Runs a program, whose time is in the arguments.
    RunsProgram,
    /// Belongs to an MCP server, which has a timeout of its own.
    Upstream,
    /// Is an external agent, which has limits of its own.
    ExternalAgent,
}

impl ToolDefinition {
    /// A plain tool whose arguments are `Args`. The sink kind is not optional: a tool without one does not compile.
    pub fn of<Args: JsonSchema>(
        name: ToolName,
        description: &str,
        sink: SinkKind,
        annotations: ToolAnnotations,
    ) -> Self {
        Self {
            name,
            description: description.to_owned(),
            input_schema: object_schema::<Args>(),
            output_schema: None,
            annotations,
            sink,
            kind: ToolKind::Plain,
            origin: Origin::Builtin,
            via: Vec::new(),
        }
    }

    /// Says what the structured result looks like.
    #[must_use]
    pub fn returning<Output: JsonSchema>(mut self) -> Self {
        self.output_schema = Some(object_schema::<Output>());
        self
    }

    /// Gives the tool the time of a run.
    #[must_use]
    pub const fn running_an_agent(mut self) -> Self {
        self.kind = ToolKind::RunsAgent;
        self
    }

    /// Gives the tool the time that a program may have.
    #[must_use]
    pub const fn running_a_program(mut self) -> Self {
        self.kind = ToolKind::RunsProgram;
        self
    }
}

/// The schema of a type, inlined and without the generator's own members.
fn object_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    let mut schema = schema.to_value();
    split_types(&mut schema);
    schema
}

/// Writes a choice of types as `anyOf`: not every client reads a list of types.
fn split_types(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get("type") {
                let one = |kind: &Value| serde_json::json!({ "type": kind });
                let choice = types.iter().map(one).collect();
                members.remove("type");
                members.insert("anyOf".to_owned(), Value::Array(choice));
            }
            members.values_mut().for_each(split_types);
        }
        Value::Array(items) => items.iter_mut().for_each(split_types),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
