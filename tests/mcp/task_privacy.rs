//! Another owner's tasks, those of another label, tasks that are gone and tasks that never were: whatever is asked about them,
//! over whichever method, is answered with the same bytes.

use openfang_kernel::users::KeyWanted;
use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{Config, McpConfig};
use openfang_types::limits::Limits;
use openfang_types::taint::Label;
use serde_json::{Value, json};

use super::wire::{MODERN, headed, modern, request, session};
use crate::support::send;

const UNKNOWN: &str = "0190a000-0000-7000-8000-000000000000";

/// A way to ask about a task: a name, the method, and its parameters.
type Ask = (&'static str, &'static str, fn(&str) -> Value);

/// What the extension of 2026-07-28, the tool for tasks and resources are asked.
const MODERN_ASKS: [Ask; 9] = [
    ("tasks/get", "tasks/get", |id| json!({ "taskId": id })),
    ("tasks/update", "tasks/update", |id| json!({ "taskId": id, "inputResponses": {} })),
    ("tasks/cancel", "tasks/cancel", |id| json!({ "taskId": id })),
    ("the tool", "tools/call", |id| json!({ "name": "openfang_task", "arguments": { "task": id, "wait_secs": 0 } })),
    ("a reply", "tools/call", |id| json!({ "name": "openfang_task", "arguments": { "task": id, "reply": "x" } })),
    ("a cancel", "tools/call", |id| json!({ "name": "openfang_task", "arguments": { "task": id, "cancel": true } })),
    ("a resource", "resources/read", |id| json!({ "uri": format!("openfang://tasks/{id}") })),
    ("an artifact", "resources/read", |id| json!({ "uri": format!("openfang://tasks/{id}/artifacts/0") })),
    ("a wait", "tools/call", |id| json!({ "name": "openfang_task", "arguments": { "task": id, "wait_secs": 1 } })),
];

/// What the tasks and resources of 2025-11-25 are asked.
const LEGACY_ASKS: [Ask; 6] = [
    ("tasks/get", "tasks/get", |id| json!({ "taskId": id })),
    ("tasks/result", "tasks/result", |id| json!({ "taskId": id })),
    ("tasks/cancel", "tasks/cancel", |id| json!({ "taskId": id })),
    ("the tool", "tools/call", |id| json!({ "name": "openfang_task", "arguments": { "task": id, "wait_secs": 0 } })),
    ("a resource", "resources/read", |id| json!({ "uri": format!("openfang://tasks/{id}") })),
    ("an update", "resources/subscribe", |id| json!({ "uri": format!("openfang://tasks/{id}") })),
];

async fn answer_to(client: &Client, (_, method, params): Ask, id: &str) -> (u16, String) {
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let message = request(1, method, modern(params(id), capabilities));
    let mut client = headed(client, &message).with("mcp-protocol-version", MODERN);
    if let Some(task) = message["params"]["taskId"].as_str() {
        client = client.with("mcp-name", task);
    }
    let answer = client.post("/mcp", &message).await;
    (answer.status, answer.body.replace(id, "TASK"))
}

async fn legacy_answer_to(session: &Client, (_, method, params): Ask, id: &str) -> (u16, String) {
    let answer = session.post("/mcp", &request(1, method, params(id))).await;
    (answer.status, answer.body.replace(id, "TASK"))
}

/// A server where one finished task of an owner is kept.
async fn server(home: &TestHome) -> TestServer {
    let mut config = Config {
        limits: Limits { drain_secs: 0, ..Limits::default() },
        mcp: McpConfig { hold_secs: 1, ..McpConfig::default() },
        ..crate::http::any_port()
    };
    config.storage.finished_tasks = 1;
    TestServer::start(home.boot_with(config).start().unwrap()).await
}

#[tokio::test]
async fn what_is_not_ones_own_is_gone_or_never_was_has_one_answer() {
    let waits = "[[rules]]\nwhen = { text = \"end\" }\nsteps = [{ artifact = { name = \"a\", text = \"done\" } }]\n\
         [[rules]]\nwhen = { text = \"ask\" }\nsteps = [{ status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nsteps = [{ wait_for_cancel = true }]\n";
    let home = TestHome::new().with_script("worker", &[], waits);
    let server = server(&home).await;
    let kernel = &server.kernel;
    let key = async |name: &str| server.client().bearer(&crate::inflight::key_of(&server, name, "agent:worker").await);
    let (_person, bob) = (key("ada").await, key("bob").await);
    let wanted = KeyWanted {
        user: "ada".parse().unwrap(),
        label: "for strangers' words".to_owned(),
        entry_label: Some(Label::UntrustedAgent),
        profile: None,
        expires_at: None,
    };
    let labelled = kernel.create_user_key(&callers::operator(kernel), wanted).await.unwrap();
    let labelled = server.client().bearer(labelled.key.expose());
    let (ada, of_bob) =
        (callers::user(kernel, "ada", &["agent:worker"]), callers::user(kernel, "bob", &["agent:worker"]));
    let gone = send(kernel, &of_bob, "worker", "end").await.id.to_string();
    send(kernel, &of_bob, "worker", "end").await;
    // The older one is removed.
    kernel.start_background_agents();
    while bob.get(&format!("/api/tasks/{gone}")).await.status != 404 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let ended = send(kernel, &ada, "worker", "end").await.id.to_string();
    let asking = send(kernel, &ada, "worker", "ask").await.id.to_string();
    let working = match kernel.submit(&ada, &"worker".parse().unwrap(), kernel.message("go")).await.unwrap() {
        openfang_kernel::Reply::Task(task) => task.id.to_string(),
        openfang_kernel::Reply::Message(message) => panic!("{message:?}"),
    };

    for (who, client) in [("another owner", &bob), ("another label", &labelled)] {
        let legacy = session(client, "2025-11-25", json!({})).await;
        let ids = [("ended", &ended), ("asking", &asking), ("working", &working), ("gone", &gone)];
        for ask in MODERN_ASKS {
            let expected = answer_to(client, ask, UNKNOWN).await;
            assert!(expected.1.contains("error") || expected.1.contains("isError"), "{expected:?}");
            for (what, id) in ids {
                assert_eq!(answer_to(client, ask, id).await, expected, "{who}, {what}: {}", ask.0);
            }
        }
        for ask in LEGACY_ASKS {
            let expected = legacy_answer_to(&legacy, ask, UNKNOWN).await;
            for (what, id) in ids {
                assert_eq!(
                    legacy_answer_to(&legacy, ask, id).await,
                    expected,
                    "{who}, {what}: {} in 2025-11-25",
                    ask.0
                );
            }
        }
    }
    let untouched = kernel.task(&ada, working.parse().unwrap()).await.unwrap();
    assert_eq!(untouched.status.state, openfang_types::task::TaskState::Working);
    server.stop().await;
}

/// A client may declare tasks for one request and not for the next, on one connection.
#[tokio::test]
async fn tasks_are_declared_by_each_request_and_nobody_else_is_given_one() {
    let slow = "[[rules]]\nsteps = [{ delay_ms = 1500 }, { chunk = \"done\" }]\n";
    let home = TestHome::new().with_script("slow", &[], slow);
    let server = TestServer::start(home.boot_with(crate::http::any_port()).start().unwrap()).await;
    let (client, call) = (server.client(), json!({ "name": "openfang_agent_slow", "arguments": { "message": "go" } }));
    let session = session(&client, "2025-11-25", json!({})).await;
    let extension = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let modern_call = async |capabilities: &Value| {
        let message = request(1, "tools/call", modern(call.clone(), capabilities.clone()));
        headed(&client, &message).post("/mcp", &message).await.json()["result"].clone()
    };
    let legacy_call =
        async |id: i64, params: Value| session.post("/mcp", &request(id, "tools/call", params)).await.json();
    let mut wanted = call.clone();
    wanted["task"] = json!({ "ttl": 60_000 });

    let nothing = json!({});
    let (declared, undeclared, asked, plain) = tokio::join!(
        modern_call(&extension),
        modern_call(&nothing),
        legacy_call(2, wanted),
        legacy_call(3, call.clone()),
    );

    assert_eq!(declared["resultType"], "task", "{declared}");
    assert!(asked["result"]["task"]["taskId"].is_string(), "{asked}");
    for result in [&undeclared, &plain["result"]] {
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("done")), "{result}");
        assert!(result.get("task").is_none() && result.get("taskId").is_none(), "{result}");
    }
    server.stop().await;
}
