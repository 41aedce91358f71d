//! Updates that several conversations tell of: how often each is told on.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::capabilities::ClientCapabilities;
use crate::client::{Endpoint, Locator, NoEndpoint, Observer, UpstreamParts};

struct Nowhere;

impl Locator for Nowhere {
    fn endpoint(&self) -> Result<Endpoint, NoEndpoint> {
        Err(NoEndpoint::for_now("nowhere"))
    }
}

impl Observer for Nowhere {
    fn changed(&self) {}
}

fn upstream(declared: ClientCapabilities) -> Upstream {
    Upstream::new(UpstreamParts {
        conversations: 8,
        counts: Arc::default(),
        name: "s".to_owned(),
        place: Arc::new(Nowhere),
        timeout: Duration::ZERO,
        startup: Duration::ZERO,
        declared,
        instance: None,
        only: None,
        known: None,
        manifest: None,
        observer: Arc::new(Nowhere),
        tracker: TaskTracker::new(),
        stop: CancellationToken::new(),
    })
}

/// The resources that were told of so far.
fn told(changes: &mut Receiver<Change>) -> Vec<String> {
    let mut uris = Vec::new();
    loop {
        match changes.try_recv() {
            Ok(Change::Resource(uri)) => uris.push(uri),
            Ok(other) => panic!("{other:?}"),
            Err(TryRecvError::Empty) => return uris,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_that_two_conversations_report_is_told_once_and_a_later_one_again() {
    let upstream = upstream(ClientCapabilities::everything());
    let mut changes = upstream.changes();

    for _ in 0..2 {
        for uri in ["a:1", "a:1", "b:1"] {
            upstream.updated(uri.to_owned());
        }
        sleep(2 * MCP_UPDATE_GATHER).await;

        let mut uris = told(&mut changes);
        uris.sort();
        assert_eq!(uris, ["a:1", "b:1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_with_one_conversation_is_passed_on_at_once_and_every_time() {
    let upstream = upstream(ClientCapabilities::NONE);
    let mut changes = upstream.changes();

    upstream.updated("a:1".to_owned());
    upstream.updated("a:1".to_owned());

    assert_eq!(told(&mut changes), ["a:1", "a:1"]);
}

#[tokio::test(start_paused = true)]
async fn more_resources_than_are_gathered_are_told_at_once() {
    let upstream = upstream(ClientCapabilities::everything());
    let mut changes = upstream.changes();

    for number in 0..=MCP_POOL_WATCHED {
        upstream.updated(format!("a:{number}"));
    }

    assert_eq!(told(&mut changes), [format!("a:{MCP_POOL_WATCHED}")]);
}
