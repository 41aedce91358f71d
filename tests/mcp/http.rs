//! Streamable HTTP and the modern POST: what each revision gets, and how.

use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use openfang_types::secret::Secret;
use serde_json::{Value, json};

use super::wire::{LEGACY, MODERN, ask_modern, headed, initialize, modern, request, server, session, texts};

#[tokio::test]
async fn every_revision_lists_and_calls_a_tool_and_an_agent() {
    let (_home, server) = server().await;
    for version in LEGACY {
        let client = session(&server.client(), version, json!({})).await;
        let listed = client.post("/mcp", &request(1, "tools/list", json!({}))).await.json();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"add_numbers") && names.contains(&"openfang_agent_starter"), "{version} {names:?}");
        assert!(names.is_sorted());
        let sum = request(2, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 3, "b": 7}}));
        assert_eq!(texts(&client.post("/mcp", &sum).await.json()["result"]), ["10"], "{version}");
        let hello =
            request(3, "tools/call", json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}}));
        assert_eq!(texts(&client.post("/mcp", &hello).await.json()["result"]), ["Hello, Ada!"], "{version}");
    }
    let client = server.client();
    let sum = ask_modern(&client, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 3, "b": 7}})).await;
    assert_eq!((sum.status, texts(&sum.json()["result"])), (200, vec!["10".to_owned()]));
    let hello = json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}});
    assert_eq!(texts(&ask_modern(&client, "tools/call", hello).await.json()["result"]), ["Hello, Ada!"]);
    server.stop().await;
}

#[tokio::test]
async fn nothing_modern_leaks_to_a_legacy_peer_and_nothing_legacy_is_asked_of_a_modern_one() {
    let (_home, server) = server().await;
    for version in LEGACY {
        let client = session(&server.client(), version, json!({})).await;
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/call", json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}})),
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "openfang://tasks/none"})),
            ("server/nothing", json!({})),
        ] {
            let body = client.post("/mcp", &request(1, method, params)).await.body;
            for word in ["resultType", "ttlMs", "cacheScope", "serverInfo", "-32020", "-32021", "-32022"] {
                assert!(!body.contains(word), "{version} {method}: {word} in {body}");
            }
            assert_eq!(body.contains("structuredContent"), method == "tools/call" && version >= "2025-06-18", "{body}");
        }
    }
    for method in ["ping", "logging/setLevel", "resources/subscribe", "initialized"] {
        let answer = ask_modern(&server.client(), method, json!({})).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!(-32601)), "{method}");
    }
    let listed = ask_modern(&server.client(), "tools/list", json!({})).await.json();
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert!(listed["result"]["ttlMs"].is_u64());
    server.stop().await;
}

#[tokio::test]
async fn discover_says_what_there_is() {
    let (_home, server) = server().await;

    let answer = ask_modern(&server.client(), "server/discover", json!({})).await;

    assert_eq!(answer.status, 200);
    let result = &answer.json()["result"];
    assert_eq!(result["supportedVersions"], json!([MODERN]));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "openfang");
    assert!(answer.header("mcp-session-id").is_none());
    server.stop().await;
}

#[tokio::test]
async fn whatever_a_client_accepts_it_gets_an_answer() {
    let (_home, server) = server().await;
    let call = json!({"name": "add_numbers", "arguments": {"a": 3, "b": 7}});
    for accept in ["application/json", "*/*", "application/json, text/event-stream", "text/html"] {
        let client = server.client().with("accept", accept);
        let answer = client.post("/mcp", &request(1, "tools/call", call.clone())).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{accept}");
        assert_eq!(texts(&answer.json()["result"]), ["10"]);
    }
    let mut stream = server
        .client()
        .stream("POST", "/mcp", Some(&request(1, "tools/call", call).to_string()))
        .await;
    let (name, _, data) = stream.event().await.unwrap();
    assert_eq!((name.as_str(), texts(&data["result"])), ("message", vec!["10".to_owned()]));
    assert!(stream.event().await.is_none());
    server.stop().await;
}

#[tokio::test]
async fn notifications_are_accepted_and_batches_are_for_one_revision() {
    let (_home, server) = server().await;
    let client = server.client();
    let told = client
        .post("/mcp", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    assert_eq!((told.status, told.body.as_str()), (202, ""));

    let batch = json!([
        request(1, "ping", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("two", "tools/call", json!({"name": "add_numbers", "arguments": {"a": 1, "b": 1}})),
        request(3, "initialize", json!({})),
        7,
    ]);
    let old = session(&client, "2025-03-26", json!({})).await;
    let answers = old.post("/mcp", &batch).await.json();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!("two"), &json!(3), &Value::Null]);
    assert_eq!(old.post("/mcp", &json!([])).await.status, 400);
    let only_told = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(old.post("/mcp", &only_told).await.status, 202);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let client = session(&client, version, json!({})).await;
        assert_eq!(client.post("/mcp", &batch).await.status, 400, "{version}");
    }
    assert_eq!(headed(&client, &request(1, "ping", json!({}))).post("/mcp", &batch).await.status, 400);
    server.stop().await;
}

#[tokio::test]
async fn rates_count_the_calls_of_a_batch_and_not_the_request() {
    const KEY: &str = "the-right-key-of-this-test";
    let home = TestHome::new();
    let limits = Limits { rate_per_principal: 1, rate_per_principal_burst: 30, ..Limits::default() };
    let api_key = Some(Secret::new(KEY.to_owned()));
    let config = Config { limits, api_key, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = session(&server.client().bearer(KEY), "2025-03-26", json!({})).await;
    let batch = |calls: usize| Value::from_iter((0..calls).map(|id| request(id, "ping", json!({}))));

    let taken = client.post("/mcp", &batch(20)).await;
    assert_eq!((taken.status, taken.json().as_array().unwrap().len()), (200, 20));
    let refused = client.post("/mcp", &batch(20)).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (429, Some("rate_limited")));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 1);
    let never = client.post("/mcp", &batch(100)).await;
    assert_eq!((never.status, never.header("retry-after")), (429, None), "{}", never.body);
    assert_eq!(
        client.post("/mcp", &request(1, "ping", json!({}))).await.status,
        200,
        "what was refused was not charged"
    );
    server.stop().await;
}

#[tokio::test]
async fn a_modern_header_that_disagrees_with_the_body_stops_the_call() {
    let (_home, server) = server().await;
    let message =
        request(1, "tools/call", modern(json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}}), json!({})));
    let good = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "add_numbers")];
    let with = |headers: &[(&str, &str)]| {
        headers.iter().fold(server.client(), |client, (name, value)| client.with(name, value))
    };
    assert_eq!(with(&good).post("/mcp", &message).await.status, 200);
    for left_out in 0..good.len() {
        let mut headers = good.to_vec();
        headers.remove(left_out);
        let answer = with(&headers).post("/mcp", &message).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "without {left_out}");
    }
    for (place, value) in [(1, "tools/list"), (2, "shell_exec"), (2, "ADD_NUMBERS"), (2, "=?base64?c2hlbGw=?=")] {
        let mut headers = good.to_vec();
        headers[place].1 = value;
        let answer = with(&headers).post("/mcp", &message).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{value}");
    }
    let encoded = with(&[good[0], good[1], ("mcp-name", "=?base64?YWRkX251bWJlcnM=?=")]);
    assert_eq!(encoded.post("/mcp", &message).await.status, 200);
    let twice = with(&[good[0], good[1], good[2], good[2]]).post("/mcp", &message).await;
    assert_eq!(twice.json()["error"]["code"], -32020);
    server.stop().await;
}

#[tokio::test]
async fn a_version_that_nobody_knows_is_refused_with_those_we_speak() {
    let (_home, server) = server().await;
    let mut message = request(1, "tools/list", modern(json!({}), json!({})));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");

    let answer = server.client().with("mcp-protocol-version", "2031-01-01").post("/mcp", &message).await;

    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(answer.json()["error"]["data"], json!({"supported": [MODERN], "requested": "2031-01-01"}));
    let header_only = server.client().with("mcp-protocol-version", "2031-01-01");
    assert_eq!(header_only.post("/mcp", &request(1, "ping", json!({}))).await.status, 400);
    let odd = server.client().with("mcp-protocol-version", "latest");
    assert_eq!(odd.post("/mcp", &request(1, "ping", json!({}))).await.status, 400);
    let missing = headed(&server.client(), &request(1, "tools/list", json!({})));
    let answer = missing.post("/mcp", &request(1, "tools/list", json!({}))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)));
    server.stop().await;
}

#[tokio::test]
async fn progress_of_an_agent_comes_on_the_stream_of_its_call() {
    let (_home, server) = server().await;
    let params =
        json!({"name": "openfang_agent_steps", "arguments": {"message": "go"}, "_meta": {"progressToken": "p"}});
    let client = session(&server.client(), "2025-06-18", json!({})).await;
    let mut stream = client.stream("POST", "/mcp", Some(&request(5, "tools/call", params).to_string())).await;

    let events = stream.events().await;

    let (last, told) = events.split_last().unwrap();
    assert_eq!(texts(&last.2["result"]).concat(), "abc");
    assert!(told.len() >= 3, "{told:?}");
    let mut reached = 0.0;
    for (_, _, message) in told {
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > reached);
        reached = progress;
    }
    server.stop().await;
}

#[tokio::test]
async fn log_lines_come_at_the_level_that_was_asked_for_and_not_without_being_asked() {
    let (_home, server) = server().await;
    let call = json!({"name": "openfang_agent_steps", "arguments": {"message": "go"}});
    let lines = |events: &[(String, String, Value)]| {
        events
            .iter()
            .filter(|(_, _, message)| message["method"] == "notifications/message")
            .count()
    };
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let asked = request(1, "tools/call", call.clone()).to_string();

    assert_eq!(lines(&client.stream("POST", "/mcp", Some(&asked)).await.events().await), 0);
    let level = client
        .post("/mcp", &request(2, "logging/setLevel", json!({"level": "debug"})))
        .await
        .json();
    assert_eq!(level["result"], json!({}));
    assert!(lines(&client.stream("POST", "/mcp", Some(&asked)).await.events().await) >= 3);

    let mut params = modern(call, json!({}));
    let message = request(1, "tools/call", params.clone());
    let quiet = headed(&server.client(), &message)
        .stream("POST", "/mcp", Some(&message.to_string()))
        .await
        .events()
        .await;
    assert_eq!(lines(&quiet), 0);
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let message = request(1, "tools/call", params);
    let told = headed(&server.client(), &message)
        .stream("POST", "/mcp", Some(&message.to_string()))
        .await
        .events()
        .await;
    assert!(lines(&told) >= 3);
    server.stop().await;
}

#[tokio::test]
async fn a_tool_that_fails_is_a_result_and_an_unknown_one_an_error() {
    let (_home, server) = server().await;
    let client = server.client();
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let client = client.clone();
        async move { ask_modern(&client, "tools/call", params).await.json() }
    };

    let failed = call("openfang_agent_fails", json!({"message": "print"})).await;
    assert_eq!(
        (&failed["result"]["isError"], texts(&failed["result"])),
        (&json!(true), vec!["out of paper".to_owned()])
    );
    for arguments in [json!({"a": 1}), json!({"a": "x", "b": 2}), json!({"a": 1, "b": 2, "c": 3})] {
        let wrong = call("add_numbers", arguments.clone()).await;
        assert_eq!(wrong["result"]["isError"], true, "{arguments} {wrong}");
        assert!(texts(&wrong["result"])[0].contains("do not fit its schema"), "{wrong}");
    }
    for name in ["nope", "openfang_agent_nope", "Add_Numbers", "", "../x", "add_numbers\u{0}"] {
        let legacy = client.post("/mcp", &request(1, "tools/call", json!({"name": name}))).await.json();
        assert_eq!(legacy["error"]["code"], -32602, "{name:?}");
    }
    let wrong = call("openfang_agent_starter", json!({"message": 7})).await;
    assert_eq!(wrong["result"]["isError"], true);
    let cursor = ask_modern(&client, "tools/list", json!({"cursor": "nope"})).await.json();
    assert_eq!(cursor["error"]["code"], -32602);
    server.stop().await;
}

#[tokio::test]
async fn agents_are_prompts_and_tasks_are_resources() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let ask = |method: &'static str, params: Value| {
        let client = client.clone();
        async move { client.post("/mcp", &request(1, method, params)).await.json() }
    };

    let prompts = ask("prompts/list", json!({})).await;
    assert_eq!(prompts["result"]["prompts"][2]["name"], "agent-starter");
    let prompt = ask("prompts/get", json!({"name": "agent-starter", "arguments": {"message": "hello"}})).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("openfang_agent_starter") && text.ends_with("hello"), "{text}");
    for (name, arguments) in
        [("agent-starter", json!({})), ("agent-nope", json!({"message": "x"})), ("starter", json!({}))]
    {
        let refused = ask("prompts/get", json!({"name": name, "arguments": arguments})).await;
        assert_eq!(refused["error"]["code"], -32602, "{name}");
    }

    ask("tools/call", json!({"name": "openfang_agent_steps", "arguments": {"message": "go"}})).await;
    let resources = ask("resources/list", json!({})).await;
    let uri = resources["result"]["resources"][0]["uri"].as_str().unwrap().to_owned();
    let task = ask("resources/read", json!({"uri": uri})).await;
    let text = task["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["status"]["state"], "completed");
    let artifact = ask("resources/read", json!({"uri": format!("{uri}/artifacts/1")})).await;
    assert_eq!(artifact["result"]["contents"][0]["text"], "c");
    for odd in [
        "file:///etc/passwd",
        "file://host/x",
        "openfang://tasks/{id}",
        "openfang://tasks/../x",
        &format!("{uri}/artifacts/9"),
        &format!("{uri}/artifacts/01"),
        &format!("{uri}/artifacts/-1"),
        "",
    ] {
        assert_eq!(ask("resources/read", json!({"uri": odd})).await["error"]["code"], -32002, "{odd}");
        let modern = ask_modern(&server.client(), "resources/read", json!({"uri": odd})).await.json();
        assert_eq!(modern["error"]["code"], -32602, "{odd}");
    }
    let id = uri.strip_prefix("openfang://tasks/").unwrap();
    let completing = json!({
        "ref": {"type": "ref/resource", "uri": "openfang://tasks/{id}"},
        "argument": {"name": "id", "value": &id[..4]},
    });
    assert_eq!(ask("completion/complete", completing).await["result"]["completion"]["values"], json!([id]));
    server.stop().await;
}

#[tokio::test]
async fn without_a_credential_there_is_nothing() {
    let home = openfang_testkit::TestHome::new();
    let config = openfang_types::config::Config {
        api_key: Some(openfang_types::secret::Secret::new("0123456789abcdef".to_owned())),
        ..crate::http::any_port()
    };
    let server = openfang_testkit::TestServer::start(home.boot_with(config).start().unwrap()).await;

    for (method, path) in
        [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("POST", "/messages")]
    {
        let body = initialize("2025-11-25", json!({})).to_string();
        let answer = server.client().send(method, path, Some(&body)).await;
        assert_eq!(answer.status, 401, "{method} {path}");
    }
    let keyed = server.client().bearer("0123456789abcdef");
    assert_eq!(keyed.post("/mcp", &initialize("2025-11-25", json!({}))).await.status, 200);
    server.stop().await;
}
