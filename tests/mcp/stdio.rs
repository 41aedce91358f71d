//! `openfang mcp`: a stream of messages that goes on whatever comes, in process and through a daemon.

use openfang_kernel::mcp::View;
use openfang_testkit::TestHome;
use openfang_testkit::probes::Probe;
use serde_json::{Value, json};

use super::wire::{LEGACY, Pipe, agents, initialize, modern, request, texts};
use crate::support::binary::Openfang;

#[tokio::test]
async fn both_eras_are_served_on_one_pipe() {
    let home = agents(TestHome::new());
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Everything);

    let found = pipe.ask(1, "server/discover", modern(json!({}), json!({}))).await;
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    for version in LEGACY {
        pipe.send(&initialize(version, json!({}))).await;
        assert_eq!(pipe.answer(0).await["result"]["protocolVersion"], version);
        let sum = pipe
            .ask(2, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}}))
            .await;
        assert_eq!(texts(&sum["result"]), ["3"]);
        assert!(sum["result"].get("resultType").is_none());
    }
    let sum = json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}});
    let sum = pipe.ask(3, "tools/call", modern(sum, json!({}))).await;
    assert_eq!(sum["result"]["resultType"], "complete");
    assert_eq!(pipe.end().await, "");
}

#[tokio::test]
async fn before_initialize_strange_messages_are_answered_and_nothing_ends() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);

    assert_eq!(pipe.ask(1, "probe/anything", json!({})).await["error"]["code"], -32601);
    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/whatever"})).await;
    pipe.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {}})).await;
    assert_eq!(pipe.ask(2, "ping", json!({})).await["result"], json!({}));
    pipe.end().await;
}

#[tokio::test]
async fn the_default_view_shows_agents_and_the_tools_are_not_even_callable() {
    let home = agents(TestHome::new());
    let kernel = home.kernel();
    let names = |listed: &Value| -> Vec<String> {
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };

    let mut pipe = Pipe::open(&kernel, View::Agents);
    let listed = pipe.ask(1, "tools/list", json!({})).await;
    assert!(
        names(&listed)
            .iter()
            .all(|name| name.starts_with("openfang_agent_") || name == "openfang_task"),
        "{listed}"
    );
    let refused = pipe
        .ask(2, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}}))
        .await;
    assert_eq!(refused["error"]["code"], -32602);
    pipe.end().await;

    let mut pipe = Pipe::open(&kernel, View::Agent { name: "starter".parse().unwrap(), tools: true });
    let listed = names(&pipe.ask(1, "tools/list", json!({})).await);
    assert!(listed.contains(&"openfang_agent_starter".to_owned()) && listed.contains(&"add_numbers".to_owned()));
    assert!(!listed.contains(&"openfang_agent_steps".to_owned()) && !listed.contains(&"file_write".to_owned()));
    let refused = pipe
        .ask(2, "tools/call", json!({"name": "openfang_agent_steps", "arguments": {"message": "x"}}))
        .await;
    assert_eq!(refused["error"]["code"], -32602);
    pipe.end().await;
}

#[tokio::test]
async fn requests_run_beside_each_other_and_a_canceled_one_is_not_answered() {
    let probe = Probe::hang();
    let home = TestHome::new();
    let kernel = home.boot().tool(probe.boxed()).start().unwrap();
    let mut pipe = Pipe::open(&kernel, View::Everything);
    pipe.send(&request(1, "tools/call", json!({"name": "probe_hang", "arguments": {}}))).await;

    assert_eq!(pipe.ask(2, "ping", json!({})).await["id"], 2);
    while probe.calls() == 0 {
        tokio::task::yield_now().await;
    }
    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    assert_eq!(pipe.ask(3, "ping", json!({})).await["id"], 3);
    assert_eq!(pipe.end().await, "", "a canceled request is not answered");
}

#[tokio::test]
async fn when_the_input_ends_running_work_is_canceled() {
    let home = agents(TestHome::new());
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    pipe.send(&request(1, "tools/call", json!({"name": "openfang_agent_waits", "arguments": {"message": "x"}})))
        .await;
    assert_eq!(pipe.ask(2, "ping", json!({})).await["id"], 2);

    assert_eq!(pipe.end().await, "");

    let caller = openfang_testkit::callers::operator(&kernel);
    loop {
        let tasks = kernel.tasks(&caller, Default::default()).await.unwrap().tasks;
        if tasks.iter().any(|task| task.status.state == openfang_types::task::TaskState::Canceled) {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_message_that_is_too_large_is_drained_and_the_next_one_answered() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..11 {
        pipe.write(&piece).await;
    }
    pipe.write(b"\n").await;

    let refused = pipe.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!(pipe.ask(1, "ping", json!({})).await["result"], json!({}));
    pipe.end().await;
}

#[tokio::test]
async fn a_line_that_is_no_message_is_said_to_be_none_and_the_stream_goes_on() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    let not_json: [&[u8]; 9] = [
        b"hello",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"}",
        b"\xff\xfe",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\0ng\"}",
        b"Content-Length: 5",
        b"{",
    ];
    for line in not_json {
        pipe.write(line).await;
        pipe.write(b"\n").await;
        let refused = pipe.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32700)), "{line:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    pipe.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{deep}}}\n").as_bytes())
        .await;
    assert_eq!(pipe.next().await["error"]["code"], -32700);
    for (line, id) in [
        (json!([request(1, "ping", json!({}))]), Value::Null),
        (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), json!(1)),
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), Value::Null),
        (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), Value::Null),
        (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), Value::Null),
        (json!({"jsonrpc": "2.0", "id": 1, "Method": "ping"}), json!(1)),
        (json!({"jsonrpc": "2.0", "id": 1, "method": 7}), json!(1)),
    ] {
        pipe.send(&line).await;
        let refused = pipe.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&id, &json!(-32600)), "{line}");
    }
    assert_eq!(pipe.ask(1, "ping", json!({})).await["result"], json!({}));
    pipe.end().await;
}

#[tokio::test]
async fn a_client_that_never_reads_is_not_read_from_either() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let mut pipe = Pipe::open(&kernel, View::Agents);
    let line = format!("{}\n", request("x".repeat(200), "nope", json!({})));

    let mut written = 0_usize;
    while tokio::time::timeout(std::time::Duration::from_millis(300), pipe.write(line.as_bytes()))
        .await
        .is_ok()
    {
        written += line.len();
        assert!(written < 8 * 1024 * 1024, "it reads on although nobody takes the answers");
    }
}

#[test]
fn the_binary_answers_on_stdio_with_nothing_but_the_protocol() {
    let openfang = Openfang::new();
    let input = [
        initialize("2025-11-25", json!({})),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(1, "tools/call", json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}})),
    ];
    let input: String = input.iter().map(|message| format!("{message}\n")).collect();

    let ran = openfang.run_with_input(&["mcp"], input.as_bytes());

    assert_eq!(ran.code, 0, "{ran:?}");
    let answers: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(texts(&answers[1]["result"]), ["Hello, Ada!"]);
}

#[test]
fn through_a_daemon_the_same_is_answered_and_two_ides_work_at_once() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let mut first = openfang.converse(&["mcp", "--tools"]);
    let mut second = openfang.converse(&["mcp"]);
    for ide in [&mut first, &mut second] {
        ide.ask(&initialize("2025-06-18", json!({})));
        let hello =
            request(1, "tools/call", json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}}));
        assert_eq!(texts(&ide.ask(&hello)["result"]), ["Hello, Ada!"]);
    }
    let sum = request(2, "tools/call", json!({"name": "add_numbers", "arguments": {"a": 1, "b": 2}}));
    assert_eq!(texts(&first.ask(&sum)["result"]), ["3"]);
    assert_eq!(second.ask(&sum)["error"]["code"], -32602);
    let tasks = first.ask(&request(3, "resources/list", json!({})));
    assert_eq!(tasks["result"]["resources"].as_array().unwrap().len(), 2);
}

#[test]
fn when_the_daemon_dies_the_work_goes_on_in_this_process_and_what_was_lost_is_said() {
    let openfang = Openfang::new();
    openfang.write(
        "agents/waits/agent.toml",
        "name = \"waits\"\ndescription = \"waits\"\n[model]\nprovider = \"script\"\n[capabilities]\ntools = []\n",
    );
    openfang
        .write("agents/waits/script.toml", "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]\n");
    openfang.write("agents/starter/agent.toml", "name = \"starter\"\ndescription = \"greets\"\ndefault_tool = \"get_greeting\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"get_greeting\"]\n");
    let daemon = openfang.start();
    let mut ide = openfang.converse(&["mcp"]);
    ide.ask(&initialize("2025-06-18", json!({})));
    let hello = request(1, "tools/call", json!({"name": "openfang_agent_starter", "arguments": {"message": "Ada"}}));
    assert_eq!(texts(&ide.ask(&hello)["result"]), ["Hello, Ada!"]);
    let waiting = json!({"name": "openfang_agent_waits", "arguments": {"message": "x"}, "_meta": {"progressToken": 1}});
    ide.send(&request(2, "tools/call", waiting));
    assert_eq!(ide.next()["method"], "notifications/progress");

    daemon.signal("KILL");
    drop(daemon);

    let lost = ide.answer(2);
    assert_eq!(lost["result"]["isError"], true, "{lost}");
    assert!(texts(&lost["result"])[0].contains("lost"), "{lost}");
    assert_eq!(texts(&ide.ask(&hello)["result"]), ["Hello, Ada!"]);
}
