//! Tools, called directly: listed by what the caller may use, executed through the pipeline.

use std::borrow::Cow;
use std::sync::Arc;

use openfang_runtime::catalog::CatalogEntry;
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::{Pipeline, ToolCall, capability};
use openfang_store::{KeptResult, ResultStore};
use openfang_types::call::Outcome;
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ResultId, ToolName};
use openfang_types::taint::{Label, SinkKind};
use openfang_types::tool::{ToolDefinition, ToolTraits};

use crate::access::Access;
use crate::settings::LiveSettings;
use crate::tasks::Tasks;
use crate::{Caller, KernelError, Way};

mod asked_back;
mod meaning;
mod policy;
mod policy_cases;

pub use meaning::GrantMeaning;
pub use policy::{Explanation, ProgramRules};

/// Calls of tools that no agent makes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct DirectCalls {
    settings: Arc<LiveSettings>,
    access: Access,
    tasks: Tasks,
    pipeline: Arc<Pipeline>,
    results: Arc<dyn ResultStore>,
    clock: Arc<dyn Clock>,
}

impl DirectCalls {
    pub(crate) fn new(
        (settings, access, tasks): (Arc<LiveSettings>, Access, Tasks),
        pipeline: Arc<Pipeline>,
        results: Arc<dyn ResultStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { settings, access, tasks, pipeline, results, clock }
    }

    /// Calls a tool for its caller, without an agent and without a way back: a tool that has questions is refused.
    pub(crate) async fn execute_tool(&self, caller: &Caller, call: ToolCall<'_>) -> Result<ToolOutput, KernelError> {
        let name = call.name.clone();
        match self.call_tool(caller, call, Way::default()).await? {
            Outcome::Done(output) => Ok(output),
            Outcome::NeedsInput(_) => Err(KernelError::NobodyToAsk(name)),
        }
    }

    /// Calls a tool for its caller, who can be told how it goes and asked.
    pub(crate) async fn call_tool(
        &self,
        caller: &Caller,
        call: ToolCall<'_>,
        way: Way,
    ) -> Result<Outcome<ToolOutput>, KernelError> {
        let cx = self.tasks.context_with(caller, way);
        Ok(self.pipeline.execute(&cx, call).await?)
    }

    /// Something that a result of this caller's owner lost, if it is kept and the caller may know of it.
    pub(crate) async fn kept_result(&self, caller: &Caller, id: ResultId) -> Result<Option<KeptResult>, KernelError> {
        let (owner, now) = (caller.principal.owner(), self.clock.now());
        let kept = self.results.get(owner, id, now).await?;
        let mut kept = kept.filter(|kept| kept.is_known_to(&caller.principal.begun_as()));
        if let Some(kept) = &mut kept
            && let Cow::Owned(clean) = self.pipeline.sensitive().redacted(&kept.content)
        {
            kept.content = clean;
        }
        Ok(kept)
    }

    /// The tools this caller may use, by name: directly, or through an agent.
    pub(crate) fn available_tools(
        &self,
        caller: &Caller,
        through: Option<&AgentName>,
    ) -> Result<Vec<ToolDefinition>, KernelError> {
        let tools = self.usable_tools(caller, through)?;
        Ok(tools.filter_map(|tool| tool.definition()).collect())
    }

    /// The same, without what each says about itself.
    pub(crate) fn usable_tools(
        &self,
        caller: &Caller,
        through: Option<&AgentName>,
    ) -> Result<impl Iterator<Item = CatalogEntry>, KernelError> {
        let cx = match through {
            None => self.tasks.context(caller),
            Some(name) => {
                let agent = self.settings.current().agent(&caller.principal, name)?;
                self.tasks.agent_context(caller, &agent)
            }
        };
        let tools = self.pipeline.catalog().sorted();
        let is_usable = move |tool: &CatalogEntry| tool.traits().is_some_and(|traits| can_ever_call(&cx, &traits));
        Ok(tools.into_iter().filter(is_usable))
    }

    /// One tool this caller may use.
    pub(crate) fn tool(&self, caller: &Caller, name: &ToolName) -> Result<ToolDefinition, KernelError> {
        let cx = self.tasks.context(caller);
        let known = self.pipeline.catalog().get(name).filter(|tool| can_ever_call(&cx, &tool.traits));
        known.map(|tool| Arc::unwrap_or_clone(tool.definition())).ok_or_else(|| {
            match self.pipeline.why_not(&cx, name) {
                Some(error) => error.into(),
                None => KernelError::UnknownTool(name.clone()),
            }
        })
    }
}

/// A tool that executes is not listed for a caller whose every call of it would need somebody at this machine.
pub(crate) fn can_ever_call(cx: &CallContext, tool: &ToolTraits) -> bool {
    let is_foreign = cx.labels.iter().any(Label::is_foreign);
    capability::allows(cx, tool) && !(tool.sink == SinkKind::Executes && is_foreign)
}
