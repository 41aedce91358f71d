//! The one way to a tool, a prompt or a resource. Every door, every agent and the command line come through here.
//!
//! The stages stand in `guarded`, in order; each is a file of its own. Audit opens first and closes last, so that
//! refusals, timeouts and callers that went away are recorded too. How much of a result is ours to check is the
//! [`Manner`] of the call; the way is the same.

use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};

use openfang_store::{ApprovalStore, AuditStore, ResultStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::secret::Secret;
use openfang_types::taint::Labels;
use openfang_types::task::Part;
use openfang_types::tool::{Origin, ToolTraits};
use tracing::Instrument as _;

use crate::catalog::Catalog;
use crate::context::CallContext;
use crate::metrics::PipelineMetrics;
use crate::outward_calls::{OutwardCall, OutwardCalls};
use crate::skills::{ACTIVATE_SKILL, SkillContent};
use crate::tool_index::ToolIndex;
use crate::tool_search::CachedToolIndex;

mod approval;
pub mod arguments;
pub mod audit;
mod callee;
pub mod capability;
pub(crate) mod digest;
pub mod error;
mod exact;
mod judge;
mod keep;
pub mod loop_guard;
mod output;
mod review;
pub mod secrets;
pub mod taint;
pub mod timeout;
pub mod truncate;
mod words;

pub use approval::ApprovalNeeded;
pub use callee::{Callee, Manner};
pub use capability::Permit;
pub use error::{Hidden, ToolError};
pub use judge::may_follow_redirects;
pub use output::CallOutput;
pub use secrets::Sensitive;

/// A call to be made.
#[derive(Debug, Clone)]
pub struct ToolCall<'a> {
    pub name: ToolName,
    /// What the tool is given. Anything but an object is refused by every schema.
    pub arguments: Arguments<'a>,
}

/// The tools, and what guards them.
pub struct Pipeline {
    catalog: Catalog,
    audit: Arc<dyn AuditStore>,
    /// Where what results lose is kept.
    results: Arc<dyn ResultStore>,
    /// Calls that wait for a person.
    approvals: Arc<dyn ApprovalStore>,
    clock: Arc<dyn Clock>,
    /// Replaced when the configuration is; each call looks once.
    sensitive: RwLock<Arc<Sensitive>>,
    metrics: PipelineMetrics,
    /// The calls to other servers that are under way.
    outward: OutwardCalls,
    index: CachedToolIndex,
}

/// What the guards read and write.
pub struct PipelineStores {
    pub audit: Arc<dyn AuditStore>,
    /// Where what results lose is kept.
    pub results: Arc<dyn ResultStore>,
    /// Calls that wait for a person.
    pub approvals: Arc<dyn ApprovalStore>,
}

impl Pipeline {
    /// Puts the guards before the tools.
    pub fn new(
        catalog: Catalog,
        PipelineStores { audit, results, approvals }: PipelineStores,
        clock: Arc<dyn Clock>,
        sensitive: Sensitive,
        metrics: PipelineMetrics,
    ) -> Self {
        Self {
            catalog,
            audit,
            results,
            approvals,
            clock,
            sensitive: RwLock::new(Arc::new(sensitive)),
            metrics,
            outward: OutwardCalls::default(),
            index: CachedToolIndex::default(),
        }
    }

    /// The clock that audit rows go by.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The tools behind the guards.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools by their words, as the catalogue has them now. Who may use them is not looked at.
    pub async fn tool_index(&self) -> Arc<ToolIndex> {
        self.index.get(&self.catalog).await
    }

    /// The calls to other servers that are under way.
    pub const fn outward_calls(&self) -> &OutwardCalls {
        &self.outward
    }

    /// What must not travel.
    pub fn sensitive(&self) -> Arc<Sensitive> {
        Arc::clone(&self.sensitive.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on this must not travel.
    pub fn replace_sensitive(&self, sensitive: Sensitive) {
        *self.sensitive.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(sensitive);
    }

    /// From now on this secret must not travel either.
    pub fn add_sensitive(&self, secret: &Secret) {
        let mut sensitive = self.sensitive.write().unwrap_or_else(PoisonError::into_inner);
        if sensitive.redactor().knows(&[secret.expose()]) {
            return;
        }
        match sensitive.with(secret) {
            Ok(more) => *sensitive = Arc::new(more),
            Err(error) => tracing::error!(%error, "a key is not added to what must not travel"),
        }
    }

    /// What the parts of a message say about themselves: text that looks like a secret, or is personal.
    pub fn labels_of(&self, parts: &[Part]) -> Labels {
        taint::labels_of_parts(&self.sensitive(), parts)
    }

    /// Calls a tool of the catalogue. What the tool itself could not do is an output with `is_error`; an error is a
    /// refusal.
    pub async fn execute(&self, cx: &CallContext, call: ToolCall<'_>) -> Result<Outcome<ToolOutput>, ToolError> {
        if call.name.as_str() == ACTIVATE_SKILL && cx.agent.is_some() {
            return self.activate_skill(cx, call).await;
        }
        let tool = self.catalog.get(&call.name);
        self.call(cx, (&call.name, tool.as_ref()), call.arguments, Manner::Checked).await
    }

    /// Hands an agent a skill. A name that the agent has no skill of is refused like a tool that there is not.
    async fn activate_skill(&self, cx: &CallContext, call: ToolCall<'_>) -> Result<Outcome<ToolOutput>, ToolError> {
        match SkillContent::asked_for(cx, &self.catalog.skills(), &call) {
            Ok(content) => self.call(cx, (&call.name, Some(&content)), call.arguments, Manner::Checked).await,
            Err(failure) => {
                self.refuse(cx, &call.name);
                Ok(Outcome::Done(ToolOutput::error(failure.to_string())))
            }
        }
    }

    /// Calls something of a server in the server's own words: its arguments and its result are the server's business, its
    /// errors are handed through.
    pub async fn hand_through<C: Callee>(
        &self,
        cx: &CallContext,
        callee: &C,
        arguments: Arguments<'_>,
    ) -> Result<Outcome<C::Output>, ToolError> {
        self.call(cx, (&callee.traits().name, Some(callee)), arguments, Manner::HandedThrough)
            .await
    }

    /// The permit for a question to a server that calls nothing: a list, a completion.
    pub fn permit(&self, cx: &CallContext, what: &ToolTraits) -> Result<Permit, ToolError> {
        capability::permit(cx, what, Manner::HandedThrough)
    }

    async fn call<C: Callee>(
        &self,
        cx: &CallContext,
        callee: (&ToolName, Option<&C>),
        arguments: Arguments<'_>,
        manner: Manner,
    ) -> Result<Outcome<C::Output>, ToolError> {
        let span = tracing::debug_span!("execute", tool = %callee.0, trace = %cx.trace);
        // Pinned before it goes into the span, or the whole call would be moved there.
        pin!(self.recorded(cx, callee, arguments, manner)).instrument(span).await
    }

    async fn recorded<C: Callee>(
        &self,
        cx: &CallContext,
        callee: (&ToolName, Option<&C>),
        arguments: Arguments<'_>,
        manner: Manner,
    ) -> Result<Outcome<C::Output>, ToolError> {
        let mut record = audit::open(self, cx, callee.0, Some(&arguments)); // dropped unclosed: written as canceled
        let call = (callee.1, manner);
        let outcome = self.guarded(cx, call, arguments, &mut record).await;
        let outcome = loop_guard::note_outcome(cx, callee.0, outcome); // a run that is only refused must end too
        record.close(outcome.as_ref().map(output::is_failure));
        outcome
    }

    async fn guarded<C: Callee>(
        &self,
        cx: &CallContext,
        (callee, manner): (Option<&C>, Manner),
        arguments: Arguments<'_>,
        record: &mut audit::Record<'_>,
    ) -> Result<Outcome<C::Output>, ToolError> {
        let sensitive = self.sensitive();
        let named = (record.tool(), callee);
        let (callee, permit) = capability::check(&self.catalog, cx, named, manner)?; // the only key to a callee
        record.note_known();
        let arguments = arguments::check(cx, callee, arguments, manner).await?;
        let warning = loop_guard::check(cx, record.tool(), &arguments)?;
        let question = judge::judge(&sensitive, cx, (callee, manner), &arguments)?;
        let review::Reviewed { subject, question: rule } = review::review(cx, callee, &arguments).await?;
        let of_tool = |why| judge::Question::of_tool(cx, callee.sink(&arguments), why);
        let question = question.or_else(|| rule.map(of_tool));
        let is_approved = question.is_some();
        if let Some(question) = question {
            // Boxed, so that calls without a question have no room for it.
            Box::pin(approval::check(self, cx, (callee, &arguments), (question, subject.as_deref()))).await?;
        }
        record.commit_before_effect(callee.traits()).await?;
        let leaves = !matches!(callee.traits().origin, Origin::Builtin | Origin::Skill(_));
        // Whoever calls back is noticed by the trace.
        let live = leaves.then(|| self.outward.begin(cx.trace, cx.principal.owner(), cx.hops));
        let permit = permit
            .leaving(live.as_ref().map(OutwardCall::parent))
            .reviewed(subject)
            .approved(is_approved);
        let outcome = timeout::within(cx, callee, arguments, permit).await?;
        let Outcome::Done(mut output) = outcome else { return Ok(outcome) };
        let labels = output.label(&sensitive, cx, callee.traits());
        let losses = output.limit(&cx.config.limits, manner);
        if !losses.is_empty() {
            // Boxed, so that results of which nothing is lost have no room for it.
            Box::pin(keep::losses(self, cx, (&sensitive, labels), losses, &mut output)).await;
        }
        output.warn(warning);
        Ok(Outcome::Done(output))
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
