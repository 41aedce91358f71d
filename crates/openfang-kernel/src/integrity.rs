//! The full check of the database, in the background: after a process of this home ended uncleanly, and when reads fail.
//! Damage that it finds stays in `/health` until the next start.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_store::{DatabaseFile, StoreHealth};
use openfang_types::limits::READ_FAILURE_SHOWN;
use tokio::time::Instant;

use crate::drain::Life;

/// How the check stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseCheck {
    Running,
    Passed,
    /// It could not be carried out.
    Failed(String),
    Damaged(String),
}

/// What is known about the database as a whole. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Integrity {
    inner: Arc<Inner>,
}

struct Inner {
    /// The file; none where the stores are not the home's own.
    database: Option<PathBuf>,
    /// Whether a process ended uncleanly before this one began.
    is_due: bool,
    state: Mutex<(Option<DatabaseCheck>, Option<Instant>)>,
    health: Arc<dyn StoreHealth>,
    life: Life,
}

impl Integrity {
    pub(crate) fn new(database: Option<PathBuf>, is_due: bool, health: Arc<dyn StoreHealth>, life: Life) -> Self {
        Self { inner: Arc::new(Inner { database, is_due, state: Mutex::default(), health, life }) }
    }

    /// How the check of the whole database stands, if there was a reason for one.
    pub(crate) fn check(&self) -> Option<DatabaseCheck> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Whether a check may begin; if so, it has.
    fn begin(&self) -> bool {
        let mut state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = state.1.is_some_and(|begun| begun.elapsed() < READ_FAILURE_SHOWN);
        let is_settled = matches!(state.0, Some(DatabaseCheck::Running | DatabaseCheck::Damaged(_)));
        if is_recent || is_settled {
            return false;
        }
        *state = (Some(DatabaseCheck::Running), Some(Instant::now()));
        true
    }

    fn end(&self, check: DatabaseCheck) {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(check);
    }

    /// Checks the database if a process ended uncleanly before this one began.
    pub(crate) fn check_after_unclean_end(&self) {
        if self.inner.is_due {
            self.check_whole();
        }
    }

    /// Checks the whole database beside everything else, unless that is going on or was done a moment ago.
    pub(crate) fn check_whole(&self) {
        let Some(path) = self.inner.database.clone().filter(|_| self.begin()) else { return };
        let (this, draining) = (self.clone(), self.inner.life.draining().clone());
        self.inner.life.tracker().spawn(async move {
            let check = this.inner.life.tracker().spawn_blocking(move || {
                let file = DatabaseFile::open(&path).map_err(|error| error.to_string())?;
                Ok::<_, String>((file.interrupter(), file))
            });
            let (interrupter, file) = match check.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(opened) => opened,
                Err(why) => return this.end(DatabaseCheck::Damaged(why)),
            };
            let mut checking = this.inner.life.tracker().spawn_blocking(move || file.integrity());
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
            this.end(check);
        });
    }

    /// Why the store cannot be written or read, if it cannot.
    pub(crate) fn failure(&self) -> Option<String> {
        let health = &self.inner.health;
        let damage = || match self.check() {
            Some(DatabaseCheck::Damaged(why)) => Some(why),
            Some(DatabaseCheck::Running | DatabaseCheck::Passed | DatabaseCheck::Failed(_)) | None => None,
        };
        health.failing().or_else(|| health.unreadable()).or_else(damage)
    }
}
