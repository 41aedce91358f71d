//! Agents that wait until somebody signs in on their own page: nobody answers here, and the task goes on when the agent does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openfang_kernel::{Caller, Kernel};
use openfang_testkit::http::Client;
use openfang_testkit::{RawAgent, TestHome, TestServer, callers, raw_agent};
use openfang_types::config::{Config, ExternalAgent, McpConfig};
use openfang_types::ids::TaskId;
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::mcp::wire::{headed, modern, request, texts};
use crate::support::binary::Openfang;
use crate::support::{artifact_text, assert_state, send};

const PAGE: &str = "https://login.example/start?for=us";
/// How long a condition may take. Successful tests never wait this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent whose task waits for a sign-in.
struct SignInAgent {
    agent: RawAgent,
    is_signed_in: Arc<AtomicBool>,
}

impl SignInAgent {
    async fn start() -> Self {
        let is_signed_in: Arc<AtomicBool> = Arc::default();
        let signed_in = Arc::clone(&is_signed_in);
        let agent = RawAgent::with_card(false, move |request: Value, _| {
            let is_done = signed_in.load(Ordering::SeqCst);
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            async move {
                let task =
                    if is_done { raw_agent::task("t1", "TASK_STATE_COMPLETED", "the result") } else { waiting() };
                match method.as_str() {
                    "SendMessage" => raw_agent::result(&json!({ "task": waiting() })),
                    "GetTask" => raw_agent::result(&task),
                    "CancelTask" => raw_agent::result(&raw_agent::task("t1", "TASK_STATE_CANCELED", "")),
                    _ => raw_agent::error(-32_004, "not supported"),
                }
            }
        })
        .await;
        Self { agent, is_signed_in }
    }

    fn sign_in(&self) {
        self.is_signed_in.store(true, Ordering::SeqCst);
    }

    fn count(&self, method: &str) -> usize {
        self.agent.calls(method).len()
    }
}

fn waiting() -> Value {
    let mut task = raw_agent::task("t1", "TASK_STATE_AUTH_REQUIRED", "");
    task["artifacts"] = json!([]);
    let says = format!("Please sign in: {PAGE}");
    task["status"]["message"] = json!({ "messageId": "q", "role": "ROLE_AGENT", "parts": [{ "text": says }] });
    task
}

/// A server that has the agent, and keeps MCP clients waiting for a second.
async fn near(agent: &SignInAgent) -> (TestServer, TestHome) {
    let home = TestHome::new();
    let mcp = McpConfig { hold_secs: 1, ..McpConfig::default() };
    let mut near = Config { mcp, ..config() };
    near.a2a.external_agents = vec![ExternalAgent::new("far".parse().unwrap(), agent.agent.url())];
    (start(&home, near).await, home)
}

async fn becomes(kernel: &Kernel, caller: &Caller, task: TaskId, state: TaskState) -> Task {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let now = kernel.task(caller, task).await.unwrap();
        if now.status.state == state {
            return now;
        }
        assert!(tokio::time::Instant::now() < deadline, "it does not become {state}: {now:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A call of a modern client that has these capabilities.
async fn ask(client: &Client, method: &str, params: Value, capabilities: &Value) -> Value {
    let message = request(1, method, modern(params, capabilities.clone()));
    let mut client = headed(client, &message);
    if let Some(task) = message["params"]["taskId"].as_str() {
        client = client.with("mcp-name", task);
    }
    let answer = client.post("/mcp", &message).await.json();
    assert_eq!(answer.get("error"), None, "{answer}");
    answer["result"].clone()
}

fn call_of_far() -> Value {
    json!({ "name": "a2a_far", "arguments": { "message": "hi" } })
}

#[tokio::test]
async fn a_task_goes_on_by_itself_once_somebody_signed_in_at_the_agent() {
    let agent = SignInAgent::start().await;
    let (near, _home) = near(&agent).await;
    let caller = callers::user(&near.kernel, "ada", &["a2a_far"]);

    let task = send(&near.kernel, &caller, "far", "hi").await;
    assert_state(&task, TaskState::AuthRequired);
    agent.sign_in();

    let done = becomes(&near.kernel, &caller, task.id, TaskState::Completed).await;
    assert_eq!(artifact_text(&done, "answer"), "the result");
    assert_eq!(agent.count("SendMessage"), 1, "nothing was sent in answer to the question");
    near.stop().await;
}

#[tokio::test]
async fn a_canceled_task_stays_canceled_and_is_looked_at_no_more() {
    let agent = SignInAgent::start().await;
    let (near, _home) = near(&agent).await;
    let caller = callers::operator(&near.kernel);
    let task = send(&near.kernel, &caller, "far", "hi").await;

    near.kernel.cancel_task(&caller, task.id).await.unwrap();
    agent.sign_in();

    let deadline = tokio::time::Instant::now() + PATIENCE;
    while agent.count("CancelTask") == 0 {
        assert!(tokio::time::Instant::now() < deadline, "the agent is told");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_state(&near.kernel.task(&caller, task.id).await.unwrap(), TaskState::Canceled);
    near.stop().await;
}

#[tokio::test]
async fn a_client_that_shows_pages_is_given_the_page_and_the_result_after_the_sign_in() {
    let agent = SignInAgent::start().await;
    let (near, _home) = near(&agent).await;
    let (client, pages) = (near.client(), json!({ "elicitation": { "url": {} } }));

    let asked = ask(&client, "tools/call", call_of_far(), &pages).await;

    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let request = &asked["inputRequests"]["sign-in"];
    assert_eq!((&request["params"]["mode"], &request["params"]["url"]), (&json!("url"), &json!(PAGE)), "{asked}");
    let message = request["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The A2A agent far asks you to sign in at login.example:"), "{message}");

    // The page was opened, and nobody has signed in yet: the client is told where the task is.
    let mut again = call_of_far();
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "sign-in": { "action": "accept" } });
    let waits = ask(&client, "tools/call", again, &pages).await;
    assert_eq!(waits["structuredContent"]["state"], "auth-required", "{waits}");
    agent.sign_in();
    let task = waits["structuredContent"]["task"].clone();
    let id: TaskId = task.as_str().unwrap().parse().unwrap();
    becomes(&near.kernel, &callers::operator(&near.kernel), id, TaskState::Completed).await;
    let fetch = json!({ "name": "openfang_task", "arguments": { "task": task } });
    let done = ask(&client, "tools/call", fetch, &pages).await;
    assert!(texts(&done).concat().contains("the result"), "{done}");
    assert_eq!(agent.count("SendMessage"), 1);
    near.stop().await;
}

#[tokio::test]
async fn a_sign_in_while_the_call_waits_is_the_result_of_the_call() {
    let agent = SignInAgent::start().await;
    let home = TestHome::new();
    let mcp = McpConfig { hold_secs: 55, ..McpConfig::default() };
    let mut config = Config { mcp, ..config() };
    config.a2a.external_agents = vec![ExternalAgent::new("far".parse().unwrap(), agent.agent.url())];
    let near = start(&home, config).await;
    let (client, pages) = (near.client(), json!({ "elicitation": { "url": {} } }));
    let asked = ask(&client, "tools/call", call_of_far(), &pages).await;
    let mut again = call_of_far();
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "sign-in": { "action": "accept" } });

    let looks = agent.count("GetTask");
    let signing_in = async {
        while agent.count("GetTask") == looks {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        agent.sign_in();
    };
    let (done, ()) = tokio::join!(ask(&client, "tools/call", again, &pages), signing_in);

    assert!(texts(&done).concat().contains("the result"), "{done}");
    near.stop().await;
}

#[tokio::test]
async fn a_client_with_forms_only_is_told_and_never_given_a_form_for_a_credential() {
    let agent = SignInAgent::start().await;
    let (near, _home) = near(&agent).await;
    for capabilities in [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } })] {
        let told = ask(&near.client(), "tools/call", call_of_far(), &capabilities).await;
        assert_eq!(told["resultType"], "complete", "{capabilities}: {told}");
        assert!(texts(&told).concat().contains(PAGE), "{told}");
    }
    near.stop().await;
}

#[tokio::test]
async fn as_a_task_of_mcp_it_shows_the_page_or_works_on_until_the_sign_in() {
    let extension = json!({ "io.modelcontextprotocol/tasks": {} });
    for (elicitation, shown) in [(json!({ "url": {} }), "input_required"), (json!({}), "working")] {
        let agent = SignInAgent::start().await;
        let (near, _home) = near(&agent).await;
        let client = near.client();
        let caller = callers::operator(&near.kernel);
        let task = send(&near.kernel, &caller, "far", "hi").await;
        let capabilities = json!({ "elicitation": elicitation, "extensions": extension });
        let get = || json!({ "taskId": task.id });

        let stands = ask(&client, "tasks/get", get(), &capabilities).await;

        assert_eq!(stands["status"], shown, "{stands}");
        assert!(stands["statusMessage"].as_str().unwrap().contains(PAGE), "{stands}");
        if let Some((key, _)) = stands["inputRequests"].as_object().and_then(|asked| asked.iter().next()) {
            let opened = json!({ "taskId": task.id, "inputResponses": { key: { "action": "accept" } } });
            ask(&client, "tasks/update", opened, &capabilities).await;
        }
        agent.sign_in();
        becomes(&near.kernel, &caller, task.id, TaskState::Completed).await;
        let done = ask(&client, "tasks/get", get(), &capabilities).await;
        assert!(texts(&done["result"]).concat().contains("the result"), "{done}");
        assert_eq!(agent.count("SendMessage"), 1);
        near.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_is_noticed_though_the_process_that_waited_for_it_was_killed() {
    let agent = SignInAgent::start().await;
    let near = Openfang::new();
    let url = agent.agent.url();
    near.write(
        "config.toml",
        &format!("[a2a]\nenabled = true\n\n[[a2a.external_agents]]\nname = \"far\"\nurl = \"{url}\"\n"),
    );
    let mut daemon = near.start();
    let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hi" }] });
    let rpc = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let sent = rpc("SendMessage", json!({ "tenant": "far", "message": message }));
    let asked = daemon.client().post("/a2a", &sent).await.json();
    let task = &asked["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_AUTH_REQUIRED", "{asked}");

    daemon.signal("KILL");
    daemon.wait();
    agent.sign_in();
    let daemon = near.start();

    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let now = daemon.client().post("/a2a", &rpc("GetTask", json!({ "id": task["id"] }))).await.json();
        if now["result"]["status"]["state"] == "TASK_STATE_COMPLETED" {
            assert!(now.to_string().contains("the result"), "{now}");
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{now}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(agent.count("SendMessage"), 1);
}
