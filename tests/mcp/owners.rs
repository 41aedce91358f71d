//! What one user takes leaves others theirs: sessions, streams, subscriptions. And what strange ids leave behind.

use openfang_kernel::Kernel;
use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::http::Client;
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::{Limits, MCP_URI_MAX_BYTES};
use openfang_types::taint::Label;
use serde_json::{Value, json};

use super::wire::{agents, initialize, request, session};

/// A server with these limits, and two users of it.
struct Shared {
    server: TestServer,
    ada: Client,
    bob: Client,
    _home: TestHome,
}

impl Shared {
    async fn with(limits: Limits) -> Self {
        let home = agents(TestHome::new());
        let config = Config { limits, ..crate::http::any_port() };
        let kernel = home.boot_with(config).tool(Probe::shell().boxed()).start().unwrap();
        let server = TestServer::start(kernel).await;
        let (ada, bob) = (user(&server.kernel, "ada").await, user(&server.kernel, "bob").await);
        let (ada, bob) = (server.client().bearer(&ada), server.client().bearer(&bob));
        Self { server, ada, bob, _home: home }
    }

    /// What is counted by now.
    fn counted(&self, metric: &str) -> u64 {
        let metrics = self.server.kernel.metrics();
        let line = metrics.lines().find_map(|line| line.strip_prefix(metric));
        line.unwrap_or_else(|| panic!("no {metric} in {metrics}")).trim().parse().unwrap()
    }
}

async fn user(kernel: &Kernel, name: &str) -> String {
    let wanted = UserWanted {
        name: name.parse().unwrap(),
        grants: vec!["*".to_owned(), "agent:steps/*".to_owned(), "agent:waits/*".to_owned(), "agent:asks/*".to_owned()],
        password: None,
        again: false,
    };
    kernel.add_user(&callers::operator(kernel), wanted).await.unwrap();
    key(kernel, name, None).await
}

async fn key(kernel: &Kernel, name: &str, entry_label: Option<Label>) -> String {
    let wanted = KeyWanted {
        user: name.parse().unwrap(),
        label: "test".to_owned(),
        entry_label,
        profile: None,
        expires_at: None,
    };
    let made = kernel.create_user_key(&callers::operator(kernel), wanted).await.unwrap();
    made.key.expose().to_owned()
}

fn ping() -> Value {
    request(1, "ping", json!({}))
}

/// Opens `/sse`, and returns where to post to.
async fn open_sse(client: &Client) -> (openfang_testkit::http::Lines, String) {
    let mut stream = client.stream("GET", "/sse", None).await;
    loop {
        if let Some(path) = stream.next().await.unwrap().strip_prefix("data: ") {
            return (stream, path.to_owned());
        }
    }
}

#[tokio::test]
async fn a_user_whose_sessions_are_all_in_use_is_told_so_and_others_begin_theirs() {
    let site = Shared::with(Limits { mcp_sessions_per_owner: 3, ..Limits::default() }).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let client = session(&site.ada, "2025-11-25", json!({})).await;
        let mut stream = client.stream("GET", "/mcp", None).await;
        while !stream.next().await.unwrap().is_empty() {}
        open.push((client, stream));
    }

    let one_more = session(&site.ada, "2025-11-25", json!({})).await;
    let refused = one_more.post("/mcp", &ping()).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    let bobs = session(&site.bob, "2025-11-25", json!({})).await;
    assert_eq!(bobs.post("/mcp", &ping()).await.status, 200);

    let (first, stream) = open.remove(0);
    assert_eq!(first.post("/mcp", &ping()).await.status, 200, "what is open goes on");
    assert_eq!(first.send("DELETE", "/mcp", None).await.status, 200);
    assert_eq!(one_more.post("/mcp", &ping()).await.status, 200);
    drop((stream, open));
    site.server.stop().await;
}

#[tokio::test]
async fn a_user_who_has_all_the_sse_streams_that_it_may_have_leaves_others_theirs() {
    let site = Shared::with(Limits { sse_streams_per_owner: 2, ..Limits::default() }).await;
    let held = (open_sse(&site.ada).await, open_sse(&site.ada).await);

    let refused = site.ada.send("GET", "/sse", None).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    let (mut stream, path) = open_sse(&site.bob).await;
    assert_eq!(site.bob.post(&path, &initialize("2024-11-05", json!({}))).await.status, 202);
    assert_eq!(stream.event().await.unwrap().2["result"]["protocolVersion"], "2024-11-05");

    drop((held, stream));
    site.server.stop().await;
}

#[tokio::test]
async fn what_is_posted_to_a_stream_brings_the_label_of_the_key_that_posts() {
    let site = Shared::with(Limits::default()).await;
    let doubted = site
        .server
        .client()
        .bearer(&key(&site.server.kernel, "ada", Some(Label::UntrustedAgent)).await);
    let (mut stream, path) = open_sse(&site.ada).await;
    site.ada.post(&path, &initialize("2024-11-05", json!({}))).await;
    stream.event().await.unwrap();
    let call = |id: u64| request(id, "tools/call", json!({"name": "probe_shell", "arguments": {}}));

    assert_eq!(site.ada.post(&path, &call(1)).await.status, 202);
    let trusted = stream.event().await.unwrap().2;
    assert_eq!(doubted.post(&path, &call(2)).await.status, 202);
    let refused = stream.event().await.unwrap().2;

    assert_ne!(trusted["result"]["isError"], true, "{trusted}");
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
    let legacy = session(&site.ada, "2025-11-25", json!({})).await;
    assert_ne!(legacy.post("/mcp", &call(3)).await.json()["result"]["isError"], true);
    let id = site.ada.post("/mcp", &initialize("2025-11-25", json!({}))).await;
    let borrowed = doubted.with("mcp-session-id", id.header("mcp-session-id").unwrap());
    let refused = borrowed.post("/mcp", &call(4)).await.json();
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
    drop(stream);
    site.server.stop().await;
}

/// What an untrusted key says must not pass for what the trusted one says: it would not bring its label.
#[tokio::test]
async fn a_question_is_answered_by_the_key_that_was_asked_and_by_no_other_of_its_owner() {
    let site = Shared::with(Limits::default()).await;
    let doubted = site
        .server
        .client()
        .bearer(&key(&site.server.kernel, "ada", Some(Label::UntrustedAgent)).await);
    let begun = site.ada.post("/mcp", &initialize("2025-06-18", json!({"elicitation": {}}))).await;
    let id = begun.header("mcp-session-id").unwrap();
    let (trusted, borrowed) = (site.ada.clone().with("mcp-session-id", id), doubted.clone().with("mcp-session-id", id));
    let call = request(4, "tools/call", json!({"name": "openfang_agent_asks", "arguments": {"message": "apples"}}));
    let reply = |question: &Value, reply: &str| json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"reply": reply}}});
    let dropped = "openfang_mcp_dropped_replies_total{from=\"client\"}";

    let mut stream = trusted.stream("POST", "/mcp", Some(&call.to_string())).await;
    let question = stream.event().await.unwrap().2;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(borrowed.post("/mcp", &reply(&question, "not mine")).await.status, 202);
    assert_eq!(site.counted(dropped), 1, "it is a reply to nothing");
    assert_eq!(trusted.post("/mcp", &reply(&question, "mine")).await.status, 202);
    let result = stream.event().await.unwrap().2;
    assert_eq!(result["result"]["content"][0]["text"], "thank you", "{result}");

    let (mut stream, path) = open_sse(&site.ada).await;
    site.ada.post(&path, &initialize("2025-06-18", json!({"elicitation": {}}))).await;
    stream.event().await.unwrap();
    assert_eq!(site.ada.post(&path, &call).await.status, 202);
    let question = stream.event().await.unwrap().2;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(doubted.post(&path, &reply(&question, "not mine")).await.status, 202);
    assert_eq!(site.counted(dropped), 2);
    assert_eq!(site.ada.post(&path, &reply(&question, "mine")).await.status, 202);
    assert_eq!(stream.event().await.unwrap().2["result"]["content"][0]["text"], "thank you");
    drop(stream);
    site.server.stop().await;
}

#[tokio::test]
async fn a_flood_of_ids_that_name_nothing_can_be_seen_in_the_metrics() {
    let site = Shared::with(Limits::default()).await;
    let client = session(&site.ada, "2025-11-25", json!({})).await;
    let stranger = site.ada.clone().with("mcp-session-id", "x");
    for number in 0..5 {
        assert_eq!(stranger.post("/mcp", &ping()).await.status, 404);
        let reply = json!({"jsonrpc": "2.0", "id": number, "result": {}});
        assert_eq!(client.post("/mcp", &reply).await.status, 202);
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}});
        assert_eq!(client.post("/mcp", &cancel).await.status, 202);
    }

    assert_eq!(site.counted("openfang_mcp_unknown_ids_total{what=\"session\"}"), 5);
    assert_eq!(site.counted("openfang_mcp_unknown_ids_total{what=\"request\"}"), 5);
    assert_eq!(site.counted("openfang_mcp_dropped_replies_total{from=\"client\"}"), 5);
    site.server.stop().await;
}

#[tokio::test]
async fn a_uri_to_subscribe_to_is_bounded_and_so_are_all_of_an_owner_together() {
    // Each message of a batch counts, and the rate of calls is not what is tested here.
    let limits = Limits { rate_per_principal: 100_000, rate_per_principal_burst: 100_000, ..Limits::default() };
    let site = Shared::with(limits).await;
    let client = session(&site.ada, "2025-11-25", json!({})).await;
    let subscribe = |uri: String| request(1, "resources/subscribe", json!({ "uri": uri }));

    let long = client.post("/mcp", &subscribe("x".repeat(MCP_URI_MAX_BYTES + 1))).await.json();
    assert_eq!(long["error"]["code"], -32602, "{long}");

    let mut refused = None;
    'sessions: for number in 0..10 {
        let client = session(&site.ada, "2025-03-26", json!({})).await;
        for batch in 0..10 {
            let uri = |one: usize| format!("{number}-{batch}-{one}-{}", "x".repeat(MCP_URI_MAX_BYTES - 32));
            let batch: Vec<Value> = (0..100)
                .map(|one| request(one, "resources/subscribe", json!({ "uri": uri(one) })))
                .collect();
            let answers = client.post("/mcp", &json!(batch)).await.json();
            refused = answers.as_array().unwrap().iter().find(|answer| answer["error"].is_object()).cloned();
            if refused.is_some() {
                break 'sessions;
            }
        }
    }

    let refused = refused.expect("subscriptions of one owner are not bounded");
    assert!(refused["error"]["message"].as_str().unwrap().contains("unsubscribe"), "{refused}");
    let bobs = session(&site.bob, "2025-11-25", json!({})).await;
    assert_eq!(bobs.post("/mcp", &subscribe("openfang://tasks/x".to_owned())).await.json()["result"], json!({}));
    site.server.stop().await;
}
