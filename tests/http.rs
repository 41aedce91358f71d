//! The HTTP API, as raw bytes see it.

use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, TestServer, http};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use openfang_types::secret::Secret;
use serde_json::json;

pub(crate) fn any_port() -> Config {
    Config { api_listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() }
}

const KEY: &str = "0123456789abcdef";

#[tokio::test]
async fn tools_agents_and_tasks_are_served() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client();

    assert_eq!(client.get("/health").await.json()["status"], "ok");
    let output = client
        .post("/api/tools/add_numbers", &json!({"arguments": {"a": 3, "b": 7}}))
        .await
        .json();
    assert_eq!(
        output,
        json!({"content": [{"type": "text", "text": "10"}], "structuredContent": {"result": 10}, "isError": false})
    );
    let sent = client
        .post("/api/agents/starter/message", &json!({"text": "/add_numbers {\"a\":3,\"b\":7}"}))
        .await
        .json();
    let task = &sent["task"];
    assert_eq!(
        (&task["status"]["state"], &task["artifacts"][0]["name"]),
        (&json!("completed"), &json!("add_numbers-result"))
    );
    let id = task["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/api/tasks/{id}")).await.json()["task"]["id"], id);
    assert_eq!(client.get("/api/tasks?state=completed&pageSize=1").await.json()["total"], 1);
    assert_eq!(client.get("/api/agents").await.json()["agents"][0]["name"], "starter");
    assert_eq!(client.get("/api/agents/starter").await.json()["tools"][0], "add_numbers");
    assert_eq!(client.get("/api/policy/starter/add_numbers").await.json()["granted"], true);
    assert!(
        client
            .get("/metrics")
            .await
            .body
            .contains("openfang_tool_calls_total{tool=\"add_numbers\",outcome=\"succeeded\"} 2")
    );
    server.stop().await;
}

#[tokio::test]
async fn parts_and_data_can_be_sent_and_a_tool_be_named_in_data() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let body =
        json!({"parts": [{"text": "please add"}, {"data": {"tool": "add_numbers", "arguments": {"a": 3, "b": 7}}}]});

    let task = server.client().post("/api/agents/starter/message", &body).await.json()["task"].clone();

    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "10");
    assert_eq!(task["history"][0]["parts"].as_array().unwrap().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn a_bad_request_gets_a_precise_error_and_the_next_one_works() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client();
    let call = "/api/tools/add_numbers";
    let deep = format!("{{\"arguments\":{}1{}}}", "{\"a\":".repeat(200), "}".repeat(200));
    let rows: Vec<(&str, &str, Option<&str>, u16, &str)> = vec![
        ("GET", "/api/tools/nothing", None, 404, "unknown_tool"),
        ("GET", "/api/tools/a%20b", None, 400, "bad_request"),
        ("POST", "/api/tools/nothing", Some("{}"), 404, "unknown_tool"),
        ("GET", "/api/agents/nobody", None, 404, "unknown_agent"),
        ("GET", "/api/tasks/42", None, 400, "bad_request"),
        ("GET", "/api/tasks/00000000-0000-0000-0000-000000000001", None, 404, "unknown_task"),
        ("GET", "/api/tasks?colour=red", None, 400, "bad_request"),
        ("GET", "/api/tasks?state=happy", None, 400, "bad_request"),
        ("GET", "/api/tasks?pageToken=forged", None, 400, "invalid_page_token"),
        ("POST", call, Some("{"), 400, "bad_request"),
        ("POST", call, Some(""), 400, "bad_request"),
        ("POST", call, Some("{\"arguments\":{\"a\":1,\"a\":2,\"b\":3}}"), 400, "bad_request"),
        ("POST", call, Some("{\"argument\":{}}"), 400, "bad_request"),
        ("POST", call, Some("{\"arguments\":[]}"), 400, "bad_request"),
        ("POST", call, Some("{\"arguments\":{\"a\":\"\\ud800\"}}"), 400, "bad_request"),
        ("POST", call, Some(&deep), 400, "bad_request"),
        ("POST", call, Some("{\"arguments\":{\"a\":1}}"), 422, "invalid_arguments"),
        ("POST", "/api/agents/starter/message", Some("{}"), 400, "invalid_message"),
        ("POST", "/api/agents/starter/message", Some("{\"parts\":[{}]}"), 400, "bad_request"),
        ("DELETE", call, None, 405, "wrong_method"),
        ("GET", "/nowhere", None, 404, "no_such_route"),
    ];
    for (method, path, body, status, code) in rows {
        let answer = client.send(method, path, body).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["code"].as_str().unwrap()),
            (status, code),
            "{method} {path} {body:?}"
        );
        assert_eq!(answer.json()["error"]["trace"], answer.header("x-trace-id").unwrap());
    }
    assert_eq!(client.post(call, &json!({"arguments": {"a": 1, "b": 2}})).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_wrong_query_string_is_answered_with_its_key_and_what_the_key_takes() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client();
    let range = "pageSize: must be a whole number from 1 to 100";
    let rows = [
        ("GET", "/api/tasks?pageSize=0", range),
        ("GET", "/api/tasks?pageSize=101", range),
        ("GET", "/api/tasks?pageSize=x", range),
        ("GET", "/api/tasks?pageSize=", range),
        ("GET", "/api/tasks?pageSize=-1", range),
        ("GET", "/api/tasks?pageSize=99999999999999999999999", range),
        ("GET", "/api/tasks?pageSize=1&pageSize=2", "the query parameter pageSize is repeated"),
        ("GET", "/api/tasks?includeHistory=yes", "includeHistory: must be true or false"),
        ("GET", "/api/tasks?state=happy", "state: must be one of submitted, working"),
        ("GET", "/api/tasks?contextId=%ff%00", "contextId: "),
        ("GET", "/api/tasks?colour=red", "unknown query parameter \"colour\"; this route accepts user, agent, state"),
        ("GET", "/api/tools?agent=UPPER", "agent: "),
        ("GET", "/api/keys?user=a/b", "user: "),
        ("GET", "/health?challenge=1&challenge=2", "the query parameter challenge is repeated"),
        ("POST", "/messages", "the query parameter sessionId is missing"),
        ("POST", "/api/mcp/servers?replace=1", "replace: must be true or false"),
        ("GET", "/api/tools/%ff", "the path is not UTF-8"),
        ("GET", "/api/policy/%ff/x", "the path is not UTF-8"),
    ];
    for (method, path, expected) in rows {
        let answer = client.send(method, path, Some("{}")).await;
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, error["code"].as_str()), (400, Some("bad_request")), "{method} {path}: {answer:?}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(expected) && !said.contains("deserialize"), "{method} {path}: {said}");
    }
    for size in [1, 100] {
        assert_eq!(client.get(&format!("/api/tasks?pageSize={size}")).await.status, 200, "{size}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_a_browser_can_be_tricked_into_is_refused() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let body = Some("{\"arguments\":{\"a\":1,\"b\":2}}");
    let send = async |client: http::Client| client.send("POST", "/api/tools/add_numbers", body).await.status;

    assert_eq!(send(server.client().with("host", "evil.com")).await, 421);
    assert_eq!(send(server.client().with("origin", "https://evil.com")).await, 403);
    assert_eq!(send(server.client().with("origin", "null")).await, 403);
    assert_eq!(send(server.client().with("content-type", "text/plain")).await, 415);
    assert_eq!(send(server.client().with("content-type", "application/x-www-form-urlencoded")).await, 415);
    assert_eq!(send(server.client().with("content-encoding", "gzip")).await, 415);
    assert_eq!(send(server.client().with("origin", &format!("http://{}", server.address))).await, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_panic_in_a_tool_is_one_500_and_nothing_else() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).tool(Probe::panic().boxed()).start().unwrap()).await;
    let client = server.client();

    let broken = client.post("/api/tools/probe_panic", &json!({"arguments": {}})).await;

    assert_eq!((broken.status, broken.json()["error"]["code"].as_str()), (500, Some("panicked")));
    assert!(!broken.body.contains("on purpose"), "the cause is for the log: {}", broken.body);
    assert_eq!(
        client
            .post("/api/tools/add_numbers", &json!({"arguments": {"a": 1, "b": 2}}))
            .await
            .status,
        200
    );
    server.stop().await;
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back_and_local_callers_are_not_counted() {
    let home = TestHome::new();
    let limits = Limits { rate_per_principal: 1, rate_per_principal_burst: 3, ..Limits::default() };
    let config = Config { limits, api_key: Some(Secret::new(KEY.to_owned())), ..any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client().bearer(KEY);

    let mut last = client.get("/api/tools").await;
    for _ in 0..3 {
        last = client.get("/api/tools").await;
    }
    assert_eq!((last.status, last.json()["error"]["code"].as_str()), (429, Some("rate_limited")));
    assert_eq!(last.header("retry-after"), Some("1"));
    let cli = server.client().bearer(server.kernel.daemon_token().expose());
    for _ in 0..10 {
        assert_eq!(cli.get("/api/tools").await.status, 200, "the daemon token is exempt");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_server_proves_that_it_knows_its_token_without_showing_it() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client();

    let one = client.get("/health?challenge=a").await;
    assert_eq!(one.json()["proof"], server.kernel.prove("a"));
    assert_ne!(one.json()["proof"], client.get("/health?challenge=b").await.json()["proof"]);
    assert!(!one.body.contains(server.kernel.daemon_token().expose()));
    assert_eq!(client.get(&format!("/health?challenge={}", "x".repeat(200))).await.status, 400);
    server.stop().await;
}

#[tokio::test]
async fn pages_of_listed_origins_may_ask_and_read_and_others_may_not() {
    let home = TestHome::new();
    let config = Config {
        allowed_origins: vec!["https://ide.example.org".into()],
        api_key: Some(Secret::new(KEY.to_owned())),
        ..any_port()
    };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let page = server.client().with("origin", "https://ide.example.org");

    let asks = page
        .clone()
        .with("access-control-request-method", "POST")
        .send("OPTIONS", "/api/tools/add_numbers", None)
        .await;
    assert_eq!((asks.status, asks.header("access-control-allow-origin")), (204, Some("https://ide.example.org")));
    assert!(asks.header("access-control-allow-headers").unwrap().contains("authorization"));
    let reads = page
        .bearer(KEY)
        .post("/api/tools/add_numbers", &json!({"arguments": {"a": 1, "b": 2}}))
        .await;
    assert_eq!((reads.status, reads.header("access-control-allow-origin")), (200, Some("https://ide.example.org")));
    let stranger = server
        .client()
        .with("origin", "https://evil.example")
        .with("access-control-request-method", "POST");
    let refused = stranger.send("OPTIONS", "/api/tools/add_numbers", None).await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    server.stop().await;
}

#[tokio::test]
async fn a_list_shows_conversations_and_artifacts_only_to_who_asks_for_them() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client();
    client.post("/api/agents/starter/message", &json!({"text": "Ada"})).await;

    let short = client.get("/api/tasks").await.json()["tasks"][0].clone();
    assert!(short["history"].is_null() && short["artifacts"].is_null());
    let full = client.get("/api/tasks?includeHistory=true&includeArtifacts=true").await.json()["tasks"][0].clone();
    assert!(full["history"].is_array() && full["artifacts"].is_array());
    server.stop().await;
}

#[tokio::test]
async fn no_metric_is_described_twice() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;

    let text = server.client().get("/metrics").await.body;

    let mut names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup_by_key(|line| line.split(' ').next());
    assert!(all > 10, "{text}");
    assert_eq!(names.len(), all, "{names:?}");
    server.stop().await;
}
