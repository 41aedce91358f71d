//! Hearing of changes to resources of a server, for as long as somebody wants to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::upstream::Upstream;
use super::{Connection, OutgoingRequest, RawMembers, Silent};
use crate::revision::Changes;

/// While it lives, changes of the resources are told by [`Upstream::changes`].
pub struct Watching {
    _until: DropGuard,
}

/// How many watch a resource, on servers that know one subscription of it, and whose these are.
#[derive(Default)]
pub(super) struct Watched {
    counts: Mutex<HashMap<String, BTreeMap<String, usize>>>,
}

/// A request that lasts as long as its connection.
pub(super) const EVER: Duration = Duration::from_secs(365 * 24 * 3_600);
/// How long to wait before a server is asked again for what it ended.
pub(super) const AGAIN: Duration = Duration::from_secs(5);

impl Upstream {
    /// Asks the server to tell an owner of changes to these.
    pub fn watch_resources(&self, owner: &str, uris: Vec<String>) -> Option<Watching> {
        if uris.is_empty() {
            return None;
        }
        uris.iter().for_each(|uri| self.inner.watched.add_one(owner, uri));
        let until = CancellationToken::new();
        let (upstream, gone, owner) = (self.clone(), until.clone(), owner.to_owned());
        self.inner.parts.tracker.spawn(async move {
            let stop = upstream.inner.parts.stop.clone();
            tokio::select! {
                () = gone.cancelled() => {}
                () = stop.cancelled() => {}
                () = watch(&upstream, &uris) => {}
            }
            upstream.unwatch(&owner, &uris).await;
        });
        Some(Watching { _until: until.drop_guard() })
    }

    /// Nobody watches these here any more.
    async fn unwatch(&self, owner: &str, uris: &[String]) {
        for uri in uris {
            if self.inner.watched.drop_one(owner, uri)
                && let Some(connection) = self.live()
                && connection.revision().facts().changes == Changes::Pushed
            {
                // It may have gone away meanwhile, and the subscription with it.
                let _ = connection
                    .ask("resources/unsubscribe", RawMembers::none().with("uri", uri), self.timeout())
                    .await;
            }
        }
    }
}

/// Watches on one connection after the other.
async fn watch(upstream: &Upstream, uris: &[String]) {
    loop {
        match upstream.connection().await {
            Ok(connection) => watch_on(upstream, &connection, uris).await,
            Err(_) => sleep(AGAIN).await,
        }
    }
}

async fn watch_on(upstream: &Upstream, connection: &Connection, uris: &[String]) {
    match connection.revision().facts().changes {
        Changes::Listened => {
            let wanted = serde_json::json!({ "resourceSubscriptions": uris });
            let members = RawMembers::none().with("notifications", &wanted);
            let _ = connection
                .request(OutgoingRequest::new("subscriptions/listen", members, EVER), &Silent)
                .await;
            sleep(AGAIN).await;
        }
        Changes::Pushed => {
            for uri in uris {
                let members = RawMembers::none().with("uri", uri);
                if let Err(error) = connection.ask("resources/subscribe", members, upstream.timeout()).await {
                    tracing::debug!(server = upstream.name(), uri, %error, "a resource cannot be watched");
                }
            }
            connection.over().await;
        }
    }
}

impl Watched {
    fn add_one(&self, owner: &str, uri: &str) {
        let mut counts = self.lock();
        *counts.entry(uri.to_owned()).or_default().entry(owner.to_owned()).or_default() += 1;
    }

    /// Whether that was the last one.
    fn drop_one(&self, owner: &str, uri: &str) -> bool {
        let mut counts = self.lock();
        let Some(owners) = counts.get_mut(uri) else { return false };
        if let Some(count) = owners.get_mut(owner) {
            *count -= 1;
        }
        owners.retain(|_, count| *count > 0);
        let is_last = owners.is_empty();
        if is_last {
            counts.remove(uri);
        }
        is_last
    }

    /// What an owner watches.
    pub(super) fn of(&self, owner: &str) -> Vec<String> {
        let counts = self.lock();
        let owned = counts.iter().filter(|(_, owners)| owners.contains_key(owner));
        owned.map(|(uri, _)| uri.clone()).collect()
    }

    /// Whether somebody watches one of these.
    pub(super) fn has_any_of(&self, uris: &BTreeSet<String>) -> bool {
        let counts = self.lock();
        uris.iter().any(|uri| counts.contains_key(uri))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, BTreeMap<String, usize>>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
