//! Legacy sessions: sealed, bounded, resumable; and what a lost connection means in each era.

use openfang_testkit::TestServer;
use openfang_testkit::probes::Probe;
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use super::wire::{agents, headed, initialize, modern, request, server, session, texts};

#[tokio::test]
async fn a_session_ends_when_it_is_deleted_and_is_then_unknown() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let ping = request(1, "ping", json!({}));

    assert_eq!(client.post("/mcp", &ping).await.json()["result"], json!({}));
    assert_eq!(client.send("DELETE", "/mcp", None).await.status, 200);
    assert_eq!(client.post("/mcp", &ping).await.status, 404);
    assert_eq!(client.send("DELETE", "/mcp", None).await.status, 404);
    assert_eq!(client.send("GET", "/mcp", None).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn a_session_id_that_we_did_not_make_is_unknown_and_a_modern_request_ignores_it() {
    let (_home, server) = server().await;
    let good = session(&server.client(), "2025-11-25", json!({})).await;
    let id = server.client().post("/mcp", &initialize("2025-11-25", json!({}))).await;
    let id = id.header("mcp-session-id").unwrap().to_owned();
    let changed = format!("{}{}", &id[..id.len() - 1], if id.ends_with('A') { 'B' } else { 'A' });
    for odd in ["x", "00000000-0000-0000-0000-000000000000", &changed, &id[1..], &format!("{id}{id}")] {
        let client = server.client().with("mcp-session-id", odd);
        assert_eq!(client.post("/mcp", &request(1, "ping", json!({}))).await.status, 404, "{odd}");
        let message = request(1, "server/discover", modern(json!({}), json!({})));
        assert_eq!(headed(&client, &message).post("/mcp", &message).await.status, 200, "{odd}");
    }
    assert_eq!(good.post("/mcp", &request(1, "ping", json!({}))).await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn get_and_delete_without_a_session_are_not_for_this_endpoint() {
    let (_home, server) = server().await;

    for client in [server.client(), server.client().with("mcp-protocol-version", "2026-07-28")] {
        for method in ["GET", "DELETE"] {
            let answer = client.send(method, "/mcp", None).await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn after_a_restart_a_session_still_calls_and_has_no_stream() {
    let home = agents(openfang_testkit::TestHome::new());
    let first = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let answer = first.client().post("/mcp", &initialize("2025-11-25", json!({}))).await;
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    first.kernel.close().await;
    first.stop().await;

    let second = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let client = second.client().with("mcp-session-id", &id);

    assert_eq!(client.post("/mcp", &request(1, "ping", json!({}))).await.status, 200);
    assert_eq!(client.send("GET", "/mcp", None).await.status, 404);
    second.stop().await;
}

#[tokio::test]
async fn a_session_that_was_ended_stays_ended_after_a_restart() {
    let home = agents(openfang_testkit::TestHome::new());
    let first = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let begin = async || {
        let answer = first.client().post("/mcp", &initialize("2025-11-25", json!({}))).await;
        answer.header("mcp-session-id").unwrap().to_owned()
    };
    let (ended, goes_on) = (begin().await, begin().await);
    assert_eq!(first.client().with("mcp-session-id", &ended).send("DELETE", "/mcp", None).await.status, 200);
    first.kernel.close().await;
    first.stop().await;

    for _ in 0..2 {
        let again = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
        let ping = async |id: &str| {
            let client = again.client().with("mcp-session-id", id);
            client.post("/mcp", &request(1, "ping", json!({}))).await.status
        };
        assert_eq!((ping(&ended).await, ping(&goes_on).await), (404, 200));
        again.kernel.close().await;
        again.stop().await;
    }
}

#[tokio::test]
async fn in_the_modern_era_a_lost_connection_cancels_and_in_the_legacy_era_it_does_not() {
    let (_home, server) = server().await;
    let caller = openfang_testkit::callers::operator(&server.kernel);
    let params = json!({
        "name": "openfang_agent_waits", "arguments": {"message": "x"}, "_meta": {"progressToken": 1},
    });

    let message = request(1, "tools/call", modern(params.clone(), json!({})));
    let mut stream = headed(&server.client(), &message)
        .stream("POST", "/mcp", Some(&message.to_string()))
        .await;
    stream.event().await.unwrap();
    drop(stream);
    let task = until_one_is(&server, &caller, TaskState::Canceled).await;

    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let mut stream = client.stream("POST", "/mcp", Some(&request(7, "tools/call", params).to_string())).await;
    while stream.event().await.unwrap().2["method"] != "notifications/progress" {}
    drop(stream);
    let listed = server.kernel.tasks(&caller, openfang_kernel::TaskFilter::default()).await.unwrap().tasks;
    let legacy = listed.iter().find(|other| other.id != task).unwrap();
    assert!(!legacy.status.state.is_terminal());
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(client.post("/mcp", &cancel).await.status, 202);
    let followed =
        openfang_kernel::Follow { begin: openfang_kernel::Begin::Now, until: openfang_types::event::Until::Ended };
    let mut stream = server.kernel.follow(&caller, legacy.id, followed).await.unwrap();
    while stream.next().await.unwrap().is_some() {}
    assert_eq!(server.kernel.task(&caller, legacy.id).await.unwrap().status.state, TaskState::Canceled);
    server.stop().await;
}

async fn until_one_is(
    server: &TestServer,
    caller: &openfang_kernel::Caller,
    state: TaskState,
) -> openfang_types::ids::TaskId {
    loop {
        let filter = openfang_kernel::TaskFilter { state: Some(state), ..Default::default() };
        if let Some(task) = server.kernel.tasks(caller, filter).await.unwrap().tasks.first() {
            return task.id;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_stream_that_broke_is_resumed_after_its_last_event() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let params = json!({"name": "openfang_agent_steps", "arguments": {"message": "go"}, "_meta": {"progressToken": 1}});
    let mut stream = client.stream("POST", "/mcp", Some(&request(9, "tools/call", params).to_string())).await;
    // The first event has an id and nothing else to say.
    let mut first = String::new();
    while let Some(line) = stream.next().await {
        if let Some(id) = line.strip_prefix("id: ") {
            first = id.to_owned();
            break;
        }
    }
    drop(stream);

    let mut resumed = client.clone().with("last-event-id", &first).stream("GET", "/mcp", None).await;
    let mut events: Vec<Value> = Vec::new();
    while let Some(line) = resumed.next().await {
        if let Some(data) = line.strip_prefix("data: ").filter(|data| !data.is_empty()) {
            events.push(serde_json::from_str(data).unwrap());
        }
    }

    let last = events.last().unwrap();
    assert_eq!((&last["id"], texts(&last["result"]).concat()), (&json!(9), "abc".to_owned()));
    assert!(events.len() > 1);
    let odd = client.with("last-event-id", "77-1");
    assert_eq!(odd.send("GET", "/mcp", None).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn two_hundred_clients_with_the_same_ids_get_their_own_answers() {
    let (_home, server) = server().await;
    let asked = (0..200).map(|number| {
        let client = server.client();
        async move {
            let client = session(&client, "2025-11-25", json!({})).await;
            let params = json!({"name": "add_numbers", "arguments": {"a": number, "b": 1000}});
            let answer = client.post("/mcp", &request(1, "tools/call", params)).await.json();
            assert_eq!(texts(&answer["result"]), [format!("{}", number + 1000)]);
        }
    });

    futures_util::future::join_all(asked).await;
    server.stop().await;
}

#[tokio::test]
async fn ten_thousand_sessions_cost_nothing_that_grows_without_bound() {
    let (_home, server) = server().await;
    let mcp = server.kernel.mcp_server(openfang_kernel::mcp::View::Everything);
    let caller = openfang_testkit::callers::operator(&server.kernel);
    let post = |headers: http::HeaderMap, body: Value| openfang_mcp::server::http::HttpRequest {
        caller: caller.clone(),
        method: http::Method::POST,
        headers,
        body: body.to_string().into(),
    };
    let json_type = || {
        http::HeaderMap::from_iter([(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"))])
    };
    let mut first = None;
    for number in 0..10_500 {
        let response = mcp.serve_http(post(json_type(), initialize("2025-11-25", json!({})))).await;
        let id = response.headers()["mcp-session-id"].clone();
        let mut headers = json_type();
        headers.insert("mcp-session-id", id.clone());
        let answer = mcp.serve_http(post(headers.clone(), request(number, "ping", json!({})))).await;
        assert_eq!(answer.status(), 200);
        first.get_or_insert(headers);
    }

    // The first ones were forgotten to make room, and serve plain calls all the same.
    let answer = mcp.serve_http(post(first.unwrap(), request(1, "ping", json!({})))).await;
    assert_eq!(answer.status(), 200);
    server.stop().await;
}

#[tokio::test]
async fn the_first_revisions_own_transport_works() {
    let (_home, server) = server().await;
    let mut stream = server.client().stream("GET", "/sse", None).await;
    let mut path = String::new();
    while let Some(line) = stream.next().await {
        if let Some(data) = line.strip_prefix("data: ") {
            path = data.to_owned();
            break;
        }
    }
    let client = server.client();
    assert_eq!(client.post(&path, &initialize("2024-11-05", json!({}))).await.status, 202);
    let (_, _, initialized) = stream.event().await.unwrap();
    assert_eq!(initialized["result"]["protocolVersion"], "2024-11-05");
    let call = request(2, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 2, "b": 2}}));
    assert_eq!(client.post(&path, &call).await.status, 202);
    assert_eq!(texts(&stream.event().await.unwrap().2["result"]), ["4"]);
    let waiting = json!({"name": "openfang_agent_waits", "arguments": {"message": "x"}});
    client.post(&path, &request(3, "tools/call", waiting)).await;

    drop(stream);

    let caller = openfang_testkit::callers::operator(&server.kernel);
    until_one_is(&server, &caller, TaskState::Canceled).await;
    assert_eq!(client.post(&path, &call).await.status, 404);
    assert_eq!(client.post("/messages?sessionId=nope", &call).await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn a_tool_that_hangs_holds_up_nobody_else_in_the_session() {
    let home = agents(openfang_testkit::TestHome::new());
    let probe = Probe::hang();
    let kernel = home.boot_with(crate::http::any_port()).tool(probe.boxed()).start().unwrap();
    let server = TestServer::start(kernel).await;
    let client = session(&server.client(), "2025-06-18", json!({})).await;
    let hang = request(1, "tools/call", json!({"name": "probe_hang", "arguments": {}})).to_string();
    let stuck = client.stream("POST", "/mcp", Some(&hang)).await;
    while probe.calls() == 0 {
        tokio::task::yield_now().await;
    }

    assert_eq!(client.post("/mcp", &request(2, "ping", json!({}))).await.status, 200);
    let same = client.post("/mcp", &request(1, "ping", json!({}))).await.json();
    assert_eq!(same["error"]["code"], -32600, "two requests at once under one id");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.post("/mcp", &cancel).await;
    drop(stuck);
    server.stop().await;
}

#[tokio::test]
async fn a_peer_of_the_first_transport_that_does_not_read_is_not_served_for_ever() {
    let (_home, server) = server().await;
    let mut stream = server.client().stream("GET", "/sse", None).await;
    let path = loop {
        if let Some(data) = stream.next().await.unwrap().strip_prefix("data: ") {
            break data.to_owned();
        }
    };
    let list = request("x".repeat(100_000), "tools/list", json!({}));

    let mut refused = false;
    for _ in 0..2_000 {
        if server.client().post(&path, &list).await.status == 503 {
            refused = true;
            break;
        }
    }

    assert!(refused, "answers that nobody reads are piled up");
    server.stop().await;
}

#[tokio::test]
async fn streams_without_an_end_of_their_own_end_when_the_server_stops() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-06-18", json!({})).await;
    let mut listening = client.stream("GET", "/mcp", None).await;
    let mut old = server.client().stream("GET", "/sse", None).await;
    while !listening.next().await.unwrap().is_empty() {}
    while !old.next().await.unwrap().is_empty() {}

    assert_eq!(server.stop().await, openfang_api::Stopped::Finished);

    while listening.next().await.is_some() {}
    while old.next().await.is_some() {}
}

#[tokio::test]
async fn a_message_goes_to_one_reader_so_a_second_stream_ends_the_first() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-06-18", json!({})).await;
    let mut first = client.stream("GET", "/mcp", None).await;
    while !first.next().await.unwrap().is_empty() {}

    let mut second = client.stream("GET", "/mcp", None).await;
    while !second.next().await.unwrap().is_empty() {}

    while first.next().await.is_some() {}
    server.begin_stop();
    while second.next().await.is_some() {}
    server.stop().await;
}

#[tokio::test]
async fn a_request_of_a_batch_can_be_canceled() {
    let (_home, server) = server().await;
    let client = session(&server.client(), "2025-03-26", json!({})).await;
    let waiting = json!({"name": "openfang_agent_waits", "arguments": {"message": "x"}});
    let batch = json!([request(1, "tools/call", waiting), request(2, "ping", json!({}))]);
    let asked = client.clone();
    let answers = async move { asked.post("/mcp", &batch).await.json() };
    let caller = openfang_testkit::callers::operator(&server.kernel);
    let cancel = async {
        until_one_is(&server, &caller, TaskState::Working).await;
        let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        client.post("/mcp", &told).await;
    };

    let (answers, ()) = tokio::join!(answers, cancel);

    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(2)]);
    until_one_is(&server, &caller, TaskState::Canceled).await;
    server.stop().await;
}
