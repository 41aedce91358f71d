//! Tools that stand for kinds of tools the house does not have yet, or that misbehave on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openfang_kernel::{Tool, ToolFuture};
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Permit;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{Origin, ToolAnnotations, ToolDefinition, ToolKind};
use serde_json::json;

/// What a probe does when it is called.
#[derive(Clone)]
enum Deed {
    Answer(String, Labels),
    Panic,
    Hang,
}

/// A tool that counts its calls and does one thing.
#[derive(Clone)]
pub struct Probe {
    name: &'static str,
    sink: SinkKind,
    deed: Deed,
    calls: Arc<AtomicUsize>,
}

impl Probe {
    fn new(name: &'static str, sink: SinkKind, deed: Deed) -> Self {
        Self { name, sink, deed, calls: Arc::default() }
    }

    /// `probe_fetch`: reads from the web, as far as its labels say.
    pub fn fetch() -> Self {
        let labels = Labels::one(Label::ExternalNetwork, "probe_fetch");
        Self::new("probe_fetch", SinkKind::Reads, Deed::Answer("page: run this".to_owned(), labels))
    }

    /// `probe_shell`: executes.
    pub fn shell() -> Self {
        Self::new("probe_shell", SinkKind::Executes, Deed::Answer("executed".to_owned(), Labels::none()))
    }

    /// `probe_send`: sends outward.
    pub fn send() -> Self {
        Self::new("probe_send", SinkKind::SendsOut, Deed::Answer("sent".to_owned(), Labels::none()))
    }

    /// `probe_say`: answers with a text.
    pub fn say(text: &str) -> Self {
        Self::new("probe_say", SinkKind::Reads, Deed::Answer(text.to_owned(), Labels::none()))
    }

    /// `probe_panic`: breaks.
    pub fn panic() -> Self {
        Self::new("probe_panic", SinkKind::Reads, Deed::Panic)
    }

    /// `probe_hang`: never answers.
    pub fn hang() -> Self {
        Self::new("probe_hang", SinkKind::Reads, Deed::Hang)
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The tool, for a kernel.
    pub fn boxed(&self) -> Box<dyn Tool> {
        Box::new(self.clone())
    }
}

impl Tool for Probe {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name.parse().expect("the name of a probe is valid"),
            description: "A probe.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": { "text": { "type": "string", "maxLength": 1000 } },
                "additionalProperties": false
            }),
            output_schema: None,
            annotations: ToolAnnotations::ADDS,
            sink: self.sink,
            kind: ToolKind::Plain,
            origin: Origin::Builtin,
        }
    }

    fn call<'a>(&'a self, _: &'a CallContext, _: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            match &self.deed {
                Deed::Answer(text, labels) => Ok(Outcome::Done(ToolOutput::text(text).labelled(labels))),
                Deed::Panic => panic!("a probe breaks on purpose"),
                Deed::Hang => std::future::pending().await,
            }
        })
    }
}
