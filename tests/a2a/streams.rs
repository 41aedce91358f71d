//! Streams: whoever reads slowly, twice, from the middle or from nowhere gets what happened, or is told why not.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{agents, ask, begin, code, config, limits, request, said, server, stream, until};
use crate::support::binary::Openfang;

#[tokio::test]
async fn a_reader_resumes_after_events_that_were_there_and_no_others() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = begin(&client, "steps", "go").await;
    until(&client, &task, "TASK_STATE_COMPLETED").await;
    let other = begin(&client, "waits", "go").await;
    let resumed = |last: &str| client.clone().with("last-event-id", last);
    let all = stream(&resumed(&format!("{task}:0")), "SubscribeToTask", json!({"id": task}))
        .await
        .events()
        .await;
    let last: u64 = all.last().unwrap().1.rsplit(':').next().unwrap().parse().unwrap();
    for from in 0..=last {
        let rest = stream(&resumed(&format!("{task}:{from}")), "SubscribeToTask", json!({"id": task}))
            .await
            .events()
            .await;
        assert_eq!(rest[0].1, format!("{task}:{from}"), "the task as of then");
        assert!(rest[0].2["result"]["task"].is_object(), "{rest:?}");
        let ids: Vec<&str> = rest[1..].iter().map(|(_, id, _)| id.as_str()).collect();
        let seq = |id: &str| id.rsplit(':').next().unwrap().parse::<u64>().unwrap();
        let expected: Vec<&str> = all[1..].iter().map(|(_, id, _)| id.as_str()).filter(|id| seq(id) > from).collect();
        assert_eq!(ids, expected, "after {from}");
    }
    let forged = [
        format!("{task}:{}", last + 1),
        format!("{task}:99999999999999999999"),
        format!("{task}:-1"),
        format!("{task}:1.5"),
        format!("{task}:"),
        format!("{other}:1"),
        "0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000:1".to_owned(),
        task.clone(),
        "1".to_owned(),
        "x".repeat(5_000),
    ];
    for last in forged {
        let client = resumed(&last);
        let rpc = client.post("/a2a", &request(1, "SubscribeToTask", json!({"id": task}))).await;
        assert_eq!(code(&rpc), -32602, "{}", &last[..last.len().min(60)]);
        let rest = client.get(&format!("/a2a/rest/tasks/{task}:subscribe")).await;
        assert_eq!((rest.status, rest.header("content-type")), (400, Some("application/json")), "{rest:?}");
    }
    // Without one, a task that has ended has nothing to follow.
    assert_eq!(ask(&client, "SubscribeToTask", json!({"id": task})).await["error"]["code"], -32004);
    server.stop().await;
}

#[tokio::test]
async fn in_0_1_an_event_names_its_artifact_by_the_place_it_has_in_the_task() {
    let steps =
        "[[rules]]\nsteps = [{ chunk = \"a\" }, { artifact = { id = \"r\", text = \"c\" } }, { chunk = \"b\" }]\n";
    let home = TestHome::new().with_script("steps", &[], steps);
    let config = Config { default_agent: Some("steps".parse().unwrap()), ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let message = json!({"role": "user", "parts": [{"type": "text", "text": "go"}]});
    let places = |events: &[(String, String, Value)]| -> Vec<(String, u64)> {
        let place = |event: &Value| event["result"]["artifact"]["index"].as_u64();
        events.iter().filter_map(|(_, id, event)| Some((id.clone(), place(event)?))).collect()
    };

    let events = stream(&client, "tasks/sendSubscribe", json!({"id": "t", "message": message}))
        .await
        .events()
        .await;

    let all = places(&events);
    assert_eq!(all.iter().map(|(_, place)| *place).collect::<Vec<_>>(), [0, 1, 0], "{events:?}");
    let task = ask(&client, "tasks/get", json!({"id": "t"})).await["result"].clone();
    let texts = ["/artifacts/0/index", "/artifacts/1/index", "/artifacts/0/parts/0/text", "/artifacts/1/parts/0/text"];
    assert_eq!(texts.map(|path| task.pointer(path).cloned()), [json!(0), json!(1), json!("a"), json!("c")].map(Some));
    for (n, (id, _)) in all.iter().enumerate() {
        let resumed = client.clone().with("last-event-id", id);
        let rest = stream(&resumed, "tasks/resubscribe", json!({"id": "t"})).await.events().await;
        assert_eq!(places(&rest), all[n + 1..], "after {id}");
    }
    server.stop().await;
}

#[tokio::test]
async fn history_and_pages_are_as_long_as_was_asked() {
    let (_home, server) = server().await;
    let client = server.client();
    let asked =
        ask(&client, "SendMessage", json!({"tenant": "asks", "message": said("q", "go")})).await["result"]["task"]
            .clone();
    let task = asked["id"].as_str().unwrap();
    let mut answer = said("a", "five");
    answer["taskId"] = json!(task);
    ask(&client, "SendMessage", json!({"message": answer})).await;
    for (length, expected) in [(Some(0), 0), (Some(1), 1), (Some(2), 2), (Some(1_000_000), 3), (None, 3)] {
        let got = ask(&client, "GetTask", json!({"id": task, "historyLength": length})).await["result"].clone();
        assert_eq!(got["history"].as_array().map_or(0, Vec::len), expected, "{length:?}: {got}");
        if expected == 0 {
            assert!(got.get("history").is_none(), "{got}");
        }
        let query = length.map_or(String::new(), |length| format!("?historyLength={length}"));
        let rest = client.get(&format!("/a2a/rest/tasks/{task}{query}")).await.json();
        assert_eq!(rest, got, "both bindings say the same");
    }
    for wrong in [json!(-1), json!(1.5), json!("many"), json!([])] {
        assert_eq!(ask(&client, "GetTask", json!({"id": task, "historyLength": wrong})).await["error"]["code"], -32602);
    }
    assert_eq!(client.get(&format!("/a2a/rest/tasks/{task}?historyLength=-1")).await.status, 400);
    for wrong in [json!(-1), json!(0), json!(101), json!(1_000_000_000), json!(1e20), json!("x")] {
        let listed = ask(&client, "ListTasks", json!({"pageSize": wrong})).await;
        assert_eq!(listed["error"]["code"], -32602, "{wrong}: {listed}");
        let rest = client
            .get(&format!("/a2a/rest/tasks?pageSize={}", wrong.to_string().trim_matches('"')))
            .await;
        assert_eq!(rest.status, 400, "{wrong}: {rest:?}");
    }
    for _ in 0..6 {
        let task = begin(&client, "steps", "go").await;
        until(&client, &task, "TASK_STATE_COMPLETED").await;
    }
    let first = ask(&client, "ListTasks", json!({"pageSize": 3})).await["result"].clone();
    assert_eq!((&first["totalSize"], &first["pageSize"]), (&json!(7), &json!(3)), "{first}");
    let mut token = first["nextPageToken"].as_str().unwrap().to_owned();
    let mut seen: Vec<Value> = first["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
    while !token.is_empty() {
        let page = client.get(&format!("/a2a/rest/tasks?pageSize=3&pageToken={token}")).await.json();
        seen.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()));
        token = page["nextPageToken"].as_str().unwrap().to_owned();
    }
    seen.sort_by_key(Value::to_string);
    seen.dedup();
    assert_eq!(seen.len(), 7, "each once");
    for forged in ["x", "AAAA", "%00", &"A".repeat(4_000)] {
        assert_eq!(ask(&client, "ListTasks", json!({"pageToken": forged})).await["error"]["code"], -32602, "{forged}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_holds_up_nobody_and_can_come_back() {
    const CHUNKS: usize = 300;
    let chunk = "x".repeat(20_000);
    let steps = format!("{{ chunk = \"{chunk}\" }},").repeat(CHUNKS);
    let home = TestHome::new().with_script("talks", &[], &format!("[[rules]]\nsteps = [{steps}]\n"));
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    let client = server.client();
    let params = json!({"tenant": "talks", "message": said("m", "go")});
    let mut slow = stream(&client, "SendStreamingMessage", params).await;
    let (_, first, data) = slow.event().await.unwrap();
    let task = data["result"]["task"]["id"].as_str().unwrap().to_owned();
    // More than a connection holds is written while nobody reads.
    loop {
        let listed = ask(&client, "ListTasks", json!({"tenant": "talks"})).await;
        if listed["result"]["tasks"][0]["status"]["state"] == "TASK_STATE_COMPLETED" {
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(slow);
    let mut again = stream(&client.clone().with("last-event-id", &first), "SubscribeToTask", json!({"id": task})).await;
    let mut chunks = 0;
    while let Some((_, _, data)) = again.event().await {
        chunks += usize::from(data["result"]["artifactUpdate"]["artifact"]["parts"][0]["text"] == chunk.as_str());
    }
    assert_eq!(chunks, CHUNKS);
    server.stop().await;
}

/// Opens a stream that goes on.
async fn open(client: &Client, task: &str) -> openfang_testkit::http::Lines {
    let mut lines = stream(client, "SubscribeToTask", json!({"id": task})).await;
    lines.event().await.unwrap();
    lines
}

#[tokio::test]
async fn one_stream_too_many_is_refused_in_the_protocols_words_and_none_is_closed_for_it() {
    assert_eq!(Limits::default().streams_per_owner, 500);
    let home = agents(TestHome::new());
    let limits = Limits { streams_per_owner: 20, ..limits() };
    let server = TestServer::start(home.boot_with(Config { limits, ..config() }).start().unwrap()).await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(open(&client, &task).await);
    }
    let rpc = client.post("/a2a", &request(1, "SubscribeToTask", json!({"id": task}))).await;
    assert_eq!((rpc.status, code(&rpc)), (200, -32000), "{rpc:?}");
    let rest = client.get(&format!("/a2a/rest/tasks/{task}:subscribe")).await;
    assert_eq!((rest.status, &rest.json()["error"]["status"]), (429, &json!("RESOURCE_EXHAUSTED")), "{rest:?}");
    assert!(rest.header("retry-after").is_some());
    let before = ask(&client, "ListTasks", json!({})).await["result"]["totalSize"].clone();
    let sent = ask(&client, "SendStreamingMessage", json!({"tenant": "waits", "message": said("m", "go")})).await;
    assert_eq!(sent["error"]["code"], -32000, "{sent}");
    let after = ask(&client, "ListTasks", json!({})).await["result"]["totalSize"].clone();
    assert_eq!(before, after, "a message whose stream was refused began nothing");
    // One that leaves makes room.
    drop(readers.pop());
    let mut more = loop {
        let mut lines = stream(&client, "SubscribeToTask", json!({"id": task})).await;
        match lines.event().await {
            Some(_) => break lines,
            None => tokio::task::yield_now().await,
        }
    };
    ask(&client, "CancelTask", json!({"id": task})).await;
    for reader in readers.iter_mut().chain([&mut more]) {
        let last = reader.events().await;
        assert_eq!(last.last().unwrap().2["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_has_a_last_word_for_every_stream() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "[a2a]\nenabled = true\n[limits]\ndrain_secs = 1\n");
    for (name, step) in [
        ("waits", "{ wait_for_cancel = true }"),
        ("asks", "{ status = { state = \"input-required\", message = \"well?\" } }"),
    ] {
        openfang.write(
            &format!("agents/{name}/agent.toml"),
            &format!("name = \"{name}\"\ndescription = \"d\"\n[model]\nprovider = \"script\""),
        );
        openfang.write(&format!("agents/{name}/script.toml"), &format!("[[rules]]\nsteps = [{step}]"));
    }
    let mut daemon = openfang.start();
    let client = daemon.client();
    let mut working =
        stream(&client, "SendStreamingMessage", json!({"tenant": "waits", "message": said("w", "go")})).await;
    working.event().await.unwrap();
    let asked = begin(&client, "asks", "go").await;
    until(&client, &asked, "TASK_STATE_INPUT_REQUIRED").await;
    let mut waiting = open(&client, &asked).await;

    daemon.signal("TERM");

    let last = working.events().await;
    assert_eq!(last.last().unwrap().2["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_FAILED", "{last:?}");
    let mut said = Vec::new();
    while let Some(line) = waiting.next().await {
        said.push(line);
    }
    assert!(said.iter().any(|line| line.starts_with(": the server is stopping")), "{said:?}");
    assert_eq!(daemon.wait().code, 0);
    let again = openfang.start();
    assert_eq!(super::wire::state(&again.client(), &asked).await, "TASK_STATE_INPUT_REQUIRED");
}
