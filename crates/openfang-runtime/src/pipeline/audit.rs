//! The record of a call. It opens in memory; for a tool that changes something a row is committed right before it is
//! called. Closing is one more row. A record that is dropped unclosed says that its caller went away.

use openfang_store::{AuditOutcome, AuditRow};
use openfang_types::ids::ToolName;
use openfang_types::tool::{Recorded, ToolTraits};
use tokio::time::Instant;

use super::{Pipeline, ToolError};
use crate::context::CallContext;

/// A call that is under way.
pub(super) struct Record<'a> {
    pipeline: &'a Pipeline,
    row: Option<AuditRow>,
    begun: Instant,
    is_known: bool,
    /// The operator does not want to read of it, as long as it goes well.
    is_unremarkable: bool,
}

/// Opens the record, before anything is checked.
pub(super) fn open<'a>(pipeline: &'a Pipeline, cx: &CallContext, tool: &ToolName) -> Record<'a> {
    let row = AuditRow {
        trace: cx.trace,
        at: pipeline.clock.now(),
        owner: cx.principal.owner().clone(),
        door: cx.door,
        agent: cx.agent.as_ref().map(|agent| agent.name.clone()),
        run: cx.run.as_ref().map(|run| run.id),
        tool: tool.clone(),
        outcome: AuditOutcome::Started,
        micros: 0,
    };
    Record { pipeline, row: Some(row), begun: Instant::now(), is_known: false, is_unremarkable: false }
}

impl Record<'_> {
    /// Makes sure that an effect cannot happen unrecorded. What only reads is recorded when it ends.
    pub(super) async fn commit_before_effect(&mut self, cx: &CallContext, tool: &ToolTraits) -> Result<(), ToolError> {
        self.is_known = true;
        self.is_unremarkable = tool.annotations.read_only_hint && !cx.config.audit.reads;
        match tool.recorded {
            Recorded::After => return Ok(()),
            Recorded::Before => {}
        }
        let Some(row) = &self.row else { return Ok(()) };
        // Both are queued before either is waited for, so that one commit holds them.
        let recorded = self.pipeline.audit.commit(row.clone());
        let committed = match &cx.run {
            Some(run) => futures_util::future::try_join(recorded, run.reach_durable_point()).await.map(drop),
            None => recorded.await,
        };
        committed.map_err(|cause| ToolError::Unrecorded { tool: row.tool.clone(), cause })
    }

    /// Says how it went: refused, or carried out and failed or not.
    pub(super) fn close(mut self, outcome: Result<bool, &ToolError>) {
        let (word, outcome) = match outcome {
            Ok(true) => ("tool_failed", AuditOutcome::ToolFailed),
            Ok(false) => ("succeeded", AuditOutcome::Succeeded),
            Err(ToolError::Cancelled(_)) => ("canceled", AuditOutcome::Cancelled),
            Err(error) => (error.reason(), AuditOutcome::Refused(error.reason().to_owned())),
        };
        self.write(word, outcome);
    }

    fn write(&mut self, word: &'static str, outcome: AuditOutcome) {
        let Some(mut row) = self.row.take() else { return };
        let took = self.begun.elapsed();
        let known = self.is_known.then_some(&row.tool);
        self.pipeline.metrics.count(known, word, took);
        if self.is_unremarkable && matches!(outcome, AuditOutcome::Succeeded | AuditOutcome::ToolFailed) {
            return;
        }
        row.outcome = outcome;
        row.micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.pipeline.audit.record(row);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.write("canceled", AuditOutcome::Cancelled);
    }
}
