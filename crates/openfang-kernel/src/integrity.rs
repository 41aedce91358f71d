//! The full check of the database, in the background: after a process of this home ended uncleanly, and when reads fail.
//! Damage that it finds stays in `/health` until the next start.

use std::sync::{Mutex, PoisonError};

use openfang_store::DatabaseFile;
use openfang_types::limits::READ_FAILURE_SHOWN;
use tokio::time::Instant;

use crate::Kernel;

/// How the check stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseCheck {
    Running,
    Passed,
    /// It could not be carried out.
    Failed(String),
    Damaged(String),
}

/// What is known about the database as a whole.
pub(crate) struct Integrity {
    /// Whether a process ended uncleanly before this one began.
    is_due: bool,
    state: Mutex<(Option<DatabaseCheck>, Option<Instant>)>,
}

impl Integrity {
    pub(crate) fn new(is_due: bool) -> Self {
        Self { is_due, state: Mutex::default() }
    }

    fn check(&self) -> Option<DatabaseCheck> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Whether a check may begin; if so, it has.
    fn begin(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = state.1.is_some_and(|begun| begun.elapsed() < READ_FAILURE_SHOWN);
        let is_settled = matches!(state.0, Some(DatabaseCheck::Running | DatabaseCheck::Damaged(_)));
        if is_recent || is_settled {
            return false;
        }
        *state = (Some(DatabaseCheck::Running), Some(Instant::now()));
        true
    }

    fn end(&self, check: DatabaseCheck) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(check);
    }
}

impl Kernel {
    /// Checks the database if a process ended uncleanly before this one began.
    pub(crate) fn check_after_unclean_end(&self) {
        if self.inner.integrity.is_due {
            self.check_database();
        }
    }

    /// Checks the whole database beside everything else, unless that is going on or was done a moment ago.
    pub(crate) fn check_database(&self) {
        if self.inner.node.is_none() || !self.inner.integrity.begin() {
            return;
        }
        let (kernel, draining) = (self.clone(), self.inner.life.draining().clone());
        self.inner.life.tracker().spawn(async move {
            let path = kernel.inner.home.database();
            let check = kernel.inner.life.tracker().spawn_blocking(move || {
                let file = DatabaseFile::open(&path).map_err(|error| error.to_string())?;
                Ok::<_, String>((file.interrupter(), file))
            });
            let (interrupter, file) = match check.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(opened) => opened,
                Err(why) => return kernel.inner.integrity.end(DatabaseCheck::Damaged(why)),
            };
            let mut checking = kernel.inner.life.tracker().spawn_blocking(move || file.integrity());
            let checked = tokio::select! {
                checked = &mut checking => checked,
                () = draining.cancelled() => return drop(interrupter),
            };
            let check = match checked {
                Ok(Ok(None)) => DatabaseCheck::Passed,
                Ok(Ok(Some(damage))) => DatabaseCheck::Damaged(damage),
                Ok(Err(error)) => DatabaseCheck::Failed(error.to_string()),
                Err(panic) => DatabaseCheck::Failed(panic.to_string()),
            };
            if check != DatabaseCheck::Passed {
                tracing::error!(?check, "the check of the database found something; see `openfang db check`");
            }
            kernel.inner.integrity.end(check);
        });
    }

    /// How the check of the whole database stands, if there was a reason for one.
    pub fn database_check(&self) -> Option<DatabaseCheck> {
        self.inner.integrity.check()
    }

    /// Why the store cannot be written or read, if it cannot.
    pub fn store_failure(&self) -> Option<String> {
        let health = &self.inner.stores.health;
        let damage = || match self.database_check() {
            Some(DatabaseCheck::Damaged(why)) => Some(why),
            Some(DatabaseCheck::Running | DatabaseCheck::Passed | DatabaseCheck::Failed(_)) | None => None,
        };
        health.failing().or_else(|| health.unreadable()).or_else(damage)
    }
}
