//! Real MCP clients use real A2A agents through us, in both eras of MCP: progress, questions, files and cancel.

use std::time::Duration;

use openfang_a2a::client::{RemoteAgent, RemoteSettings};
use openfang_a2a::operation::ListTasks;
use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_types::task::TaskState;
use serde_json::{Value, json};

use crate::support::binary::{Daemon, Openfang};
use crate::support::peers::{A2aAgent, Era, Peer, RunningAgent};

/// An agent on an SDK, and a server that has it as the external agent `tried`.
struct Bridge {
    daemon: Daemon,
    home: Openfang,
    agent: RunningAgent,
}

impl Bridge {
    fn to(agent: A2aAgent) -> Self {
        let (agent, home) = (agent.start(), Openfang::new());
        let entry = format!("[[a2a.external_agents]]\nname = \"tried\"\nurl = \"{}\"\n", agent.url());
        home.write("config.toml", &entry);
        Self { daemon: home.start(), home, agent }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.daemon.address())
    }
}

fn texts(call: &Value) -> String {
    let blocks = call["content"].as_array().unwrap_or_else(|| panic!("{call}"));
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// A client sends four messages to the agent through its tool.
fn uses_the_agent(client: Peer, era: Era, agent: A2aAgent) {
    let bridge = Bridge::to(agent);
    let say = |text: &str| json!({ "message": text });
    let job = client.http(&bridge.url()).era(era).progress().elicit(&json!({ "reply": "blue" }));
    let job = job.call("a2a_tried", &say("slow")).call("a2a_tried", &say("ask"));

    let seen = job.call("a2a_tried", &say("picture")).call("a2a_tried", &say("say hi")).run();

    let calls = seen["calls"].as_array().unwrap();
    let [slow, asked, picture, said] = calls.as_slice() else { panic!("{seen}") };
    assert_eq!(
        (slow["isError"].as_bool().unwrap_or(false), texts(slow)),
        (false, "chunk 0;chunk 1;chunk 2;chunk 3;chunk 4;".into())
    );
    assert!(slow["progress"].as_array().is_some_and(|told| told.len() > 1), "{slow}");
    assert_eq!(seen["elicitations"].as_array().map(Vec::len), Some(1), "{seen}");
    assert!(seen["elicitations"].to_string().contains("which one?"), "{seen}");
    assert!(texts(asked).contains("chosen: blue"), "{asked}");
    assert_eq!(picture["content"][0], json!({ "type": "image", "data": "iVBORw0K", "mimeType": "image/png" }));
    assert!(texts(said).contains("said: say hi"), "{said}");
}

#[test]
fn the_python_client_of_2025_uses_a_python_agent_of_1_0() {
    uses_the_agent(Peer::PythonMcp, Era::Legacy, A2aAgent::Python13Strict);
}

#[test]
fn the_python_client_of_2026_uses_a_python_agent_of_1_0() {
    uses_the_agent(Peer::PythonMcp, Era::Modern, A2aAgent::Python13Strict);
}

/// The states of the agent's tasks, as it says itself.
fn states(agent: &RunningAgent) -> Vec<TaskState> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let door = HttpDoor::new(HttpConfig::default()).unwrap();
    let asked = RemoteAgent::new(door, RemoteSettings::operator(agent.url())).unwrap();
    let listed = runtime.block_on(asked.list_tasks(ListTasks::default())).unwrap();
    listed.tasks.iter().map(|task| task.status.state).collect()
}

#[test]
fn a_call_that_the_client_gives_up_is_canceled_at_the_agent() {
    for era in [Era::Legacy, Era::Modern] {
        let bridge = Bridge::to(A2aAgent::Python13Strict);
        let job = Peer::PythonMcp.http(&bridge.url()).era(era).cancel_after(Duration::from_secs(2));

        let seen = job.call("a2a_tried", &json!({ "message": "hang" })).run();

        assert_eq!(seen["calls"][0]["cancelled"], true, "{seen}");
        let is_canceled = || states(&bridge.agent) == [TaskState::Canceled];
        assert!((0..500).any(|_| is_canceled()), "{:?}", states(&bridge.agent));
        let listed = bridge.home.run(&["task", "list", "--json"]).json();
        assert_eq!(listed["tasks"][0]["status"]["state"], "canceled", "{listed}");
    }
}
