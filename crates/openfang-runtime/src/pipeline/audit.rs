//! The record of a call. It opens in memory; for a tool that changes something a row is committed right before it is
//! called. Closing is one more row. A record that is dropped unclosed says that its caller went away.

use std::time::Duration;

use jiff::Timestamp;
use openfang_store::{AuditArguments, AuditKind, AuditOutcome, AuditRow, AuditSubject};
use openfang_types::call::Arguments;
use openfang_types::ids::ToolName;
use openfang_types::limits::AUDIT_ARGUMENTS_BYTES;
use openfang_types::tool::{Recorded, ToolTraits};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::digest::hex;
use super::{Pipeline, ToolError};
use crate::context::CallContext;

/// A call that is under way.
pub(super) struct Record<'a> {
    pipeline: &'a Pipeline,
    cx: &'a CallContext,
    tool: &'a ToolName,
    at: Timestamp,
    begun: Instant,
    is_open: bool,
    is_known: bool,
    arguments: Option<AuditArguments>,
    /// What its last row is about.
    kind: AuditKind,
    /// The operator does not want to read of it, as long as it goes well.
    is_unremarkable: bool,
}

/// Opens the record, before anything is checked. Nothing is called without arguments; what is refused without may have none.
pub(super) fn open<'a>(
    pipeline: &'a Pipeline,
    cx: &'a CallContext,
    tool: &'a ToolName,
    arguments: Option<&Arguments<'_>>,
) -> Record<'a> {
    let (at, begun) = (pipeline.clock.now(), Instant::now());
    Record {
        pipeline,
        cx,
        tool,
        at,
        begun,
        is_open: true,
        is_known: false,
        arguments: arguments.map(|arguments| recorded(pipeline, cx, arguments.json())),
        kind: AuditKind::Refusal,
        is_unremarkable: false,
    }
}

impl<'a> Record<'a> {
    /// Which tool it is about.
    pub(super) const fn tool(&self) -> &'a ToolName {
        self.tool
    }

    /// The tool exists for this caller, so metrics may name it.
    pub(super) const fn note_known(&mut self) {
        self.is_known = true;
    }

    /// Makes sure that an effect cannot happen unrecorded. What only reads is recorded when it ends.
    pub(super) async fn commit_before_effect(&mut self, tool: &ToolTraits) -> Result<(), ToolError> {
        self.is_unremarkable = tool.annotations.read_only_hint && !self.cx.config.audit.reads;
        let is_read = tool.annotations.read_only_hint;
        match tool.recorded {
            // The row of a deed is never given up: where rows pile up, it waits like any other deed.
            Recorded::After if is_read || self.pipeline.audit.keeps_up() => {
                self.kind = if is_read { AuditKind::Read } else { AuditKind::Deed };
                return Ok(());
            }
            Recorded::After | Recorded::Before => {}
        }
        // Both are queued before either is waited for, so that one commit holds them.
        // Whoever goes away meanwhile does not know whether it has begun.
        self.kind = AuditKind::Deed;
        let recorded = self.pipeline.audit.begin(self.row(AuditOutcome::Started, Duration::ZERO));
        let committed = match &self.cx.run {
            Some(run) => futures_util::future::try_join(recorded, run.reach_durable_point()).await.map(drop),
            None => recorded.await,
        };
        if committed.is_err() {
            self.kind = AuditKind::Refusal;
        }
        committed.map_err(|cause| ToolError::Unrecorded { tool: self.tool.clone(), cause })
    }

    /// Says how it went: refused, or carried out and failed or not.
    pub(super) fn close(mut self, outcome: Result<bool, &ToolError>) {
        let (word, outcome) = match outcome {
            Ok(true) => ("tool_failed", AuditOutcome::ToolFailed),
            Ok(false) => ("succeeded", AuditOutcome::Succeeded),
            Err(ToolError::Cancelled(_)) => ("canceled", AuditOutcome::Cancelled),
            Err(ToolError::Failed { .. }) => ("tool_failed", AuditOutcome::ToolFailed),
            Err(error) => (error.true_reason(), AuditOutcome::Refused(error.true_reason().to_owned())),
        };
        self.write(word, outcome);
    }

    fn write(&mut self, word: &'static str, outcome: AuditOutcome) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let took = self.begun.elapsed();
        let known = self.is_known.then_some(self.tool);
        self.pipeline.metrics.count(known, word, took);
        if self.is_unremarkable && matches!(outcome, AuditOutcome::Succeeded | AuditOutcome::ToolFailed) {
            return;
        }
        self.pipeline.audit.record(self.kind, self.row(outcome, took));
    }

    fn row(&self, outcome: AuditOutcome, took: Duration) -> AuditRow {
        AuditRow {
            trace: self.cx.trace,
            at: self.at,
            owner: self.cx.principal.owner().clone(),
            door: self.cx.door,
            agent: self.cx.agent.as_ref().map(|agent| agent.name.clone()),
            run: self.cx.run.as_ref().map(|run| run.id),
            subject: AuditSubject::Call { tool: self.tool.clone(), arguments: self.arguments.clone() },
            outcome,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

impl Pipeline {
    /// Records that a conversation was compacted.
    pub(crate) fn note_compaction(&self, cx: &CallContext, before: u64, after: u64) {
        let row = AuditRow {
            trace: cx.trace,
            at: self.clock.now(),
            owner: cx.principal.owner().clone(),
            door: cx.door,
            agent: cx.agent.as_ref().map(|agent| agent.name.clone()),
            run: cx.run.as_ref().map(|run| run.id),
            subject: AuditSubject::Compact { before, after },
            outcome: AuditOutcome::Succeeded,
            micros: 0,
        };
        self.audit.record(AuditKind::Deed, row);
    }
}

/// What is recorded of arguments: their digest, and their text if the operator wants it and nothing in it looks secret.
fn recorded(pipeline: &Pipeline, cx: &CallContext, arguments: &RawValue) -> AuditArguments {
    let bytes = arguments.get().as_bytes();
    let is_wanted = cx.config.audit.arguments && bytes.len() <= AUDIT_ARGUMENTS_BYTES;
    let may_be_kept = || pipeline.sensitive().labels_of_json(arguments, "arguments").is_empty();
    AuditArguments {
        sha256: hex(&Sha256::digest(bytes)),
        text: (is_wanted && may_be_kept()).then(|| arguments.get().to_owned()),
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.write("canceled", AuditOutcome::Cancelled);
    }
}
