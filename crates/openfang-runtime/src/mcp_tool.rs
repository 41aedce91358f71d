//! A tool of an MCP server, as a tool of the house.

use std::sync::{Arc, OnceLock};

use openfang_mcp::client::Relayed;
use openfang_mcp::listing::{Entry, Listing};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::capability::Namespace;
use openfang_types::config::{McpAudit, McpServerConfigEntry};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::limits::{INFLIGHT_FROM_BYTES, SCHEMA_INLINE_BYTES};
use openfang_types::scan::scan;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{Origin, Recorded, ToolAnnotations, ToolDefinition, ToolKind, ToolTraits};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::context::CallContext;
use crate::pipeline::{Manner, Permit};
use crate::schema_check::{CompiledSchema, Misfit, SchemaChecks};
use crate::server_call::GuardedRelay;
use crate::tools::{Tool, ToolFailure, ToolFuture};

/// A tool of an MCP server. What it says about itself stays in its server's list, and is read when somebody asks.
pub struct McpTool {
    traits: ToolTraits,
    relay: Arc<GuardedRelay>,
    listing: Arc<Listing>,
    /// Where it stands there.
    place: usize,
    /// What its results carry.
    labels: Labels,
    promise: Arc<Promise>,
    /// Where checks run that take longer.
    checks: Arc<SchemaChecks>,
}

/// What the server promises about structured results.
#[derive(Default)]
struct Promise {
    schema: OnceLock<Option<CompiledSchema>>,
}

/// What a server says about a tool.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct RemoteDefinition {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
    #[serde(default)]
    output_schema: Option<Value>,
    #[serde(default)]
    annotations: Claims,
    #[serde(default, rename = "_meta")]
    meta: ListedMeta,
}

/// What an OpenFang says about the way of a tool into its list.
#[derive(Deserialize, Default)]
struct ListedMeta {
    #[serde(default, rename = "io.openfang/via")]
    via: Vec<String>,
}

/// What a server claims about a tool.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Claims {
    #[serde(default)]
    read_only_hint: Option<bool>,
    #[serde(default)]
    destructive_hint: Option<bool>,
    #[serde(default)]
    idempotent_hint: Option<bool>,
    #[serde(default)]
    open_world_hint: Option<bool>,
}

impl Claims {
    fn annotations(&self) -> ToolAnnotations {
        let usual = ToolAnnotations::ANYTHING;
        ToolAnnotations {
            read_only_hint: self.read_only_hint.unwrap_or(usual.read_only_hint),
            destructive_hint: self.destructive_hint.unwrap_or(usual.destructive_hint),
            idempotent_hint: self.idempotent_hint.unwrap_or(usual.idempotent_hint),
            open_world_hint: self.open_world_hint.unwrap_or(usual.open_world_hint),
        }
    }
}

/// What the guards need to know of something that belongs to a server. Only a trusted one is believed, except that a tool
/// changes nothing: a server that lies about that harms nobody but itself.
pub fn traits_of(
    server: &McpServerConfigEntry,
    name: ToolName,
    namespace: Namespace,
    claimed: ToolAnnotations,
) -> ToolTraits {
    let annotations = if server.trusted { claimed } else { ToolAnnotations::ANYTHING };
    ToolTraits {
        name,
        annotations,
        sink: if claimed.read_only_hint { SinkKind::Queries } else { SinkKind::SendsOut },
        kind: ToolKind::Upstream,
        origin: Origin::McpServer(server.name.clone()),
        namespace,
        recorded: match server.audit {
            McpAudit::Before => Recorded::Before,
            McpAudit::After => Recorded::After,
        },
    }
}

/// What everything that a server returns carries: whether its words may lead to calls, and how far its data may go.
pub fn labels_of(server: &McpServerConfigEntry, origin: &Origin) -> Labels {
    let source = origin.to_string();
    let mut labels = server.data.labels(&source);
    if !server.trusted {
        labels.add(Label::McpServer, source);
    }
    labels
}

impl McpTool {
    /// The tool that stands at a place of its server's list.
    pub(crate) fn new(
        traits: ToolTraits,
        relay: Arc<GuardedRelay>,
        (listing, place): (Arc<Listing>, usize),
        checks: Arc<SchemaChecks>,
    ) -> Self {
        let labels = Labels::one(Label::McpServer, traits.origin.to_string());
        Self { traits, relay, listing, place, labels, promise: Arc::default(), checks }
    }

    /// The same tool of a server with these settings.
    pub(crate) fn of(self, server: &McpServerConfigEntry) -> Self {
        Self { labels: labels_of(server, &self.traits.origin), ..self }
    }

    /// Which OpenFang the server is, if it is one.
    fn instance(&self) -> Option<String> {
        self.relay.upstream().snapshot().facts.as_ref()?.instance.clone()
    }

    /// A structured result must fit what the server itself promised; else a model would be misled.
    async fn hold_to_promise(&self, cx: &CallContext, result: &ToolOutput) -> Result<(), ToolFailure> {
        let Some(structured) = result.structured.as_ref().filter(|_| !result.is_error) else { return Ok(()) };
        let steps = cx.config.limits.schema_check_steps;
        match self.promise.schema.get() {
            Some(None) => return Ok(()),
            Some(Some(schema)) if structured.get().len() <= SCHEMA_INLINE_BYTES => {
                let value: Value = serde_json::from_str(structured.get())?;
                if let Some(checked) = schema.check_quickly(&value, steps) {
                    return promised(checked);
                }
            }
            Some(Some(_)) | None => {}
        }
        let (promise, listing, place) = (Arc::clone(&self.promise), Arc::clone(&self.listing), self.place);
        let structured = structured.clone();
        let checked = self.checks.run(cx.principal.owner(), move || {
            let compile = || CompiledSchema::of(&said(&listing, place).output_schema?).ok();
            let Some(schema) = promise.schema.get_or_init(compile) else { return Ok(()) };
            match serde_json::from_str(structured.get()) {
                Ok(value) => schema.check(&value, steps),
                Err(error) => Err(Misfit::Problems(vec![error.to_string()])),
            }
        });
        promised(checked.await.unwrap_or(Err(Misfit::TooManySteps)))
    }
}

/// What it means that a structured result does or does not fit.
fn promised(checked: Result<(), Misfit>) -> Result<(), ToolFailure> {
    checked.map_err(|misfit| {
        ToolFailure::new(match misfit {
            Misfit::Problems(_) => "the server's structured result does not fit the schema it promised",
            Misfit::TooManySteps => {
                "the server's structured result was left out: holding it against the schema that the server promised takes \
                 too many steps"
            }
        })
    })
}

fn said(listing: &Listing, place: usize) -> RemoteDefinition {
    let entry = listing.at(place);
    entry.and_then(|entry| serde_json::from_str(&entry.json()).ok()).unwrap_or_default()
}

/// What a server claims about a tool.
pub fn claimed(tool: &Entry) -> ToolAnnotations {
    #[derive(Deserialize, Default)]
    struct Claiming {
        #[serde(default)]
        annotations: Claims,
    }
    let claiming: Claiming = serde_json::from_str(&tool.json()).unwrap_or_default();
    claiming.annotations.annotations()
}

/// The OpenFang instances that a server listed a tool through.
pub fn listed_via(tool: &Entry) -> Vec<String> {
    #[derive(Deserialize, Default)]
    struct Listed {
        #[serde(default, rename = "_meta")]
        meta: ListedMeta,
    }
    serde_json::from_str::<Listed>(&tool.json()).unwrap_or_default().meta.via
}

impl Tool for McpTool {
    fn definition(&self) -> ToolDefinition {
        let said = said(&self.listing, self.place);
        let server = self.relay.upstream().name();
        ToolDefinition {
            name: self.traits.name.clone(),
            description: format!("[MCP:{server}] {}", said.description.unwrap_or_default()),
            input_schema: said.input_schema,
            output_schema: said.output_schema,
            annotations: said.annotations.annotations(),
            sink: self.traits.sink,
            kind: self.traits.kind,
            origin: self.traits.origin.clone(),
            via: self.instance().into_iter().chain(said.meta.via).collect(),
        }
    }

    fn traits(&self) -> ToolTraits {
        self.traits.clone()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, permit: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            // What the server says is labelled, a refusal and a question too.
            match self.called(cx, &arguments, permit).await {
                Ok(Outcome::Done(output)) => Ok(Outcome::Done(output.labelled(&self.labels))),
                Ok(asks @ Outcome::NeedsInput(_)) => {
                    if let Some(run) = &cx.run {
                        run.enters(&self.labels);
                    }
                    Ok(asks)
                }
                Err(failure) => Err(failure.labelled(self.labels.clone())),
            }
        })
    }
}

impl McpTool {
    async fn called(
        &self,
        cx: &CallContext,
        arguments: &Arguments<'_>,
        permit: Permit,
    ) -> Result<Outcome<ToolOutput>, ToolFailure> {
        let manner = permit.manner();
        let entry = self.listing.at(self.place);
        let what = Relayed::Tool { name: entry.map_or("", Entry::name), arguments: Some(arguments.json()) };
        // What a person approved is a call of this definition.
        let expected = entry.filter(|_| permit.is_approved());
        let output = match self.relay.call_expecting(cx, what, permit, expected).await? {
            Outcome::Done(result) => ToolOutput::from_raw(&result).map_err(|error| self.relay.malformed(error))?,
            Outcome::NeedsInput(questions) => return Ok(Outcome::NeedsInput(questions)),
        };
        if manner == Manner::Checked {
            if output.structured.as_ref().is_some_and(|raw| is_too_much(raw)) {
                return Err(ToolFailure::new("the server's structured result has too many small values to be read"));
            }
            self.hold_to_promise(cx, &output).await?;
        }
        Ok(Outcome::Done(output))
    }
}

/// Whether a value would take many times its size once it is parsed. A small one cannot take much.
fn is_too_much(raw: &RawValue) -> bool {
    raw.get().len() >= INFLIGHT_FROM_BYTES && scan(raw.get().as_bytes()).is_err()
}
