//! Updates of resources that a server may tell in several conversations at once. Each is told on once.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_POOL_WATCHED, MCP_UPDATE_GATHER};
use tokio::time::sleep;

use super::upstream::Upstream;
use crate::host::Change;

/// The resources whose updates are being gathered.
#[derive(Default)]
pub(super) struct Updates {
    gathering: Mutex<HashSet<String>>,
}

impl Updates {
    /// Whether this is the first of the updates that are gathered: whoever has it tells all of them at the end.
    fn begins(&self, uri: &str) -> bool {
        self.lock().insert(uri.to_owned())
    }

    /// The updates are told from now on one by one again.
    fn end(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn is_full(&self) -> bool {
        self.lock().len() >= MCP_POOL_WATCHED
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.gathering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upstream {
    /// A resource changed. A server with several conversations may say so in each, so what comes close together is told as
    /// one update, after the last of it: whoever looks then has missed nothing.
    pub(super) fn updated(&self, uri: String) {
        let (updates, parts) = (&self.inner.updates, &self.inner.parts);
        if parts.declared.is_none() || updates.is_full() {
            return self.announce(Change::Resource(uri));
        }
        if !updates.begins(&uri) {
            return;
        }
        let upstream = self.clone();
        parts.tracker.spawn(async move {
            let stop = upstream.inner.parts.stop.clone();
            stop.run_until_cancelled(sleep(MCP_UPDATE_GATHER)).await;
            // Before it is told: an update that comes now is another one.
            upstream.inner.updates.end(&uri);
            upstream.announce(Change::Resource(uri));
        });
    }
}

#[cfg(test)]
#[path = "updates_tests.rs"]
mod tests;
