//! Answers that nobody reads: over HTTP/2 a peer can keep its connection alive and take nothing of them.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use openfang_kernel::{Begin, Caller, Follow, Kernel, TaskStream};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::event::{StreamItem, Until};
use openfang_types::ids::TaskId;
use openfang_types::limits::{HTTP2_PIECE_BYTES, Limits, STREAM_BATCH_BYTES, STREAMS_LARGE_PER_OWNER};
use serde_json::json;

use crate::http::any_port;
use crate::support::frames::{DATA, END_STREAM, Http2, RESET, Window};
use crate::support::submit;

/// Nothing waits for it when things go well.
const PATIENCE: Duration = Duration::from_secs(30);

const WAITS: &str = "[[rules]]\nsteps = [{ chunk = \"a\" }, { wait_for_cancel = true }]\n";

async fn server(limits: Limits) -> (TestHome, TestServer) {
    let home = TestHome::new().with_script("waits", &[], WAITS);
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let limits = Limits { drain_secs: 0, ..limits };
    let server = TestServer::start(home.boot_with(Config { a2a, limits, ..any_port() }).start().unwrap()).await;
    (home, server)
}

/// A task that goes on, with a first message of this length.
async fn task(server: &TestServer, length: usize) -> TaskId {
    let caller = callers::local(&server.kernel);
    submit(&server.kernel, &caller, "waits", &"x".repeat(length)).await.id
}

#[tokio::test]
async fn an_answer_whose_window_stays_shut_is_dropped_and_its_stream_closed() {
    let (_home, server) = server(Limits { write_stall_secs: 1, ..Limits::default() }).await;
    let task = task(&server, 3 * HTTP2_PIECE_BYTES).await;
    let subscribe = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task}}).to_string();
    let tools = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    let mcp =
        [("content-type", "application/json"), ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let mut peer = Http2::open(server.address, Window::Shut).await;

    peer.ask(1, &format!("/api/tasks/{task}/events"), &[], None).await;
    peer.ask(3, "/a2a", &[("content-type", "application/json"), ("a2a-version", "1.0")], Some(&subscribe))
        .await;
    peer.ask(5, &format!("/api/tasks/{task}"), &[], None).await;
    peer.ask(7, "/mcp", &mcp, Some(&tools.to_string())).await;
    // One of them takes a little, and then nothing.
    peer.give(5, 100).await;

    let mut closed = BTreeSet::new();
    while closed.len() < 4 {
        let frame = tokio::time::timeout(PATIENCE, peer.next()).await.expect("it is closed");
        let frame = frame.expect("the connection stays open");
        if frame.kind == RESET {
            closed.insert(frame.stream);
        }
    }
    assert_eq!(closed, BTreeSet::from([1, 3, 5, 7]));
    peer.ask(9, "/health", &[], None).await;
    peer.give(9, 60_000).await;
    loop {
        let frame = tokio::time::timeout(PATIENCE, peer.next()).await.unwrap().unwrap();
        if (frame.stream, frame.kind, frame.flags & END_STREAM) == (9, DATA, END_STREAM) {
            break;
        }
    }
    drop(peer);
    server.stop().await;
}

#[tokio::test]
async fn a_stream_on_which_nothing_happens_is_neither_stalled_nor_idle() {
    let limits = Limits { write_stall_secs: 1, header_read_secs: 1, stream_keep_alive_secs: 1, ..Limits::default() };
    let (_home, server) = server(limits).await;
    let task = task(&server, 10).await;
    let mut peer = Http2::open(server.address, Window::Usual).await;

    peer.ask(1, &format!("/api/tasks/{task}/events"), &[], None).await;

    let mut comments = 0;
    while comments < 4 {
        let frame = tokio::time::timeout(PATIENCE, peer.next())
            .await
            .unwrap()
            .expect("the connection stays open");
        assert_ne!(frame.kind, RESET, "the stream stays open");
        comments += usize::from(frame.kind == DATA && frame.payload.starts_with(b":"));
    }
    drop(peer);
    server.stop().await;
}

async fn follow(kernel: &Kernel, caller: &Caller, task: TaskId, begin: Begin) -> TaskStream {
    kernel.follow(caller, task, Follow { begin, until: Until::Ended }).await.unwrap()
}

#[tokio::test]
async fn few_streams_of_an_owner_hold_something_large_and_the_others_wait_for_their_turn() {
    let (_home, server) = server(Limits::default()).await;
    let kernel = &server.kernel;
    let caller = callers::local(kernel);
    let (large, small) = (task(&server, 2 * STREAM_BATCH_BYTES).await, task(&server, 10).await);
    for begin in [Begin::Now, Begin::After(0)] {
        let mut holding = Vec::new();
        for _ in 0..STREAMS_LARGE_PER_OWNER {
            let mut stream = follow(kernel, &caller, large, begin).await;
            assert!(matches!(stream.next().await.unwrap(), Some(StreamItem::Snapshot(..) | StreamItem::Event(_))));
            holding.push(stream);
        }
        let mut next = follow(kernel, &caller, large, begin).await;
        let mut next = pin!(next.next());

        let mut other = follow(kernel, &caller, small, begin).await;
        tokio::select! {
            biased;
            _ = &mut next => panic!("the owner's streams hold enough"),
            item = other.next() => assert!(item.unwrap().is_some(), "what is small needs no turn"),
        }
        drop(holding);
        let item = tokio::time::timeout(PATIENCE, next).await.expect("it is its turn").unwrap();
        assert!(item.is_some());
    }
    server.stop().await;
}
