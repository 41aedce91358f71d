//! Agents in between that hand on less than an OpenFang would: a chain ends at the limit as long as anything of the trace
//! comes back, and at the number of messages under way if nothing does. Calls that a client makes at the same time are no
//! chain, though they have one trace.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future::join_all;
use openfang_kernel::{Caller, Kernel};
use openfang_testkit::http::Client;
use openfang_testkit::receiver::Post;
use openfang_testkit::{RawAgent, TestHome, TestServer, callers, raw_agent};
use openfang_types::config::{Config, ExternalAgent};
use openfang_types::secret::Secret;
use serde_json::{Value, json};

use super::fixture::{config, start};
use crate::support::send;

const KEY: &str = "an-api-key-of-some-length";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PASSES_ON: &str = r#"
    [[rules]]
    steps = [{ tool = { name = "a2a_other", arguments = { message = "go" } } }]
"#;

fn traceparent(span: usize) -> String {
    format!("00-{TRACE}-{span:016x}-01")
}

/// What an agent in between hands on with a request that it makes.
type HandsOn = fn(Client, &Post) -> Client;

/// A server whose agent passes every message to an agent in between, which sends it back to the server.
struct Circle {
    server: TestServer,
    /// The messages that came to the agent in between.
    passed: Arc<AtomicUsize>,
    _between: RawAgent,
    _home: TestHome,
}

impl Circle {
    async fn start(hands_on: HandsOn, change: impl FnOnce(&mut Config)) -> Self {
        let (near, passed): (Arc<OnceLock<Client>>, Arc<AtomicUsize>) = Default::default();
        let (back, count) = (Arc::clone(&near), Arc::clone(&passed));
        let between = RawAgent::with_card(false, move |_, post| {
            let number = count.fetch_add(1, Ordering::SeqCst);
            let client = hands_on(back.get().unwrap().clone(), &post);
            async move {
                let message =
                    json!({"messageId": format!("between-{number}"), "role": "ROLE_USER", "parts": [{"text": "go"}]});
                let params = json!({"tenant": "passer", "message": message});
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
                let said = client.post("/a2a", &body).await.json();
                let task = raw_agent::task(&format!("t-{number}"), "TASK_STATE_COMPLETED", &said.to_string());
                raw_agent::result(&json!({ "task": task }))
            }
        })
        .await;
        let home = TestHome::new().with_script("passer", &["a2a_*"], PASSES_ON);
        let mut config = config();
        config.a2a.external_agents = vec![ExternalAgent::new("other".parse().unwrap(), between.url())];
        change(&mut config);
        let server = start(&home, config).await;
        near.set(server.client()).ok().unwrap();
        Self { server, passed, _between: between, _home: home }
    }

    /// Begins a chain. Returns how many messages came to the agent in between, and what came of it.
    async fn run(self, caller: fn(&Kernel) -> Caller) -> (usize, String) {
        let task = send(&self.server.kernel, &caller(&self.server.kernel), "passer", "go").await;
        self.server.stop().await;
        (self.passed.load(Ordering::SeqCst), serde_json::to_string(&task).unwrap())
    }
}

/// With the headers of these names, as they came.
fn copied(client: Client, post: &Post, names: &[&str]) -> Client {
    names.iter().fold(client, |client, name| match post.header(name) {
        Some(value) => client.with(name, value),
        None => client,
    })
}

/// In the same trace, with a span of its own, as the SDKs of OpenTelemetry make requests.
fn in_a_span_of_its_own(client: Client, post: &Post) -> Client {
    static SPANS: AtomicUsize = AtomicUsize::new(0xabc0);
    let trace = post.header("traceparent").and_then(|parent| parent.split('-').nth(1)).unwrap();
    client.with("traceparent", &format!("00-{trace}-{:016x}-01", SPANS.fetch_add(1, Ordering::SeqCst)))
}

#[tokio::test]
async fn a_chain_ends_at_the_limit_though_the_agent_in_between_hands_on_the_trace_only() {
    let ways: [(&str, HandsOn); 2] = [
        ("the header as it came", |client, post| copied(client, post, &["traceparent"])),
        ("a span of its own and the state of the trace", |client, post| {
            copied(in_a_span_of_its_own(client, post), post, &["tracestate"])
        }),
    ];
    for (name, hands_on) in ways {
        let (passed, said) = Circle::start(hands_on, |_| {}).await.run(callers::operator).await;

        assert_eq!(passed, 4, "{name}");
        assert!(said.contains("agents may call agents 4 deep"), "{name}: {said}");
    }
}

#[tokio::test]
async fn a_chain_ends_at_the_limit_where_the_agent_in_between_has_a_credential_of_its_own() {
    let hands_on: HandsOn = |client, post| in_a_span_of_its_own(client, post).bearer(KEY);
    let circle = Circle::start(hands_on, |config| config.api_key = Some(Secret::new(KEY.to_owned()))).await;

    let (passed, said) = circle.run(|kernel| callers::user(kernel, "ada", &["agent:passer/*"])).await;

    assert_eq!(passed, 4);
    assert!(said.contains("agents may call agents 4 deep"), "{said}");
}

#[tokio::test]
async fn a_chain_of_which_nothing_comes_back_ends_at_the_messages_that_may_be_under_way() {
    let circle = Circle::start(|client, _| client, |config| config.a2a.external_agents[0].max_live = 9).await;

    let (passed, said) = circle.run(callers::operator).await;

    assert_eq!(passed, 9);
    assert!(said.contains("9 messages are under way to the A2A agent other"), "{said}");
}

/// A server with an agent that answers when so many messages are there, so that all of them are under way together.
async fn gathering(count: usize) -> (TestServer, TestHome, RawAgent) {
    let barrier = Arc::new(tokio::sync::Barrier::new(count));
    let agent = RawAgent::with_card(false, move |request: Value, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            let text = request["params"]["message"]["parts"][0]["text"].as_str().unwrap().to_owned();
            raw_agent::result(&json!({ "task": raw_agent::task(&text, "TASK_STATE_COMPLETED", &text) }))
        }
    })
    .await;
    let home = TestHome::new();
    let mut config = config();
    config.a2a.external_agents = vec![ExternalAgent::new("other".parse().unwrap(), agent.url())];
    (start(&home, config).await, home, agent)
}

#[tokio::test]
async fn calls_that_a_client_makes_at_the_same_time_in_one_trace_are_no_chain() {
    const CALLS: usize = 12;
    for spans in [[1; CALLS], std::array::from_fn(|number| number + 1)] {
        let (server, _home, _agent) = gathering(CALLS).await;
        let call = |number: usize| {
            // Half of them name the trace in the header, half in `_meta`.
            let parent = traceparent(spans[number]);
            let meta = if number.is_multiple_of(2) { json!({}) } else { json!({ "traceparent": parent }) };
            let arguments = json!({ "message": format!("m{number}") });
            let params = json!({"name": "a2a_other", "arguments": arguments, "_meta": meta});
            let body = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
            let client = server
                .client()
                .with("mcp-protocol-version", "2025-11-25")
                .with("accept", "application/json, text/event-stream");
            let client = if number.is_multiple_of(2) { client.with("traceparent", &parent) } else { client };
            async move { client.post("/mcp", &body).await.body }
        };

        let answers = join_all((0..CALLS).map(call)).await;

        for (number, answer) in answers.iter().enumerate() {
            assert!(answer.contains("\"state\":\"completed\"") && answer.contains(&format!("m{number}")), "{answer}");
        }
        server.stop().await;
    }
}
