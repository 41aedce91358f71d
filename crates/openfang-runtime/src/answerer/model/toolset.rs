//! The tools that a model is offered: those that the agent may use for this caller, the same ones in the same order each
//! time.

use std::collections::BTreeSet;
use std::sync::Arc;

use openfang_model::{ToolSpec, Toolbox};
use openfang_types::limits::MODEL_TOOLS_MAX;

use crate::context::CallContext;
use crate::pipeline::{Pipeline, capability};

/// The tools of a run. They are listed again when the catalogue has changed.
pub(super) struct Toolset {
    /// The version of the catalogue that they are from.
    version: u64,
    all: Arc<Toolbox>,
    /// Tools that a provider rejected.
    left_out: BTreeSet<String>,
}

impl Toolset {
    pub(super) fn new(cx: &CallContext, pipeline: &Pipeline) -> Self {
        let version = pipeline.catalog().version();
        Self { version, all: Arc::new(Toolbox::new(specs(cx, pipeline))), left_out: BTreeSet::new() }
    }

    /// Lists the tools again if they may have changed.
    pub(super) fn refresh(&mut self, cx: &CallContext, pipeline: &Pipeline) {
        if self.version != pipeline.catalog().version() {
            let left_out = std::mem::take(&mut self.left_out);
            *self = Self::new(cx, pipeline);
            left_out.iter().for_each(|name| self.leave_out(name));
        }
    }

    pub(super) fn tools(&self) -> Arc<Toolbox> {
        Arc::clone(&self.all)
    }

    /// Leaves out a tool that a provider rejects. False if it was left out before.
    pub(super) fn reject(&mut self, name: &str) -> bool {
        let is_new = !self.left_out.contains(name);
        if is_new {
            self.leave_out(name);
        }
        is_new
    }

    fn leave_out(&mut self, name: &str) {
        self.all = Arc::new(self.all.without(name));
        self.left_out.insert(name.to_owned());
    }
}

fn specs(cx: &CallContext, pipeline: &Pipeline) -> Vec<ToolSpec> {
    let allowed = pipeline
        .catalog()
        .sorted()
        .into_iter()
        .filter(|tool| tool.traits().is_some_and(|traits| capability::allows(cx, &traits)));
    let mut specs: Vec<ToolSpec> = allowed
        .filter_map(|tool| tool.definition())
        .take(MODEL_TOOLS_MAX + 1)
        .map(|tool| ToolSpec { name: tool.name.to_string(), description: tool.description, schema: tool.input_schema })
        .collect();
    if specs.len() > MODEL_TOOLS_MAX {
        specs.truncate(MODEL_TOOLS_MAX);
        let agent = cx.agent.as_ref().map(|agent| agent.name.to_string()).unwrap_or_default();
        tracing::warn!(
            agent,
            "the agent may use more than {MODEL_TOOLS_MAX} tools; the model is offered the first ones by name"
        );
    }
    specs
}
