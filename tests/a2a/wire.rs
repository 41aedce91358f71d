//! Messages and servers of the tests beside this file.

use openfang_testkit::http::{Answer, Client, Lines};
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::limits::Limits;
use serde_json::{Value, json};

/// A config that offers A2A on a free port.
pub(super) fn config() -> Config {
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    Config { a2a, limits: limits(), ..crate::http::any_port() }
}

/// Limits under which a server does not wait for work that never ends when it stops.
pub(super) fn limits() -> Limits {
    Limits { drain_secs: 0, ..Limits::default() }
}

/// A request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A message of 1.0.
pub(super) fn said(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Asks over JSON-RPC.
pub(super) async fn ask(client: &Client, method: &str, params: Value) -> Value {
    let answer = client.post("/a2a", &request(1, method, params)).await;
    assert_eq!(answer.status, 200, "{method}: {answer:?}");
    answer.json()
}

/// Opens a stream over JSON-RPC.
pub(super) async fn stream(client: &Client, method: &str, params: Value) -> Lines {
    let body = request(1, method, params).to_string();
    client.stream("POST", "/a2a", Some(&body)).await
}

/// Starts a task with an agent of this name, and returns its id at once.
pub(super) async fn begin(client: &Client, agent: &str, text: &str) -> String {
    let params = json!({
        "tenant": agent,
        "message": said(&format!("{agent}-{text}-{}", fresh()), text),
        "configuration": {"returnImmediately": true},
    });
    let answer = ask(client, "SendMessage", params).await;
    answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// A name that nothing else has.
pub(crate) fn fresh() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("fresh-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The state that 1.0 says a task is in.
pub(super) async fn state(client: &Client, task: &str) -> String {
    let answer = ask(client, "GetTask", json!({"id": task})).await;
    answer["result"]["status"]["state"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

/// Waits until a task is in this state.
pub(super) async fn until(client: &Client, task: &str, wanted: &str) {
    while state(client, task).await != wanted {
        tokio::task::yield_now().await;
    }
}

/// The code of a refusal.
pub(super) fn code(answer: &Answer) -> i64 {
    answer.json()["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error in {answer:?}"))
}

/// Whether the state of 1.0 is an end.
pub(super) fn is_end(state: &str) -> bool {
    ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"].contains(&state)
}

/// A server with agents that talk, ask, wait and fail.
pub(super) async fn server() -> (TestHome, TestServer) {
    let home = agents(TestHome::new());
    let server = TestServer::start(home.boot_with(config()).start().unwrap()).await;
    (home, server)
}

/// Agents that talk, ask, wait, ask another one, and fail.
pub(super) fn agents(home: TestHome) -> TestHome {
    let asks = "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nwhen = { turn = 2 }\nsteps = [{ chunk = \"thank you\" }]\n";
    let steps =
        "[[rules]]\nsteps = [{ chunk = \"a\" }, { chunk = \"b\" }, { artifact = { name = \"r\", text = \"c\" } }]\n";
    let waits = "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]\n";
    let sends = "[[rules]]\nsteps = [{ tool = { name = \"agent_send\", arguments = { agent = \"waits\", message = \"go\" } } }]\n";
    let fails = "[[rules]]\nsteps = [{ fail = \"out of paper\" }]\n";
    let plain = "[[rules]]\nsteps = [{ reply = \"no task\" }]\n";
    home.with_script("asks", &[], asks)
        .with_script("steps", &[], steps)
        .with_script("waits", &[], waits)
        .with_script("sends", &["*"], sends)
        .with_script("fails", &[], fails)
        .with_script("plain", &[], plain)
        .with_direct("worker", &["*"])
}
