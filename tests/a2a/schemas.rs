//! Everything that older peers are told, in a run of all that they can ask for, is what the official schema of their
//! version says; and what the routes of OpenFang's dialect say is what ours says.

use std::collections::BTreeSet;

use jsonschema::Validator;
use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_testkit::http::{Answer, Client};
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use super::calls::{Call, Names, every};
use super::wire::{ask, begin, config, fresh, stream, until};

/// Says all that an agent can say.
const TALKS: &str = r#"
    [[rules]]
    when = { text = "hello" }
    steps = [
        { chunk = "a" },
        { chunk = "b" },
        { artifact = { name = "text", text = "c" } },
        { artifact = { name = "bytes", file = { base64 = "aGk=", filename = "f.txt", media_type = "text/plain" } } },
        { artifact = { name = "elsewhere", file = { url = "https://example.org/f", media_type = "text/plain" } } },
        { artifact = { id = "d", name = "data", data = { x = [1, 2] } } },
        { artifact = { id = "d", data = { y = true }, append = true, last = true } },
        { tool = { name = "add_numbers", arguments = { a = 1, b = 2 } } },
        { status = { state = "working", message = "nearly" } },
    ]
    [[rules]]
    when = { text = "refuse" }
    steps = [{ status = { state = "rejected", message = "no" } }]
    [[rules]]
    when = { text = "key" }
    steps = [{ status = { state = "auth-required", message = "the key?" } }]
    [[rules]]
    when = { text = "fail" }
    steps = [{ fail = "out of paper" }]
    [[rules]]
    when = { text = "ask" }
    steps = [{ status = { state = "input-required", message = "well?" } }]
    [[rules]]
    when = { text = "plain" }
    steps = [{ reply = "no task" }]
    [[rules]]
    steps = [{ chunk = "begun" }, { wait_for_cancel = true }]
"#;

/// An official schema.
struct Schema {
    name: &'static str,
    dialect: Dialect,
    document: Value,
    section: &'static str,
}

impl Schema {
    fn all() -> [Self; 4] {
        let read = |name, dialect, section, text: &str| Self {
            name,
            dialect,
            section,
            document: serde_json::from_str(text).unwrap(),
        };
        [
            read("0.1.0", Dialect::V01, "$defs", include_str!("../schemas/a2a/v0.1.0.json")),
            read("0.2.6", Dialect::V03, "definitions", include_str!("../schemas/a2a/v0.2.6.json")),
            read("0.3.0", Dialect::V03, "definitions", include_str!("../schemas/a2a/v0.3.0.json")),
            read("openfang", Dialect::OpenFang, "definitions", include_str!("../schemas/a2a/openfang.json")),
        ]
    }

    /// What an answer to a method must be; none where this version does not have it.
    fn definition(&self, method: Method) -> Option<&'static str> {
        let name = match (self.dialect, method) {
            (Dialect::OpenFang, _) => "Task",
            (Dialect::V01, Method::Send) => "SendTaskResponse",
            (Dialect::V01, Method::Stream | Method::Subscribe) => "SendTaskStreamingResponse",
            (Dialect::V01, Method::SetPush) => "SetTaskPushNotificationResponse",
            (Dialect::V01, Method::GetPush) => "GetTaskPushNotificationResponse",
            (_, Method::Send) => "SendMessageResponse",
            (_, Method::Stream | Method::Subscribe) => "SendStreamingMessageResponse",
            (_, Method::Get) => "GetTaskResponse",
            (_, Method::Cancel) => "CancelTaskResponse",
            (_, Method::SetPush) => "SetTaskPushNotificationConfigResponse",
            (_, Method::GetPush) => "GetTaskPushNotificationConfigResponse",
            (_, Method::ListPush) => "ListTaskPushNotificationConfigResponse",
            (_, Method::DeletePush) => "DeleteTaskPushNotificationConfigResponse",
            (_, Method::ExtendedCard) => "GetAuthenticatedExtendedCardResponse",
            (_, Method::List) => return None,
        };
        self.document[self.section].get(name).map(|_| name)
    }

    fn validator(&self, definition: &str) -> Validator {
        let mut root = self.document.clone();
        root["$ref"] = json!(format!("#/{}/{definition}", self.section));
        jsonschema::validator_for(&root).unwrap_or_else(|error| panic!("{} {definition}: {error}", self.name))
    }

    /// Every document of the answer holds.
    fn check(&self, call: &Call, answer: &Answer) -> usize {
        let Some(definition) = self.definition(call.method) else { return 0 };
        // The routes of the guides refuse with a status; their bodies are nobody's schema.
        if self.dialect == Dialect::OpenFang && answer.status != 200 {
            return 0;
        }
        let validator = self.validator(definition);
        let documents = documents(answer);
        for document in &documents {
            if let Err(error) = validator.validate(document) {
                panic!("{} {definition} at {}: {error}\n{document}", self.name, error.instance_path());
            }
        }
        documents.len()
    }
}

/// The same call with another text, and about no task.
fn saying(call: &Call, text: &str) -> Option<Call> {
    let mut call = call.clone();
    let body = call.body.as_mut().filter(|_| matches!(call.method, Method::Send | Method::Stream))?;
    let params = if body["jsonrpc"].is_string() { &mut body["params"] } else { body };
    params.as_object_mut()?.remove("id");
    let message = params["message"].as_object_mut()?;
    message.remove("taskId");
    if message.contains_key("messageId") {
        message.insert("messageId".to_owned(), json!(fresh()));
    }
    params["message"]["parts"][0]["text"] = json!(text);
    Some(call)
}

/// Starts a task as 0.1 does, and does not wait for it. Its name, and whose its events are.
async fn begin_oldest(client: &Client, text: &str) -> (String, String) {
    let id = fresh();
    let params = json!({"id": id, "message": {"role": "user", "parts": [{"type": "text", "text": text}]}});
    let (_, event, _) = stream(client, "tasks/sendSubscribe", params).await.event().await.unwrap();
    (id, event.split(':').next().unwrap().to_owned())
}

/// A run of every call of a dialect, about what is there and what is not.
pub(super) async fn all_that_can_be_asked(client: &Client, dialect: Dialect) -> Vec<(Call, Answer)> {
    let mut seen = Vec::new();
    let names = async |text: &str| {
        // Names that two dialects share are answered in the one that the task was made in.
        let (task, log) = match dialect {
            Dialect::V01 => begin_oldest(client, text).await,
            Dialect::V03 | Dialect::V03Proto | Dialect::V10 | Dialect::OpenFang => {
                let task = begin(client, "talks", text).await;
                (task.clone(), task)
            }
        };
        until(client, &task, if text == "wait" { "TASK_STATE_WORKING" } else { "TASK_STATE_COMPLETED" }).await;
        let push = json!({"taskId": task, "id": "hook", "url": "http://127.0.0.1:65535/", "token": "t", "authentication": {"scheme": "Bearer", "credentials": "c"}});
        ask(client, "CreateTaskPushNotificationConfig", push).await;
        let (agent, push, url) = ("talks".to_owned(), "hook".to_owned(), "http://127.0.0.1:65535/".to_owned());
        (Names { agent, task, push, context: "c".to_owned(), page: String::new(), url }, log)
    };
    let of_dialect =
        |names: &Names| every(names).into_iter().filter(move |call| call.dialect == dialect).collect::<Vec<_>>();
    let (done, log) = names("hello").await;
    let nobodys = Names { task: format!("nobodys-{}", fresh()), ..done.clone() };
    let mut calls = [of_dialect(&done), of_dialect(&nobodys)].concat();
    // The oldest make what is not there.
    calls.sort_by_key(|call| matches!(call.method, Method::Send | Method::Stream));
    for call in calls {
        for text in ["hello", "refuse", "key", "fail", "ask", "plain"] {
            if let Some(call) = saying(&call, text) {
                seen.push((call.clone(), call.send(client).await));
            }
        }
        let again =
            Call { headers: [call.headers.clone(), vec![("last-event-id", format!("{log}:0"))]].concat(), ..call };
        seen.push((again.clone(), again.send(client).await));
    }
    // A cancel of what runs.
    for call in of_dialect(&done).into_iter().filter(|call| call.method == Method::Cancel) {
        let (running, _) = names("wait").await;
        let is_this = |one: &Call| one.method == Method::Cancel && one.headers == call.headers;
        let cancel = of_dialect(&running).into_iter().find(is_this).unwrap();
        seen.push((cancel.clone(), cancel.send(client).await));
    }
    seen
}

/// A server with an agent that says everything.
pub(super) async fn talking() -> (TestHome, TestServer) {
    let home = TestHome::new().with_script("talks", &["*"], TALKS);
    let mut config = config();
    config.egress.allow = vec!["127.0.0.0/8".to_owned()];
    config.default_agent = Some("talks".parse().unwrap());
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

/// The documents of an answer: its events, or all of it.
pub(super) fn documents(answer: &Answer) -> Vec<Value> {
    let events: Vec<&str> = answer.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let texts = if events.is_empty() { vec![answer.body.as_str()] } else { events };
    texts.into_iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_each_version_is_told_is_what_its_schema_says() {
    let (_home, server) = talking().await;
    let client = server.client();
    for schema in Schema::all() {
        let (mut documents, mut methods) = (0, BTreeSet::new());
        for (call, answer) in all_that_can_be_asked(&client, schema.dialect).await {
            let checked = schema.check(&call, &answer);
            documents += checked;
            if checked > 0 && !answer.body.contains("\"error\"") {
                methods.insert(call.method.to_string());
            }
        }
        println!("{}: {documents} documents of {methods:?}", schema.name);
        let expected = match schema.name {
            "openfang" => 3,
            "0.1.0" => 7,
            "0.2.6" => 9,
            _ => 10,
        };
        assert_eq!(methods.len(), expected, "{}: {methods:?}", schema.name);
    }
    server.stop().await;
}
