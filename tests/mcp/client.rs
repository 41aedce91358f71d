//! The client against our own server, over every way of HTTP that there is.

use std::sync::Mutex;
use std::time::Duration;

use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Connecting, Connection, Endpoint, Notice, OutgoingRequest, RawMembers, Step, connect};
use openfang_mcp::meta::LogLevel;
use openfang_mcp::{Era, Revision};
use openfang_testkit::mcp_fixture;
use openfang_types::call::CallListener;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

const PATIENCE: Duration = Duration::from_secs(30);

struct Spoken {
    connection: Connection,
    tracker: TaskTracker,
}

impl Spoken {
    async fn with(url: &str, only: Option<Era>) -> Self {
        let door = HttpDoor::new(HttpConfig::default()).unwrap();
        let endpoint = Endpoint::Url { url: door.guard().operator(url).unwrap(), door, headers: Vec::new() };
        let tracker = TaskTracker::new();
        let declared = to_raw_value(&json!({"elicitation": {}, "sampling": {}, "roots": {}})).unwrap();
        let declared = ClientCapabilities::read(&declared);
        let how = Connecting {
            endpoint,
            redactor: std::sync::Arc::default(),
            only,
            known: None,
            declared,
            patience: PATIENCE,
            tracker: tracker.clone(),
            counts: std::sync::Arc::default(),
        };
        Self { connection: connect(how).await.unwrap(), tracker }
    }

    fn call<'a>(name: &'a str, arguments: &Value) -> OutgoingRequest<'a> {
        let members = RawMembers::none().with("name", name).with("arguments", arguments);
        OutgoingRequest { named: Some(name), ..OutgoingRequest::new("tools/call", members, PATIENCE) }
    }

    /// Nothing of the conversation is left.
    async fn ends(self) {
        drop(self.connection);
        self.tracker.close();
        let ending = tokio::time::timeout(PATIENCE, self.tracker.wait()).await;
        assert!(ending.is_ok(), "a task outlives its conversation");
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl CallListener for Heard {
    fn progress(&self, progress: f64, total: Option<f64>, _: Option<&str>) {
        self.0.lock().unwrap().push(format!("{progress}/{}", total.unwrap_or_default()));
    }

    fn log(&self, _: LogLevel, _: Option<&str>, data: &RawValue) {
        self.0.lock().unwrap().push(data.to_string());
    }

    fn level(&self) -> Option<LogLevel> {
        Some(LogLevel::Debug)
    }
}

fn text(result: &RawValue) -> String {
    let result: Value = serde_json::from_str(result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_client_speaks_what_the_server_speaks_over_every_transport() {
    let fixture = mcp_fixture::start().await;
    let sse = fixture.url.replace("/mcp", "/sse");
    for (url, only, revision) in [
        (&fixture.url, None, Revision::V2026_07_28),
        (&fixture.url, Some(Era::Modern), Revision::V2026_07_28),
        (&fixture.url, Some(Era::Legacy), Revision::V2025_11_25),
        (&sse, None, Revision::V2025_11_25),
        (&sse, Some(Era::Legacy), Revision::V2025_11_25),
    ] {
        let spoken = Spoken::with(url, only).await;
        let heard = Heard::default();

        let listed = spoken.connection.ask("tools/list", RawMembers::none(), PATIENCE).await.unwrap();
        let said = spoken
            .connection
            .request(Spoken::call("test_simple_text", &json!({})), &heard)
            .await
            .unwrap();
        spoken
            .connection
            .request(Spoken::call("test_tool_with_progress", &json!({})), &heard)
            .await
            .unwrap();

        assert_eq!(spoken.connection.revision(), revision);
        assert_eq!(spoken.connection.facts().name, "openfang-fixture");
        assert!(listed.get().contains("test_simple_text"), "{listed}");
        assert_eq!(text(&said), "This is a simple text response for testing.");
        assert_eq!(*heard.0.lock().unwrap(), ["0/100", "50/100", "100/100"]);
        spoken.ends().await;
    }
}

#[tokio::test]
async fn a_question_in_the_middle_of_a_call_is_answered_over_every_legacy_transport() {
    let fixture = mcp_fixture::start().await;
    for url in [fixture.url.clone(), fixture.url.replace("/mcp", "/sse")] {
        let spoken = Spoken::with(&url, Some(Era::Legacy)).await;
        let heard = Heard::default();
        let asked = Spoken::call("test_elicitation", &json!({"message": "who?"}));
        let mut ongoing = spoken.connection.begin(OutgoingRequest { takes_questions: true, ..asked }).unwrap();

        let Step::OutgoingRequest(questions) = ongoing.advance(&heard).await.unwrap() else {
            panic!("nobody was asked")
        };
        let answer = json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.org"}});
        spoken.connection.reply(&questions[0], Ok(&to_raw_value(&answer).unwrap())).await.unwrap();
        let Step::Done(result) = ongoing.advance(&heard).await.unwrap() else { panic!("asked twice") };

        assert_eq!(questions[0].method, "elicitation/create");
        assert!(text(&result).contains("ada"), "{result}");
        drop(ongoing);
        spoken.ends().await;
    }
}

#[tokio::test]
async fn what_the_server_says_of_its_own_accord_is_heard_over_every_legacy_transport() {
    let fixture = mcp_fixture::start().await;
    for url in [fixture.url.clone(), fixture.url.replace("/mcp", "/sse")] {
        let spoken = Spoken::with(&url, Some(Era::Legacy)).await;
        let mut notices = spoken.connection.notices();

        spoken
            .connection
            .request(Spoken::call("test_trigger_tool_change", &json!({})), &Heard::default())
            .await
            .unwrap();

        let notice = tokio::time::timeout(PATIENCE, notices.recv()).await.unwrap().unwrap();
        assert_eq!(notice, Notice::Tools);
        spoken.ends().await;
    }
}
