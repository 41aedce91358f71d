//! Our client and real agents, on the SDKs people use: each is sent messages, followed, asked back, canceled and cut off, and
//! comes to the same results.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use openfang_a2a::client::{
    ClientError, Delivery, Follower, Outgoing, Protocol, RemoteAgent, RemoteEvent, RemoteSettings, Sent,
};
use openfang_a2a::dialect::Dialect;
use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::task::{Message, Role, TaskState};

use crate::support::cutting_proxy::CuttingProxy;
use crate::support::peers::{A2aAgent, RunningAgent};
use crate::support::rounds;

/// Cuts of the streams of each SDK; `EXTERNAL_CUTS` says otherwise.
const CUTS: u64 = 10;
const CUTS_AT_ONCE: usize = 5;
const SLOW: &str = "chunk 0;chunk 1;chunk 2;chunk 3;chunk 4;";

/// What an OpenFang does as the other agents do.
const OPENFANG: &str = r#"
    [[rules]]
    when = { turn = 2 }
    steps = [{ artifact = { name = "answer", text = "chosen: blue" } }]
    [[rules]]
    when = { text = "hello" }
    steps = [{ artifact = { name = "answer", text = "echo: hello" } }]
    [[rules]]
    when = { text = "slow" }
    steps = [
        { artifact = { id = "a", text = "chunk 0;" } }, { delay_ms = 20 },
        { artifact = { id = "a", text = "chunk 1;", append = true } }, { delay_ms = 20 },
        { artifact = { id = "a", text = "chunk 2;", append = true } }, { delay_ms = 20 },
        { artifact = { id = "a", text = "chunk 3;", append = true } }, { delay_ms = 20 },
        { artifact = { id = "a", text = "chunk 4;", append = true, last = true } },
    ]
    [[rules]]
    when = { text = "ask" }
    steps = [{ status = { state = "input-required", message = "which one?" } }]
    [[rules]]
    when = { text = "hang" }
    steps = [{ status = { state = "working", message = "waiting" } }, { wait_for_cancel = true }]
"#;

fn remote(settings: RemoteSettings) -> RemoteAgent {
    RemoteAgent::new(HttpDoor::new(HttpConfig::default()).unwrap(), settings).unwrap()
}

/// A message that no agent has seen.
fn message(text: &str) -> Message {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let id = format!("message-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    Message::text(id.parse().unwrap(), Role::User, text)
}

/// What a message came to.
#[derive(Debug, Default)]
struct Outcome {
    task: Option<String>,
    /// The text of the artifact, as a reader of the events has it.
    artifact: String,
    end: String,
}

async fn outcome(follower: &mut Follower) -> Result<Outcome, ClientError> {
    let mut seen = Outcome::default();
    while let Some(event) = follower.next().await? {
        match event {
            RemoteEvent::Known { task, .. } => seen.task = Some(task.to_string()),
            RemoteEvent::Artifact(update) => {
                let text: String = update.artifact.parts.iter().filter_map(|part| part.as_text()).collect();
                if update.append { seen.artifact.push_str(&text) } else { seen.artifact = text }
            }
            RemoteEvent::Status(_) | RemoteEvent::Message(_) => {}
            RemoteEvent::Asked(status) => {
                let question = status.message.map(|message| message.joined_text()).unwrap_or_default();
                seen.end = format!("{}: {question}", status.state);
            }
            RemoteEvent::Ended(status) => seen.end = status.state.to_string(),
            RemoteEvent::Replied(message) => seen.end = format!("replied: {}", message.joined_text()),
        }
    }
    Ok(seen)
}

async fn talk(agent: &RemoteAgent, text: &str) -> Outcome {
    let mut follower = agent.send(Outgoing::new(message(text))).await.unwrap();
    outcome(&mut follower).await.unwrap()
}

async fn does_everything(kind: A2aAgent) {
    let running = kind.start();
    // Some agents do not say in the stream that a task was canceled.
    let silence = Duration::from_secs(1);
    let agent = remote(RemoteSettings { silence, ..RemoteSettings::operator(running.url()) });

    if kind == A2aAgent::RustServer {
        assert_eq!(talk(&agent, "hello").await.end, "completed");
    } else {
        works_and_is_canceled(&agent).await;
    }
    if kind.is_whole() {
        assert_eq!(talk(&agent, "say hi").await.end, "replied: said: say hi");
        answers_a_question(&agent).await;
    }
    knows_no_other_task(&agent).await;
}

async fn works_and_is_canceled(agent: &RemoteAgent) {
    works(agent).await;
    is_canceled(agent).await;
}

async fn works(agent: &RemoteAgent) {
    let hello = talk(agent, "hello").await;
    assert_eq!((hello.artifact.as_str(), hello.end.as_str()), ("echo: hello", "completed"));
    let slow = talk(agent, "slow").await;
    assert_eq!((slow.artifact.as_str(), slow.end.as_str()), (SLOW, "completed"));
}

/// A task that asks is canceled in the place of an answer.
async fn is_canceled_when_it_asks(agent: &RemoteAgent) {
    let mut follower = agent.send(Outgoing::new(message("ask"))).await.unwrap();
    outcome(&mut follower).await.unwrap();
    let task = follower.task().unwrap().id.clone();

    agent.cancel(&task).await.unwrap();

    assert_eq!(agent.get_task(&task).await.unwrap().status.state, TaskState::Canceled);
}

async fn knows_no_other_task(agent: &RemoteAgent) {
    let unknown = "00000000-0000-4000-8000-000000000000".parse().unwrap();
    assert!(matches!(agent.get_task(&unknown).await, Err(ClientError::TaskNotFound)));
}

async fn answers_a_question(agent: &RemoteAgent) {
    let mut follower = agent.send(Outgoing::new(message("ask"))).await.unwrap();
    let asked = outcome(&mut follower).await.unwrap();
    assert_eq!(asked.end, "input-required: which one?");
    let task = follower.task().unwrap();
    let answer = Message { context_id: task.context_id.clone(), ..message("blue") };
    let mut follower = agent.send(Outgoing::continuing(answer, task.id.clone())).await.unwrap();
    let done = outcome(&mut follower).await.unwrap();
    assert_eq!((done.artifact.as_str(), done.end.as_str()), ("chosen: blue", "completed"));
    assert!(done.task.is_none_or(|continued| Some(continued) == asked.task));
}

/// A task that would never end is canceled while it is followed.
async fn is_canceled(agent: &RemoteAgent) {
    let mut follower = agent.send(Outgoing::new(message("hang"))).await.unwrap();
    let task = loop {
        match follower.next().await.unwrap() {
            Some(RemoteEvent::Status(status)) if status.state == TaskState::Working => {
                break follower.task().unwrap().id.clone();
            }
            Some(_) => {}
            None => panic!("it ended by itself"),
        }
    };
    agent.cancel(&task).await.unwrap();
    assert_eq!(outcome(&mut follower).await.unwrap().end, "canceled");
}

/// Where an agent is, and how it is spoken to.
struct AgentPlace {
    address: String,
    url: String,
    /// The path of its endpoint.
    path: &'static str,
    protocol: Protocol,
    /// Whether it can be asked for its tasks.
    lists: bool,
}

impl AgentPlace {
    fn of(running: &RunningAgent) -> Self {
        Self {
            address: running.address().to_owned(),
            url: running.url(),
            path: "/",
            protocol: Protocol::Auto,
            lists: running.lists(),
        }
    }
}

/// The result of a message whose stream is cut after some bytes.
async fn cut(place: &AgentPlace, after: usize) -> Option<Outcome> {
    let proxy = CuttingProxy::before(&place.address, after);
    let settings = RemoteSettings {
        endpoint: Some(format!("{}{}", proxy.url(), place.path)),
        protocol: place.protocol,
        idle: Duration::from_secs(5),
        ..RemoteSettings::operator(&place.url)
    };
    let agent = remote(settings);
    let sent = message("slow");
    let failed = match agent.send(Outgoing::new(sent.clone())).await {
        Ok(mut follower) => match outcome(&mut follower).await {
            Ok(seen) => return Some(seen),
            Err(error) => error,
        },
        Err(error) => error,
    };
    // The agent's id of the task was not received yet.
    if matches!(failed, ClientError::Stalled { .. }) {
        return None;
    }
    assert_eq!(failed.delivery(), Delivery::Unknown, "{failed}");
    assert_eq!(proxy.cuts(), 1);
    match agent.find_sent(&sent.message_id, None).await.unwrap() {
        Sent::Found(task) => Some(outcome(&mut agent.follow(task.id, None).await.unwrap()).await.unwrap()),
        Sent::Absent => panic!("the message arrived"),
        Sent::Unknown => {
            // An agent of 1.0 can be asked, unless it has no list.
            assert!(agent.known().unwrap().interface.dialect != Dialect::V10 || !place.lists);
            None
        }
    }
}

async fn survives_cuts(kind: A2aAgent) {
    let running = kind.start();
    assert!(cut_at_many_places(&AgentPlace::of(&running)).await > 0);
}

/// Cuts the stream again and again. Each result is the whole or none; returns how many were whole.
async fn cut_at_many_places(place: &AgentPlace) -> usize {
    let cuts = futures_util::stream::iter(0..rounds("EXTERNAL_CUTS", CUTS)).map(|number| async move {
        // Evenly spread over the answer, however many there are.
        let after = 100 + number * 1_236_067 % 3_200;
        let seen = cut(place, usize::try_from(after).unwrap()).await?;
        assert_eq!((seen.artifact.as_str(), seen.end.as_str()), (SLOW, "completed"), "cut after {after} bytes");
        Some(after)
    });
    let whole: Vec<u64> = cuts.buffer_unordered(CUTS_AT_ONCE).filter_map(std::future::ready).collect().await;
    whole.len()
}

macro_rules! agents {
    ($($does:ident, $cut:ident: $kind:ident;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $does() {
            does_everything(A2aAgent::$kind).await;
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn $cut() {
            survives_cuts(A2aAgent::$kind).await;
        })*
    };
}

agents! {
    the_python_sdk_1_3_strict_does_everything, the_python_sdk_1_3_strict_survives_cuts: Python13Strict;
    the_python_sdk_1_3_with_0_3_does_everything, the_python_sdk_1_3_with_0_3_survives_cuts: Python13Compat;
    the_python_sdk_1_3_on_http_json_does_everything, the_python_sdk_1_3_on_http_json_survives_cuts: Python13Rest;
    the_python_sdk_0_3_does_everything, the_python_sdk_0_3_survives_cuts: Python03;
    the_python_sdk_0_3_on_http_json_does_everything, the_python_sdk_0_3_on_http_json_survives_cuts: Python03Rest;
    the_javascript_sdk_1_3_strict_does_everything, the_javascript_sdk_1_3_strict_survives_cuts: Js13Strict;
    the_javascript_sdk_1_3_with_0_3_does_everything, the_javascript_sdk_1_3_with_0_3_survives_cuts: Js13Compat;
    the_javascript_sdk_0_3_does_everything, the_javascript_sdk_0_3_survives_cuts: Js03;
    the_javascript_sdk_0_2_does_everything, the_javascript_sdk_0_2_survives_cuts: Js02;
    the_rust_sdk_does_everything, the_rust_sdk_survives_cuts: Rust;
    fasta2a_does_everything, fasta2a_survives_cuts: FastA2a;
}

/// It makes a new task of an answer. What that task would do is not what was asked for, so it is canceled, and the reason is said.
#[tokio::test(flavor = "multi_thread")]
async fn fasta2a_asks_and_an_answer_that_becomes_another_task_is_an_error_that_says_so() {
    let running = A2aAgent::FastA2a.start();
    let agent = remote(RemoteSettings::operator(running.url()));
    let mut follower = agent.send(Outgoing::new(message("ask"))).await.unwrap();
    let asked = outcome(&mut follower).await.unwrap();
    assert_eq!(asked.end, "input-required: which one?");
    let task = follower.task().unwrap();
    let answer = Message { context_id: task.context_id.clone(), ..message("hang") };

    let mut answered = agent.send(Outgoing::continuing(answer, task.id.clone())).await.unwrap();
    let Err(ClientError::WrongTask(wrong)) = outcome(&mut answered).await else { panic!("it went on") };

    assert_eq!(wrong.expected, task.id);
    // Its worker hears of the cancel later than we have the answer.
    while agent.get_task(&wrong.found).await.unwrap().status.state != TaskState::Canceled {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_1_3_without_streams_does_everything() {
    does_everything(A2aAgent::Python13Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_0_3_without_streams_does_everything() {
    does_everything(A2aAgent::Python03Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_0_2_does_everything() {
    does_everything(A2aAgent::Python02).await;
}

/// A cut stream stops the work of this SDK for good: the result is an honest failure or the whole.
#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_0_2_survives_cuts_without_a_false_result() {
    let running = A2aAgent::Python02.start();
    cut_at_many_places(&AgentPlace::of(&running)).await;
}

async fn another_openfang() -> (TestHome, TestServer) {
    let home = TestHome::new().with_script("worker", &[], OPENFANG);
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let config = Config { a2a, default_agent: Some("worker".parse().unwrap()), ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

/// Another OpenFang, spoken to in each version of its card, and in those that the card does not name.
#[tokio::test(flavor = "multi_thread")]
async fn another_openfang_does_everything_in_every_dialect() {
    let (_home, server) = another_openfang().await;
    let url = format!("http://{}", server.address);
    for (protocol, endpoint) in [
        (Protocol::Auto, None),
        (Protocol::V10, None),
        (Protocol::V03, None),
        (Protocol::V01, Some(format!("{url}/a2a"))),
        (Protocol::OpenFang, Some(format!("{url}/a2a"))),
    ] {
        let agent = remote(RemoteSettings { protocol, endpoint, ..RemoteSettings::operator(&url) });

        // OpenFang's own dialect names a task when its turn is over.
        match protocol {
            Protocol::OpenFang => works(&agent).await,
            Protocol::Auto | Protocol::V10 | Protocol::V03 | Protocol::V01 => works_and_is_canceled(&agent).await,
        }
        is_canceled_when_it_asks(&agent).await;
        answers_a_question(&agent).await;
        knows_no_other_task(&agent).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_openfang_survives_cuts_in_every_dialect() {
    let (_home, server) = another_openfang().await;
    for protocol in [Protocol::V10, Protocol::V03, Protocol::V01, Protocol::OpenFang] {
        let place = AgentPlace {
            address: server.address.to_string(),
            url: format!("http://{}", server.address),
            path: "/a2a",
            protocol,
            lists: true,
        };
        assert!(cut_at_many_places(&place).await > 0, "{protocol:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_server_without_a_card_is_found_and_used() {
    does_everything(A2aAgent::RustServer).await;
}
