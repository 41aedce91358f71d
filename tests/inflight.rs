//! Large requests: bounded together and per user, read beside the workers, and never many times their size in memory.

use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::http::{Client, raw};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::limits::Limits;
use serde_json::{Value, json};

const MIB: usize = 1024 * 1024;

async fn server(limits: Limits) -> (TestHome, TestServer) {
    let home = TestHome::new();
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let config = Config { limits, a2a, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

/// A key of a new user.
pub(crate) async fn key_of(server: &TestServer, name: &str, grant: &str) -> String {
    let (kernel, operator) = (&server.kernel, callers::operator(&server.kernel));
    let wanted =
        UserWanted { name: name.parse().unwrap(), grants: vec![grant.to_owned()], password: None, again: false };
    kernel.add_user(&operator, wanted).await.unwrap();
    let wanted = KeyWanted {
        user: name.parse().unwrap(),
        label: "test".to_owned(),
        entry_label: None,
        profile: None,
        expires_at: None,
    };
    kernel.create_user_key(&operator, wanted).await.unwrap().key.expose().to_owned()
}

fn call(text: &str) -> Value {
    let arguments = if text.is_empty() { json!({"a": 1, "b": 2}) } else { json!({"a": 1, "b": 2, "note": text}) };
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_numbers", "arguments": arguments}})
}

/// Asks again until the answer has this status.
async fn until(client: &Client, body: &Value, status: u16) -> openfang_testkit::http::Answer {
    let asking = async {
        loop {
            let answer = client.post("/mcp", body).await;
            if answer.status == status {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    };
    let patience = std::time::Duration::from_secs(60);
    tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| panic!("never {status}"))
}

#[tokio::test]
async fn a_user_with_many_large_bodies_under_way_is_asked_to_wait_and_others_are_not() {
    let limits = Limits {
        inflight_bytes: 16 * MIB,
        body_bytes: MIB,
        rate_per_principal: 100_000,
        rate_per_principal_burst: 100_000,
        ..Limits::default()
    };
    let (_home, server) = server(limits).await;
    let (ada_key, bob_key) = (key_of(&server, "ada", "*").await, key_of(&server, "bob", "*").await);
    let (ada, bob) = (server.client().bearer(&ada_key), server.client().bearer(&bob_key));
    let large = call(&"x".repeat(MIB / 2));
    assert_eq!(ada.post("/mcp", &large).await.status, 200);

    // Each of these has sent nearly all of its body, and waits with the rest.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ada_key}\r\nContent-Type: application/json\r\n\
         Content-Length: {MIB}\r\n\r\n",
        server.address,
    );
    let begun = [head.as_bytes(), &vec![b' '; MIB - 1024]].concat();
    let mut held = Vec::new();
    for _ in 0..12 {
        held.push(raw(server.address, &begun).await);
    }

    let refused = until(&ada, &large, 503).await;
    assert_eq!(refused.header("retry-after"), Some("1"), "{refused:?}");
    assert_eq!(bob.post("/mcp", &large).await.status, 200);
    assert_eq!(bob.get("/api/tools").await.status, 200);

    drop(held);
    until(&ada, &large, 200).await;
    server.stop().await;
}

#[tokio::test]
async fn a_user_who_holds_many_middling_bodies_is_asked_to_wait_and_others_are_not() {
    let limits = Limits {
        inflight_bytes: 16 * MIB,
        body_bytes: MIB,
        drain_secs: 1,
        rate_per_principal: 100_000,
        rate_per_principal_burst: 100_000,
        ..Limits::default()
    };
    let (home, probe) = (TestHome::new(), Probe::hang());
    let config = Config { limits, ..crate::http::any_port() };
    let kernel = home.boot_with(config).tool(probe.boxed()).start().unwrap();
    let server = TestServer::start(kernel).await;
    let (ada_key, bob_key) = (key_of(&server, "ada", "*").await, key_of(&server, "bob", "*").await);
    let (ada, bob) = (server.client().bearer(&ada_key), server.client().bearer(&bob_key));

    // Each is just too small to be a large body, and takes many times its size when it is parsed.
    let middling = |tool: &str, arguments: Value| {
        let note = vec![Value::Array(Vec::new()); 21_000];
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"note": note}});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    };
    let body = middling("probe_hang", json!({})).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ada_key}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len(),
    );
    assert!(body.len() < 64 * 1024);
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(raw(server.address, request.as_bytes()).await);
    }

    let middling = middling("add_numbers", json!({"a": 1, "b": 2}));
    let refused = until(&ada, &middling, 503).await;
    assert_eq!(refused.header("retry-after"), Some("1"), "{refused:?}");
    assert!((2..40).contains(&probe.calls()), "{} are held", probe.calls());
    assert_eq!(bob.post("/mcp", &middling).await.status, 200);
    assert_eq!(bob.get("/api/tools").await.status, 200);
    drop(held);
    server.stop().await;
}

#[tokio::test]
async fn a_body_of_countless_small_values_is_refused_at_every_door() {
    let (_home, server) = server(Limits::default()).await;
    let nested = format!("[{}]", vec!["[1]"; 4 * MIB / 4].join(","));
    let rpc = |method: &str, params: String| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{params}}}")
    };
    let arguments = format!("{{\"name\":\"add_numbers\",\"arguments\":{{\"a\":1,\"b\":{nested}}}}}");
    let message =
        format!("{{\"message\":{{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{{\"data\":{nested}}}]}}}}");
    for (path, body) in [
        ("/mcp", rpc("tools/call", arguments)),
        ("/a2a", rpc("SendMessage", message)),
        ("/api/tools/add_numbers", format!("{{\"arguments\":{{\"a\":{nested}}}}}")),
    ] {
        let answer = server.client().send("POST", path, Some(&body)).await;
        let says = answer.body.contains("too many small values") || answer.body.contains("-32700");
        assert!(says, "{path}: {} {}", answer.status, answer.body);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_request_is_worked_on_beside_the_workers() {
    let (_home, server) = server(Limits::default()).await;
    let large = call(&"x".repeat(4 * MIB));
    let small = call("");

    let large = futures_util::future::join_all((0..3).map(|_| {
        let client = server.client();
        let large = &large;
        async move { client.post("/mcp", large).await }
    }));
    let client = server.client();
    let small = client.post("/mcp", &small);
    let (large, small) = futures_util::join!(large, small);

    assert_eq!(small.json()["result"]["content"][0]["text"], "3", "{small:?}");
    for answer in large {
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["id"], 1, "{}", answer.body);
    }
    server.stop().await;
}
