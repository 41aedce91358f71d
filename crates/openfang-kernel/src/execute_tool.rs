//! Tools, called directly: listed by what the caller may use, executed through the pipeline.

use std::borrow::Cow;
use std::sync::Arc;

use openfang_runtime::catalog::CatalogEntry;
use openfang_runtime::context::{CallContext, WayBack};
use openfang_runtime::pipeline::{ToolCall, capability};
use openfang_store::KeptResult;
use openfang_types::call::Outcome;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ResultId, ToolName};
use openfang_types::taint::forbidding_label;
use openfang_types::tool::{ToolDefinition, ToolTraits};
use tokio_util::sync::CancellationToken;

use crate::{Caller, Kernel, KernelError};

mod asked_back;

/// The way back to a caller, and how the caller stops a call.
#[derive(Clone, Default)]
pub struct Way {
    /// Who hears how the call goes, and what can be asked.
    pub back: WayBack,
    /// Fires when the caller stops the call.
    pub cancel: CancellationToken,
}

impl Kernel {
    /// Calls a tool for its caller, without an agent and without a way back: a tool that has questions is refused.
    pub async fn execute_tool(&self, caller: &Caller, call: ToolCall<'_>) -> Result<ToolOutput, KernelError> {
        let name = call.name.clone();
        match self.call_tool(caller, call, Way::default()).await? {
            Outcome::Done(output) => Ok(output),
            Outcome::NeedsInput(_) => Err(KernelError::NobodyToAsk(name)),
        }
    }

    /// Calls a tool for its caller, who can be told how it goes and asked.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        call: ToolCall<'_>,
        way: Way,
    ) -> Result<Outcome<ToolOutput>, KernelError> {
        let cx = self.inner.context_with(caller, way);
        Ok(self.inner.pipeline.execute(&cx, call).await?)
    }

    /// Something that a result of this caller's owner lost, if it is kept.
    pub(crate) async fn kept_result(&self, caller: &Caller, id: ResultId) -> Result<Option<KeptResult>, KernelError> {
        let (owner, now) = (caller.principal.owner(), self.inner.clock.now());
        let mut kept = self.inner.stores.results.get(owner, id, now).await?;
        if let Some(kept) = &mut kept
            && let Cow::Owned(clean) = self.inner.pipeline.sensitive().redacted(&kept.content)
        {
            kept.content = clean;
        }
        Ok(kept)
    }

    /// The tools this caller may use, by name: directly, or through an agent.
    pub fn available_tools(
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
            None => self.inner.context(caller),
            Some(name) => {
                let agent = self.inner.agent(&caller.principal, name)?;
                self.inner.agent_context(caller, &agent, None)
            }
        };
        let tools = self.inner.pipeline.catalog().sorted();
        let is_usable = move |tool: &CatalogEntry| tool.traits().is_some_and(|traits| can_ever_call(&cx, &traits));
        Ok(tools.into_iter().filter(is_usable))
    }

    /// One tool this caller may use.
    pub fn tool(&self, caller: &Caller, name: &ToolName) -> Result<ToolDefinition, KernelError> {
        let cx = self.inner.context(caller);
        let known = self.inner.pipeline.catalog().get(name).filter(|tool| can_ever_call(&cx, &tool.traits));
        known.map(|tool| Arc::unwrap_or_clone(tool.definition())).ok_or_else(|| {
            match self.inner.pipeline.why_not(&cx, name) {
                Some(error) => error.into(),
                None => KernelError::UnknownTool(name.clone()),
            }
        })
    }
}

/// A tool that the label of the request forbids from the start is not worth listing.
pub(crate) fn can_ever_call(cx: &CallContext, tool: &ToolTraits) -> bool {
    capability::allows(cx, tool) && forbidding_label(&cx.labels, tool.sink).is_none()
}
