//! Calls to agents that take longer than their clients wait: the client is given the task, the agent goes on, and nothing is
//! done twice.

use openfang_kernel::mcp::View;
use openfang_kernel::users::KeyWanted;
use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{Config, McpConfig};
use openfang_types::limits::Limits;
use openfang_types::taint::Label;
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};

use super::wire::{Pipe, ask_modern, initialize, modern, request, session, texts};

/// An agent that takes longer than clients wait, one that never ends, and one that asks.
fn home() -> TestHome {
    let slow = "[[rules]]\nsteps = [{ delay_ms = 1500 }, { chunk = \"done\" }]\n";
    let waits = "[[rules]]\nsteps = [{ wait_for_cancel = true }]\n";
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nwhen = { turn = 2 }\nsteps = [{ chunk = \"thank you\" }]\n";
    TestHome::new()
        .with_script("slow", &[], slow)
        .with_script("waits", &[], waits)
        .with_script("asks", &[], asks)
}

/// A client waits for a second; one that calls itself patient, as long as it takes.
fn config() -> Config {
    let hold_secs_of = [("patient".to_owned(), 600)].into();
    let mcp = McpConfig { hold_secs: 1, hold_secs_of, ..McpConfig::default() };
    let limits = Limits { drain_secs: 0, ..Limits::default() };
    Config { mcp, limits, ..crate::http::any_port() }
}

async fn server(home: &TestHome) -> TestServer {
    TestServer::start(home.boot_with(config()).start().unwrap()).await
}

fn to(agent: &str) -> Value {
    json!({"name": format!("openfang_agent_{agent}"), "arguments": {"message": "please"}})
}

fn task_call(arguments: Value) -> Value {
    json!({"name": "openfang_task", "arguments": arguments})
}

async fn call(client: &Client, params: Value) -> Value {
    ask_modern(client, "tools/call", params).await.json()["result"].clone()
}

/// The task that a result names instead of an answer.
#[track_caller]
fn task_of(result: &Value) -> Value {
    assert_eq!((&result["structuredContent"]["state"], result.get("isError")), (&json!("working"), None), "{result}");
    let task = result["structuredContent"]["task"].clone();
    assert!(texts(result)[0].contains(&format!("openfang_task with {{\"task\": {task}}}")), "{result}");
    assert_eq!(result["content"][1]["uri"], format!("openfang://tasks/{}", task.as_str().unwrap()));
    task
}

async fn tasks(server: &TestServer) -> Vec<Task> {
    let caller = callers::operator(&server.kernel);
    server.kernel.tasks(&caller, Default::default()).await.unwrap().tasks
}

#[tokio::test]
async fn a_client_that_does_not_wait_so_long_gets_the_task_and_then_its_result() {
    let home = home();
    let server = server(&home).await;
    let modern = server.client();
    let legacy = session(&modern, "2025-06-18", json!({})).await;

    let first = task_of(&call(&modern, to("slow")).await);
    let done = call(&modern, task_call(json!({"task": first}))).await;
    assert_eq!(texts(&done), ["done"]);

    let second = legacy.post("/mcp", &request(1, "tools/call", to("slow"))).await.json()["result"].clone();
    let second = task_of(&second);
    let again = request(2, "tools/call", task_call(json!({"task": second, "wait_secs": 0})));
    assert_eq!(task_of(&legacy.post("/mcp", &again).await.json()["result"]), second, "it is still working");
    let done = request(3, "tools/call", task_call(json!({"task": second, "wait_secs": 55})));
    assert_eq!(texts(&legacy.post("/mcp", &done).await.json()["result"]), ["done"]);

    assert_ne!(first, second);
    assert_eq!(tasks(&server).await.len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn a_call_that_is_repeated_joins_its_task_until_the_result_was_fetched() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let task = task_of(&call(&client, to("slow")).await);

    let joined = call(&client, to("slow")).await;

    assert_eq!(texts(&joined), ["done"]);
    assert_eq!(tasks(&server).await.len(), 1, "the second call is the first one again");
    let anew = task_of(&call(&client, to("slow")).await);
    assert_ne!(anew, task, "the result was fetched, so this call is a new one");
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_is_known_to_wait_is_kept_until_the_result_is_there() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let mut params = to("slow");
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "patient", "version": "1"});
    assert_eq!(texts(&call(&client, params).await), ["done"]);

    let mut hello = initialize("2025-11-25", json!({}));
    hello["params"]["clientInfo"]["name"] = json!("patient");
    let begun = client.post("/mcp", &hello).await;
    let legacy = client.clone().with("mcp-session-id", begun.header("mcp-session-id").unwrap());
    let result = legacy.post("/mcp", &request(1, "tools/call", to("slow"))).await.json()["result"].clone();
    assert_eq!(texts(&result), ["done"]);
    server.stop().await;
}

#[tokio::test]
async fn the_time_out_of_a_client_does_not_stop_the_agent_and_a_cancel_does() {
    let home = home();
    let kernel = home.boot_with(Config { mcp: McpConfig::default(), ..config() }).start().unwrap();
    let caller = callers::operator(&kernel);
    for is_modern in [false, true] {
        let said = |params: Value| if is_modern { modern(params, json!({})) } else { params };
        let mut pipe = Pipe::open(&kernel, View::Agents);
        if !is_modern {
            pipe.send(&initialize("2025-11-25", json!({}))).await;
            pipe.next().await;
        }
        let stop = |id: i64, reason: &str| {
            let params = said(json!({"requestId": id, "reason": reason}));
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        };
        let running = async |number: usize| {
            loop {
                let listed = kernel.tasks(&caller, Default::default()).await.unwrap().tasks;
                if listed.iter().filter(|task| task.status.state == TaskState::Working).count() == number {
                    return listed;
                }
                tokio::task::yield_now().await;
            }
        };

        pipe.send(&request(1, "tools/call", said(to("waits")))).await;
        let begun = running(1).await;
        pipe.send(&stop(1, "McpError: MCP error -32001: Request timed out")).await;
        let looked = pipe
            .ask(2, "tools/call", said(task_call(json!({"task": begun[0].id, "wait_secs": 0}))))
            .await;
        assert_eq!(
            task_of(&looked["result"]),
            json!(begun[0].id),
            "nobody is told about request 1, and the agent goes on"
        );

        let mut again = to("waits");
        again["_meta"]["progressToken"] = json!("again");
        pipe.send(&request(3, "tools/call", said(again))).await;
        while pipe.next().await["method"] != "notifications/progress" {}
        assert_eq!(running(1).await.len(), begun.len(), "the repeated call joined it");
        pipe.send(&stop(3, "the user pressed stop")).await;
        let ended = running(0).await;
        assert!(ended.iter().all(|task| task.status.state == TaskState::Canceled), "{ended:?}");
        pipe.end().await;
    }
    kernel.close().await;
}

#[tokio::test]
async fn a_question_is_answered_by_the_same_tool_and_a_task_is_canceled_by_it() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let asked = call(&client, to("asks")).await;
    let waiting = tasks(&server).await[0].id;
    assert!(texts(&asked)[1].contains(&format!("openfang_task (task {waiting} and reply)")), "{asked}");

    let thanked = call(&client, task_call(json!({"task": waiting, "reply": "3"}))).await;
    assert_eq!(texts(&thanked), ["thank you"]);

    let task = task_of(&call(&client, to("waits")).await);
    let canceled = call(&client, task_call(json!({"task": task, "cancel": true}))).await;
    assert_eq!((&canceled["isError"], texts(&canceled)), (&json!(true), vec!["the task is canceled".to_owned()]));
    let refused = call(&client, task_call(json!({"task": task, "cancel": true}))).await;
    assert!(texts(&refused)[0].contains("canceled"), "{refused}");
    server.stop().await;
}

#[tokio::test]
async fn tasks_of_others_and_of_other_keys_look_like_none() {
    let home = home();
    let server = server(&home).await;
    let key = async |name: &str| server.client().bearer(&crate::inflight::key_of(&server, name, "agent:waits").await);
    let (person, other) = (key("ada").await, key("bob").await);
    let wanted = KeyWanted {
        user: "ada".parse().unwrap(),
        label: "for strangers' words".to_owned(),
        entry_label: Some(Label::UntrustedAgent),
        profile: None,
        expires_at: None,
    };
    let made = server.kernel.create_user_key(&callers::operator(&server.kernel), wanted).await.unwrap();
    let untrusted = server.client().bearer(made.key.expose());
    let task = task_of(&call(&person, to("waits")).await);
    let labelled = task_of(&call(&untrusted, to("waits")).await);
    assert_ne!(labelled, task, "the call of another key is another call");

    let unknown = "0190a000-0000-7000-8000-000000000000";
    for arguments in [json!({}), json!({"reply": "x"}), json!({"cancel": true}), json!({"wait_secs": 0})] {
        let with = |task: &Value| {
            let mut arguments = arguments.clone();
            arguments["task"] = task.clone();
            task_call(arguments)
        };
        let expected = call(&untrusted, with(&json!(unknown))).await;
        assert_eq!(call(&untrusted, with(&task)).await, expected, "{arguments}");
        assert_eq!(call(&untrusted, with(&json!("no id"))).await, expected, "{arguments}");
        assert_eq!(call(&other, with(&task)).await, expected, "{arguments}");
    }
    for client in [&untrusted, &other] {
        let read = async |task: &str| {
            let uri = format!("openfang://tasks/{task}");
            let answer = ask_modern(client, "resources/read", json!({"uri": uri})).await;
            (answer.status, answer.body.replace(task, "TASK"))
        };
        assert_eq!(read(task.as_str().unwrap()).await, read(unknown).await);
        let listed = ask_modern(client, "resources/list", json!({})).await.body;
        assert!(!listed.contains(task.as_str().unwrap()), "{listed}");
        let path = |id: &str| format!("/api/tasks/{id}");
        assert_eq!(client.get(&path(task.as_str().unwrap())).await.status, client.get(&path(unknown)).await.status);
    }
    let own = call(&person, task_call(json!({"task": task, "wait_secs": 0}))).await;
    assert_eq!(task_of(&own), task);
    assert_eq!(
        person.get(&format!("/api/tasks/{}", labelled.as_str().unwrap())).await.status,
        200,
        "a whole key sees all"
    );
    server.stop().await;
}

#[tokio::test]
async fn wrong_arguments_are_explained_and_change_nothing() {
    let home = home();
    let server = server(&home).await;
    let client = server.client();
    let task = task_of(&call(&client, to("waits")).await);
    for (arguments, expected) in [
        (json!({}), "missing field `task`"),
        (json!({"task": 7}), "invalid type"),
        (json!({"task": task, "wait_secs": 56}), "at most 55"),
        (json!({"task": task, "wait_secs": -1}), "invalid value"),
        (json!({"task": task, "reply": "x", "cancel": true}), "not both"),
        (json!({"task": task, "other": 1}), "unknown field"),
        (json!({"task": task, "reply": "x"}), "working"),
    ] {
        let result = call(&client, task_call(arguments.clone())).await;
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert!(texts(&result)[0].contains(expected), "{arguments}: {result}");
    }
    assert_eq!(tasks(&server).await[0].status.state, TaskState::Working);
    server.stop().await;
}
