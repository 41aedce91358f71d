//! The tools that a model is offered: those that the agent may use for this caller, the same ones in the same order each
//! time. If there are too many, it is offered those that are pinned, and two with which it finds and calls the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use openfang_model::{Call, CallArguments, ToolSpec, Toolbox};
use openfang_types::ids::ToolName;
use openfang_types::limits::{PINNED_TOOLS_MAX, TOOLS_OFFERED_MAX, TOOLS_OFFERED_PERCENT, TOOLS_OFFERED_TOKENS};
use openfang_types::tool::ToolDefinition;
use serde_json::Value;

use crate::answerer::AgentRun;
use crate::context::CallContext;
use crate::pipeline::{Pipeline, capability};
use crate::skills::activation;
use crate::tool_search::{
    CALL_DESCRIPTION, FoundTool, SEARCH_DESCRIPTION, TOOL_CALL, TOOL_SEARCH, ToolQuery, WrappedCall, call_schema,
    report, search_schema,
};

/// Reads results that were left out.
pub(super) const RESULT_READ: &str = "result_read";

/// The tools of a run. They are listed again when the catalogue has changed.
pub(super) struct Toolset {
    /// The version of the catalogue that they are from.
    version: u64,
    all: Arc<Toolbox>,
    /// Tools that a provider rejected.
    left_out: BTreeSet<String>,
    /// The most that the definitions may take, in tokens.
    most_tokens: u64,
    /// Results were left out of the conversation, so the model can read them.
    reads_results: bool,
}

impl Toolset {
    /// The tools for a model with this window.
    pub(super) fn new(run: &AgentRun<'_>, window: Option<u64>, reads_results: bool) -> Self {
        let share = window.filter(|window| *window > 0).map(|window| window * TOOLS_OFFERED_PERCENT / 100);
        let most_tokens = share.map_or(TOOLS_OFFERED_TOKENS, |share| share.min(TOOLS_OFFERED_TOKENS));
        let version = run.pipeline.catalog().version();
        let all = Arc::new(toolbox(run.cx, run.pipeline, (most_tokens, reads_results)));
        Self { version, all, left_out: BTreeSet::new(), most_tokens, reads_results }
    }

    /// Lists the tools again if they may have changed.
    pub(super) fn refresh(&mut self, run: &AgentRun<'_>) {
        self.refresh_for(run, self.reads_results);
    }

    /// The same, with a way to read results that were left out.
    pub(super) fn refresh_for(&mut self, run: &AgentRun<'_>, reads_results: bool) {
        let version = run.pipeline.catalog().version();
        if (self.version, self.reads_results) != (version, reads_results) {
            (self.version, self.reads_results) = (version, reads_results);
            self.all = Arc::new(toolbox(run.cx, run.pipeline, (self.most_tokens, reads_results)));
            let left_out = std::mem::take(&mut self.left_out);
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

/// The tools that are offered. The run learns of words among theirs that nobody accepted.
fn toolbox(cx: &CallContext, pipeline: &Pipeline, limits: (u64, bool)) -> Toolbox {
    let offered = chosen(cx, pipeline, limits);
    enters(cx, pipeline, (0..).map_while(|place| offered.name_at(place)));
    offered
}

fn enters<'a>(cx: &CallContext, pipeline: &Pipeline, offered: impl Iterator<Item = &'a str>) {
    let labels = pipeline.catalog().quarantine().labels_of_words(offered);
    if let (Some(run), false) = (&cx.run, labels.is_empty()) {
        run.enters(&labels);
    }
}

fn chosen(cx: &CallContext, pipeline: &Pipeline, (most_tokens, reads_results): (u64, bool)) -> Toolbox {
    let reader = || {
        let tool = RESULT_READ.parse().ok().and_then(|name: ToolName| pipeline.catalog().get(&name));
        tool.map(|tool| spec((*tool.definition()).clone()))
    };
    let reader = if reads_results { reader() } else { None };
    let further: Vec<ToolSpec> =
        reader.into_iter().chain(activation::tool_for(cx, &pipeline.catalog().skills())).collect();
    let entries = pipeline.catalog().sorted();
    let allowed = entries
        .iter()
        .filter(|tool| tool.traits().is_some_and(|traits| capability::allows(cx, &traits)));
    let few: Vec<_> = allowed.take(TOOLS_OFFERED_MAX + 1).collect();
    if few.len() <= TOOLS_OFFERED_MAX {
        let specs = few.into_iter().filter_map(|tool| tool.definition()).map(spec);
        let all = Toolbox::new(specs.chain(further.iter().cloned()).collect());
        if all.estimated_tokens() <= most_tokens.max(Toolbox::new(search_tools()).estimated_tokens()) {
            return all;
        }
    }
    let mut specs = search_tools();
    specs.extend(further);
    let pinned = cx.agent.as_ref().map(|agent| agent.capabilities.pinned.as_slice()).unwrap_or_default();
    for name in pinned.iter().take(PINNED_TOOLS_MAX) {
        let tool = pipeline.catalog().get(name).filter(|tool| capability::allows(cx, &tool.traits));
        let Some(tool) = tool else { continue };
        specs.push(spec((*tool.definition()).clone()));
        if Toolbox::new(specs.clone()).estimated_tokens() > TOOLS_OFFERED_TOKENS {
            specs.pop();
            tracing::warn!(tool = %name, "the pinned tools are larger than {TOOLS_OFFERED_TOKENS} tokens; a tool is left to the search");
        }
    }
    Toolbox::new(specs)
}

fn spec(tool: ToolDefinition) -> ToolSpec {
    ToolSpec { name: tool.name.to_string(), description: tool.description, schema: tool.input_schema }
}

/// The two tools that lead to all others.
fn search_tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, schema: Value| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
    };
    vec![tool(TOOL_SEARCH, SEARCH_DESCRIPTION, search_schema()), tool(TOOL_CALL, CALL_DESCRIPTION, call_schema())]
}

/// What a search says to the model. It shows what a list would show: the tools that the agent may use for this caller.
pub(super) async fn search(run: &AgentRun<'_>, arguments: &Value) -> Result<String, String> {
    let query = ToolQuery::read(&arguments.to_string())?;
    let (index, catalog) = (run.pipeline.tool_index().await, run.pipeline.catalog());
    let allowed = index.ranked(&query.query, &[]).into_iter().filter_map(|name| {
        let tool = catalog.find(name)?;
        capability::allows(run.cx, &tool.traits()?).then(|| tool.definition())?
    });
    let found = allowed.take(query.limit()).map(|tool| FoundTool {
        name: tool.name.to_string(),
        description: tool.description,
        schema: tool.input_schema,
    });
    let found: Vec<_> = found.collect();
    enters(run.cx, run.pipeline, found.iter().map(|tool| tool.name.as_str()));
    Ok(report(&found))
}

/// The same context, in which the agent may read results, whatever its capabilities say: those that were left out of its
/// own conversation. The user's grants hold as ever.
pub(super) fn reading_left_out(cx: &CallContext) -> CallContext {
    let mut reading = cx.clone();
    if let (Some(agent), Ok(pattern)) = (&mut reading.agent, RESULT_READ.parse()) {
        Arc::make_mut(agent).capabilities.tools.push(pattern);
    }
    reading
}

/// The call that a call of `tool_call` contains, with the id of that one. All that follows sees the real tool.
pub(super) fn unwrapped(call: Call) -> Call {
    let CallArguments::Object(object) = &call.arguments else { return call };
    if call.name != TOOL_CALL {
        return call;
    }
    let (name, arguments) = match WrappedCall::read(object.get()) {
        Ok(wrapped) => {
            let arguments = wrapped
                .arguments
                .map_or_else(|| CallArguments::parse("{}"), |arguments| CallArguments::Object(arguments.to_owned()));
            (wrapped.name.into_owned(), arguments)
        }
        Err(reason) => (call.name.clone(), CallArguments::Invalid { text: object.get().to_owned(), reason }),
    };
    Call { id: call.id, name, arguments }
}
