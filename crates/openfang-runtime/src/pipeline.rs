//! The one way to a tool. Every door, every agent and the command line come through [`Pipeline::execute`].
//!
//! The stages stand in `guarded`, in order; each is a file of its own. Audit opens first and closes last, so that
//! refusals, timeouts and callers that went away are recorded too.

use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};

use openfang_store::AuditStore;
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::taint::Labels;
use openfang_types::task::Part;
use serde_json::Value;
use tracing::Instrument as _;

use crate::catalog::Catalog;
use crate::context::CallContext;
use crate::metrics::PipelineMetrics;

pub mod arguments;
pub mod audit;
pub mod capability;
pub mod error;
pub mod loop_guard;
mod relay;
pub mod secrets;
pub mod taint;
pub mod timeout;
pub mod truncate;

pub use capability::Permit;
pub use error::{Hidden, ToolError};
pub use relay::Handed;
pub use secrets::Sensitive;

/// A call to be made.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Which tool.
    pub name: ToolName,
    /// With what. Anything but an object is refused by every schema.
    pub arguments: Value,
}

/// The tools, and what guards them.
pub struct Pipeline {
    catalog: Catalog,
    audit: Arc<dyn AuditStore>,
    clock: Arc<dyn Clock>,
    /// Replaced when the configuration is; each call looks once.
    sensitive: RwLock<Arc<Sensitive>>,
    metrics: PipelineMetrics,
}

impl Pipeline {
    /// Puts the guards before the tools.
    pub fn new(
        catalog: Catalog,
        audit: Arc<dyn AuditStore>,
        clock: Arc<dyn Clock>,
        sensitive: Sensitive,
        metrics: PipelineMetrics,
    ) -> Self {
        Self { catalog, audit, clock, sensitive: RwLock::new(Arc::new(sensitive)), metrics }
    }

    /// The tools behind the guards.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What must not travel.
    pub fn sensitive(&self) -> Arc<Sensitive> {
        Arc::clone(&self.sensitive.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on this must not travel.
    pub fn replace_sensitive(&self, sensitive: Sensitive) {
        *self.sensitive.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(sensitive);
    }

    /// What the parts of a message say about themselves: text that looks like a secret, or is personal.
    pub fn labels_of(&self, parts: &[Part]) -> Labels {
        taint::labels_of_parts(&self.sensitive(), parts)
    }

    /// Calls a tool. What the tool itself could not do is an output with `is_error`; an error is a refusal.
    pub async fn execute(&self, cx: &CallContext, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let span = tracing::debug_span!("execute", tool = %call.name, trace = %cx.trace);
        // Pinned before it goes into the span, or the whole call would be moved there.
        pin!(self.recorded(cx, call)).instrument(span).await
    }

    async fn recorded(&self, cx: &CallContext, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let name = call.name.clone();
        let mut record = audit::open(self, cx, &name); // dropped unclosed: written as canceled
        let outcome = self.guarded(cx, call, &mut record).await;
        let outcome = loop_guard::note_outcome(cx, &name, outcome); // a run that is only refused must end too
        record.close(outcome.as_ref().map(|output| output.is_error));
        outcome
    }

    async fn guarded(
        &self,
        cx: &CallContext,
        call: ToolCall,
        record: &mut audit::Record<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let sensitive = self.sensitive();
        let permit = capability::check(&self.catalog, cx, &call.name)?; // the only key to a tool
        let call = arguments::check(cx, &permit, call).await?;
        let warning = loop_guard::check(cx, &call)?;
        taint::check_sink(&sensitive, cx, permit.traits(), &call.arguments)?;
        record.commit_before_effect(permit.traits()).await?;
        let tool = Arc::clone(permit.tool());
        let output = timeout::within(cx, permit, call.arguments).await?;
        let output = taint::label(&sensitive, cx, &tool.traits, output);
        Ok(loop_guard::with_warning(truncate::to_limits(output, &cx.config.limits), warning))
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
