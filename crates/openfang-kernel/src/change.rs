//! A change of users, keys, settings, MCP servers or the home: refused and recorded, or recorded, made, and recorded again.

use std::sync::Arc;

use openfang_store::{
    AuditKind, AuditOutcome, AuditRow, AuditStore, AuditSubject, ChangeAction, ChangeTarget, StoreError,
};
use openfang_types::clock::Clock;
use tokio::time::Instant;

use crate::drain::Life;
use crate::{Caller, KernelError};

/// Who does what to what.
pub(crate) struct Change<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) action: ChangeAction,
    pub(crate) target: ChangeTarget,
}

/// Why a change that is allowed was not made to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The change could not be recorded, so it was not made.
    #[error("nothing was changed: the audit row of \"{change}\" could not be written ({cause})")]
    Unrecorded { change: String, cause: StoreError },
    #[error("\"{0}\" failed with an internal error; see the log for this request's trace id")]
    Broke(String),
}

/// Makes changes, and records them.
#[derive(Clone)]
pub(crate) struct ChangeRecorder {
    audit: Arc<dyn AuditStore>,
    clock: Arc<dyn Clock>,
    life: Life,
}

impl ChangeRecorder {
    pub(crate) fn new(audit: Arc<dyn AuditStore>, clock: Arc<dyn Clock>, life: Life) -> Self {
        Self { audit, clock, life }
    }

    /// Makes a change if it is allowed. Once it has begun it is made to its end, whether or not its caller waits.
    pub(crate) async fn make<T: Send + 'static>(
        &self,
        change: Change<'_>,
        allowed: Result<(), KernelError>,
        work: impl Future<Output = Result<T, KernelError>> + Send + 'static,
    ) -> Result<T, KernelError> {
        let Change { caller, action, target } = change;
        let subject = AuditSubject::Change { action, target };
        let name = subject.to_string();
        let row = AuditRow {
            trace: caller.trace,
            at: self.clock.now(),
            owner: caller.principal.owner().clone(),
            door: caller.door,
            agent: None,
            run: None,
            subject,
            outcome: AuditOutcome::Started,
            micros: 0,
        };
        let audit = Arc::clone(&self.audit);
        if let Err(error) = allowed {
            let outcome = AuditOutcome::Refused(error.reason().to_owned());
            audit.record(AuditKind::Refusal, AuditRow { outcome, ..row });
            return Err(error);
        }
        let unrecorded = |cause| ChangeError::Unrecorded { change: name.clone(), cause };
        audit.commit(row.clone()).await.map_err(unrecorded)?;
        let begun = Instant::now();
        let working = self.life.tracker().spawn(async move {
            let outcome = work.await;
            let word = match &outcome {
                Ok(_) => AuditOutcome::Succeeded,
                Err(error) => AuditOutcome::Refused(error.reason().to_owned()),
            };
            let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            audit.record(AuditKind::Deed, AuditRow { outcome: word, micros, ..row });
            outcome
        });
        working.await.map_err(|_| ChangeError::Broke(name))?
    }
}
