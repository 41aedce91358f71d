//! Following the configuration: only servers whose entries differ are connected to anew. The old connection serves until
//! the new one is there, and then ends the calls it has.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::ServerName;
use openfang_types::limits::MCP_REPLACED_GRACE;
use tokio::time::{sleep, timeout};

use super::connected::Connected;
use super::{BTreeMap, Upstreams};

impl Upstreams {
    /// Takes over another list of servers.
    pub(crate) fn follow(&self, before: &[McpServerConfigEntry], after: &[McpServerConfigEntry]) {
        for gone in before.iter().filter(|entry| !after.iter().any(|other| other.name == entry.name)) {
            self.remove(&gone.name);
        }
        for entry in after {
            match before.iter().find(|known| known.name == entry.name) {
                Some(known) if known == entry => {}
                Some(_) if self.is_eager.load(Ordering::SeqCst) && self.needs_connection(entry) => {
                    self.replace(entry.clone());
                }
                Some(_) | None => self.put(entry.clone()),
            }
        }
    }

    /// Connects anew to a server that uses something that changed, if it is connected at all.
    pub(crate) fn renew(&self, entry: McpServerConfigEntry) {
        if entry.enabled && self.is_eager.load(Ordering::SeqCst) {
            self.replace(entry);
        }
    }

    /// Whether another connection takes the place of one that is in use.
    fn needs_connection(&self, entry: &McpServerConfigEntry) -> bool {
        let is_in_use = |known: &Arc<Connected>| known.entry.enabled && !entry.connects_like(&known.entry);
        entry.enabled && self.get(&entry.name).as_ref().is_some_and(is_in_use)
    }

    /// Connects to a server as it is now, and puts it in the place of what it was when that has gone well or badly.
    fn replace(&self, entry: McpServerConfigEntry) {
        let (Some(this), name) = (self.this.upgrade(), entry.name.clone()) else { return };
        let server = Arc::new(self.connected(entry));
        if let Some(superseded) = self.coming().insert(name.clone(), Arc::clone(&server)) {
            superseded.retire();
            superseded.upstream().stop();
        }
        server.upstream().start();
        self.tracker.spawn(async move {
            server.upstream().settled().await;
            this.arrived(&name, server);
        });
    }

    fn arrived(&self, name: &ServerName, server: Arc<Connected>) {
        let is_wanted = {
            let mut coming = self.coming();
            let is_wanted = coming.get(name).is_some_and(|wanted| Arc::ptr_eq(wanted, &server));
            if is_wanted {
                coming.remove(name);
            }
            is_wanted
        };
        if !is_wanted {
            return;
        }
        let alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.servers.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), server);
        if let Some(before) = &before {
            before.retire();
        }
        drop(alone);
        // What the new one said while it was coming is looked at now.
        self.noticed(name);
        self.list_tools();
        if let Some(before) = before {
            self.let_go(before);
        }
    }

    /// Ends a server that has no place any more, after the calls it has.
    pub(super) fn let_go(&self, server: Arc<Connected>) {
        let drain = self.reach.settings().config().limits.drain();
        if tokio::runtime::Handle::try_current().is_err() {
            server.upstream().stop();
            return;
        }
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            stop.run_until_cancelled(without_calls(&server, drain)).await;
            server.upstream().stop();
        });
    }

    pub(super) fn forget_coming(&self, name: &ServerName) {
        if let Some(server) = self.coming().remove(name) {
            server.retire();
            server.upstream().stop();
        }
    }

    pub(super) fn stop_coming(&self) {
        self.coming().values().for_each(|server| server.upstream().stop());
    }

    fn coming(&self) -> MutexGuard<'_, BTreeMap<ServerName, Arc<Connected>>> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when no call is under way, or when they have had their time. Who found the server just before it lost its
/// place has begun its call after the first pause.
async fn without_calls(server: &Connected, drain: Duration) {
    sleep(MCP_REPLACED_GRACE.min(drain)).await;
    let _ = timeout(drain, server.upstream().without_calls()).await;
}
