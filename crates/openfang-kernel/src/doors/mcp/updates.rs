//! What changes of the prompts and resources of MCP servers, for a client of the aggregate.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, SelectAll};
use futures_util::{StreamExt as _, future};
use openfang_mcp::host::{Change, ChangeFilter, Changes};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::servers::may_read;
use crate::Caller;
use crate::doors::Doors;
use crate::peers::upstreams::{ConnectedServer, Offered, ServerOffer, is_ours};

/// Tells of changed lists, and of changes to the wanted resources.
pub(super) fn changes(doors: &Doors, caller: &Caller, wanted: &ChangeFilter) -> Changes {
    let mut all = SelectAll::new();
    if wanted.prompts {
        all.push(lists(doors, caller, (Change::Prompts, ServerOffer::has_prompts_of)));
    }
    if wanted.resources {
        all.push(lists(doors, caller, (Change::Resources, ServerOffer::has_resources_of)));
    }
    let uris: Vec<String> = wanted.uris.iter().filter(|uri| !is_ours(uri)).cloned().collect();
    if !uris.is_empty() {
        all.push(Resources::new(doors, caller, uris).into_stream());
    }
    Box::pin(all.chain(stream::pending()))
}

/// Ticks when the servers that the caller may use have other lists of a kind.
fn lists(
    doors: &Doors,
    caller: &Caller,
    (change, is_same): (Change, fn(&ServerOffer, &ServerOffer) -> bool),
) -> BoxStream<'static, Change> {
    let (doors, caller) = (doors.clone(), caller.clone());
    let versions = doors.inner.upstreams.offerings().changes();
    let seen = doors.inner.upstreams.offerings().current();
    let state = (doors, caller, versions, seen);
    Box::pin(stream::unfold(state, move |(doors, caller, mut versions, mut seen)| {
        let change = change.clone();
        async move {
            loop {
                versions.changed().await.ok()?;
                let now = doors.inner.upstreams.offerings().current();
                let differs = differs(&doors, &caller, (&seen, &now), is_same);
                seen = now;
                if differs {
                    return Some((change, (doors, caller, versions, seen)));
                }
            }
        }
    }))
}

fn differs(
    doors: &Doors,
    caller: &Caller,
    (before, now): (&Offered, &Offered),
    is_same: fn(&ServerOffer, &ServerOffer) -> bool,
) -> bool {
    let cx = doors.inner.context(caller);
    let is_allowed = |server: &ConnectedServer| may_read(&cx, server);
    let (before, now) = (before.allowed(is_allowed), now.allowed(is_allowed));
    before.len() != now.len() || before.iter().zip(&now).any(|(before, now)| !is_same(before, now))
}

/// Resources that a client watches, each at the server that it belongs to.
struct Resources {
    doors: Doors,
    caller: Caller,
    uris: Vec<String>,
    versions: watch::Receiver<u64>,
    /// Whom each is watched at.
    servers: Vec<Option<Arc<ConnectedServer>>>,
    updates: SelectAll<BoxStream<'static, Change>>,
}

impl Resources {
    fn new(doors: &Doors, caller: &Caller, uris: Vec<String>) -> Self {
        let versions = doors.inner.upstreams.offerings().changes();
        let (doors, caller) = (doors.clone(), caller.clone());
        let mut this = Self { doors, caller, uris, versions, servers: Vec::new(), updates: SelectAll::new() };
        this.route();
        this
    }

    /// Watches each resource at the server that it belongs to by now.
    fn route(&mut self) {
        let cx = self.doors.inner.context(&self.caller);
        let offered = self.doors.inner.upstreams.offerings().current();
        let reader = |uri: &String| offered.reader(uri).filter(|server| may_read(&cx, server)).cloned();
        let servers: Vec<_> = self.uris.iter().map(reader).collect();
        let is_same = |(one, other): (&Option<_>, &Option<_>)| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if servers.len() == self.servers.len() && servers.iter().zip(&self.servers).all(is_same) {
            return;
        }
        let mut watched: BTreeMap<_, (Arc<ConnectedServer>, Vec<String>)> = BTreeMap::new();
        for (uri, server) in self.uris.iter().zip(&servers) {
            let Some(server) = server else { continue };
            let (_, uris) = watched
                .entry(server.entry.name.clone())
                .or_insert_with(|| (Arc::clone(server), Vec::new()));
            uris.push(uri.clone());
        }
        let owner = self.caller.principal.owner().as_str();
        self.updates = watched.into_values().map(|(server, uris)| updates_of(&server, owner, uris)).collect();
        self.servers = servers;
    }

    async fn next(&mut self) -> Option<Change> {
        loop {
            let next = async {
                match self.updates.next().await {
                    Some(change) => change,
                    // Nothing is watched until a server has it.
                    None => future::pending().await,
                }
            };
            tokio::select! {
                biased;
                changed = self.versions.changed() => {
                    changed.ok()?;
                    self.route();
                }
                change = next => return Some(change),
            }
        }
    }

    fn into_stream(self) -> BoxStream<'static, Change> {
        Box::pin(stream::unfold(self, |mut this| async move { Some((this.next().await?, this)) }))
    }
}

/// The changes of these resources of a server.
fn updates_of(server: &ConnectedServer, owner: &str, uris: Vec<String>) -> BoxStream<'static, Change> {
    let watching = server.upstream().watch_resources(owner, uris.clone());
    let state = (server.upstream().changes(), watching, uris, VecDeque::new());
    Box::pin(stream::unfold(state, |(mut receiver, watching, uris, mut missed)| async move {
        loop {
            if let Some(uri) = missed.pop_front() {
                return Some((Change::Resource(uri), (receiver, watching, uris, missed)));
            }
            match receiver.recv().await {
                Ok(Change::Resource(uri)) if uris.contains(&uri) => missed.push_back(uri),
                Ok(_) => {}
                // Whoever fell behind looks at everything again.
                Err(RecvError::Lagged(_)) => missed.extend(uris.iter().cloned()),
                Err(RecvError::Closed) => return None,
            }
        }
    }))
}
