//! A change of the house: refused and written down, or written down, done, and written down again.

use std::sync::Arc;

use openfang_runtime::pipeline::ToolError;
use openfang_store::{AuditKind, AuditOutcome, AuditRow};
use openfang_types::ids::ToolName;
use tokio::time::Instant;

use crate::{Caller, Kernel, KernelError};

/// Who does what to whom or to what.
pub(crate) struct Change<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) what: &'static str,
    pub(crate) subject: &'a str,
}

impl Change<'_> {
    /// The log of calls has no arguments; whom a change concerns matters most, so that is part of its name. A user's name
    /// may have one character that a name of the log may not.
    fn audited_as(&self) -> Result<ToolName, KernelError> {
        format!("{}.{}", self.what, self.subject.replace('@', "_at_"))
            .parse()
            .map_err(|_| KernelError::NotPermitted("this has no name in the audit log"))
    }
}

impl Kernel {
    /// Makes a change if it is allowed. Once it has begun it is made to its end, whether or not its caller waits.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        change: Change<'_>,
        allowed: Result<(), KernelError>,
        work: impl Future<Output = Result<T, KernelError>> + Send + 'static,
    ) -> Result<T, KernelError> {
        let tool = change.audited_as()?;
        let row = AuditRow {
            trace: change.caller.trace,
            at: self.inner.clock.now(),
            owner: change.caller.principal.owner().clone(),
            door: change.caller.door,
            agent: None,
            run: None,
            tool: tool.clone(),
            outcome: AuditOutcome::Started,
            micros: 0,
        };
        let audit = Arc::clone(&self.inner.stores.audit);
        if let Err(error) = allowed {
            let outcome = AuditOutcome::Refused(error.reason().to_owned());
            audit.record(AuditKind::Refusal, AuditRow { outcome, ..row });
            return Err(error);
        }
        let unrecorded = |cause| ToolError::Unrecorded { tool: tool.clone(), cause };
        audit.commit(row.clone()).await.map_err(unrecorded)?;
        let begun = Instant::now();
        let working = self.inner.tracker.spawn(async move {
            let outcome = work.await;
            let word = match &outcome {
                Ok(_) => AuditOutcome::Succeeded,
                Err(error) => AuditOutcome::Refused(error.reason().to_owned()),
            };
            let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            audit.record(AuditKind::Deed, AuditRow { outcome: word, micros, ..row });
            outcome
        });
        working.await.map_err(|_| ToolError::Panicked(tool))?
    }
}
