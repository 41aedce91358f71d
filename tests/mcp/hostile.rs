//! Clients that mean harm or make mistakes: each gets a precise refusal, and the server goes on.

use openfang_testkit::http::{raw, read_answer};
use openfang_testkit::{TestServer, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{agents, ask_modern, initialize, modern, request, server, session};

#[tokio::test]
async fn a_page_of_a_stranger_is_refused_before_anything_else() {
    let (_home, server) = server().await;
    let body = initialize("2025-11-25", json!({}));
    for origin in ["https://evil.com", "null", "http://localhost.evil.com", "http://127.0.0.1.nip.io"] {
        let answer = server.client().with("origin", origin).post("/mcp", &body).await;
        assert_eq!(answer.status, 403, "{origin}");
    }
    assert!(matches!(server.client().with("host", "evil.com").post("/mcp", &body).await.status, 403 | 421));
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(server.client().with("content-type", kind).post("/mcp", &body).await.status, 415, "{kind}");
    }
    let gzip = server.client().with("content-encoding", "gzip").post("/mcp", &body).await;
    assert_eq!(gzip.status, 415);
    server.stop().await;
}

#[tokio::test]
async fn bodies_that_parsers_disagree_about_are_refused() {
    let (_home, server) = server().await;
    let client = server.client();
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let refused = [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_numbers","name":"file_write"}}"#
            .to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#, deep(127)),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#, deep(100_000)),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}{}".to_owned(),
        String::new(),
        "nonsense".to_owned(),
    ];
    for body in refused {
        let answer = client.send("POST", "/mcp", Some(&body)).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (400, &json!(-32700)),
            "{}",
            &body[..body.len().min(90)]
        );
    }
    let within = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#, deep(126));
    assert_eq!(client.send("POST", "/mcp", Some(&within)).await.status, 200);
    for odd in [r#""Method":"ping""#, r#""method\u0000":"ping""#, r#""ｍethod":"ping""#] {
        let answer = client
            .send("POST", "/mcp", Some(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{odd}}}")))
            .await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32600)), "{odd}");
    }
    for id in ["null", "1.5", "1e3", "{}", "[1]", "true", "9223372036854775808"] {
        let answer = client
            .send("POST", "/mcp", Some(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")))
            .await;
        assert_eq!(answer.json()["error"]["code"], -32600, "{id}");
    }
    for id in [json!(i64::MIN), json!(0), json!(""), json!("ü\"\\\n"), json!("x".repeat(100_000))] {
        let answer = client.post("/mcp", &request(id.clone(), "ping", json!({}))).await.json();
        assert_eq!(answer["id"], id, "an id comes back exactly");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_while_it_comes() {
    let home = agents(openfang_testkit::TestHome::new());
    let config = Config { limits: Limits { body_bytes: 100_000, ..Limits::default() }, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let filler = "x".repeat(200_000);
    let announced = server.client().post("/mcp", &request(1, "ping", json!({"x": filler}))).await;
    assert_eq!(announced.status, 413);
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{:x}\r\n{filler}\r\n",
        server.address,
        filler.len(),
    );
    assert_eq!(read_answer(raw(server.address, chunked.as_bytes()).await).await.status, 413);
    assert_eq!(server.client().post("/mcp", &request(1, "ping", json!({}))).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_tool_that_is_not_granted_looks_like_one_that_is_not_there() {
    let (_home, server) = server().await;
    let caller = callers::user(&server.kernel, "ada", &["add_numbers", "agent:starter"]);
    let mcp = server.kernel.mcp_server(openfang_kernel::mcp::View::Everything);
    let ask = |method: &'static str, params: Value| {
        let (mcp, caller) = (mcp.clone(), caller.clone());
        async move {
            let headers = http::HeaderMap::from_iter([(
                http::header::CONTENT_TYPE,
                http::HeaderValue::from_static("application/json"),
            )]);
            let body = request(1, method, params).to_string().into();
            let request = openfang_mcp::server::http::HttpRequest { caller, method: http::Method::POST, headers, body };
            let document = mcp.serve_http(request).await.into_body().into_document().unwrap();
            String::from_utf8(document.to_vec()).unwrap()
        }
    };

    let listed: Value = serde_json::from_str(&ask("tools/list", json!({})).await).unwrap();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["add_numbers", "openfang_agent_starter", "openfang_task"]);
    for (kept, unknown) in [("file_write", "file_wrote"), ("openfang_agent_steps", "openfang_agent_stops")] {
        let arguments = json!({"message": "x"});
        let kept_answer = ask("tools/call", json!({"name": kept, "arguments": arguments})).await;
        let unknown_answer = ask("tools/call", json!({"name": unknown, "arguments": arguments})).await;
        assert_eq!(kept_answer.replace(kept, "?"), unknown_answer.replace(unknown, "?"));
        assert!(kept_answer.contains("-32602"), "{kept_answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_session_and_a_state_mean_nothing_in_other_hands() {
    let (_home, server) = server().await;
    let mcp = server.kernel.mcp_server(openfang_kernel::mcp::View::Everything);
    let (ada, bob) =
        (callers::user(&server.kernel, "ada", &["agent:asks"]), callers::user(&server.kernel, "bob", &["agent:asks"]));
    let post = |caller: &openfang_kernel::Caller, extra: Vec<(&'static str, String)>, body: Value| {
        let mut headers = http::HeaderMap::new();
        headers.insert("content-type", "application/json".parse().unwrap());
        for (name, value) in extra {
            headers.insert(name, value.parse().unwrap());
        }
        let body = body.to_string().into_bytes();
        let (mcp, caller) = (mcp.clone(), caller.clone());
        async move {
            let request = openfang_mcp::server::http::HttpRequest {
                caller,
                method: http::Method::POST,
                headers,
                body: body.into(),
            };
            mcp.serve_http(request).await
        }
    };
    let begun = post(&ada, Vec::new(), initialize("2025-11-25", json!({}))).await;
    let id = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ping = || request(1, "ping", json!({}));
    assert_eq!(post(&ada, vec![("mcp-session-id", id.clone())], ping()).await.status(), 200);
    assert_eq!(post(&bob, vec![("mcp-session-id", id)], ping()).await.status(), 404);

    let params = json!({"name": "openfang_agent_asks", "arguments": {"message": "x"}});
    let said = || {
        vec![
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", "openfang_agent_asks".to_owned()),
        ]
    };
    let asked = post(&ada, said(), request(1, "tools/call", modern(params.clone(), json!({"elicitation": {}})))).await;
    let state = document(asked)["result"]["requestState"].clone();
    let mut retry = params;
    retry["requestState"] = state;
    let stolen = post(&bob, said(), request(1, "tools/call", modern(retry, json!({"elicitation": {}})))).await;
    assert_eq!(document(stolen)["error"]["code"], -32602);
    server.stop().await;
}

fn document(response: http::Response<openfang_mcp::server::http::HttpBody>) -> Value {
    serde_json::from_slice(&response.into_body().into_document().unwrap()).unwrap()
}

#[tokio::test]
async fn eras_may_be_mixed_and_each_request_is_taken_for_itself() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-06-18", json!({})).await;

    let message = request(1, "tools/list", modern(json!({}), json!({})));
    let modern = client.clone().with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tools/list");
    assert_eq!(modern.post("/mcp", &message).await.json()["result"]["resultType"], "complete");
    let legacy = client.post("/mcp", &request(2, "tools/list", json!({}))).await.json();
    assert!(legacy["result"].get("resultType").is_none());
    server.stop().await;
}

#[tokio::test]
async fn parameters_of_the_wrong_shape_are_said_and_never_break_anything() {
    let (_home, server) = server().await;
    let methods = [
        "tools/call",
        "tools/list",
        "prompts/get",
        "prompts/list",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "server/discover",
        "initialize",
        "ping",
    ];
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    for method in methods {
        for params in [
            json!([]),
            json!([1, 2]),
            json!({"name": 7}),
            json!({"name": null}),
            json!({"uri": []}),
            json!({"cursor": 7}),
            json!({"name": "add_numbers", "arguments": []}),
            json!({"name": "x", "arguments": "y"}),
            json!({"level": "loud"}),
            json!({"ref": 1, "argument": 2}),
            json!({"notifications": 3}),
            json!({"protocolVersion": 5}),
            json!({"_meta": 1}),
            json!({"_meta": {"progressToken": {}}}),
            json!({"requestState": 1}),
            json!({"inputResponses": []}),
        ] {
            let legacy = client.post("/mcp", &request(1, method, params.clone())).await;
            assert!(matches!(legacy.status, 200 | 400), "{method} {params} {}", legacy.status);
            let answer = legacy.json();
            let code = answer["error"]["code"].as_i64();
            assert!(
                answer.get("result").is_some() || (-32_700..=-32_600).contains(&code.unwrap()),
                "{method} {answer}"
            );
            assert_ne!(code, Some(-32_603), "{method} {params} {answer}");
            if method != "subscriptions/listen" && params.is_object() && params.get("_meta").is_none() {
                let modern = ask_modern(&server.client(), method, params.clone()).await;
                assert!(matches!(modern.status, 200 | 400 | 404), "{method} {params}");
            }
        }
    }
    server.stop().await;
}
