//! Answers and events written by a server are read back unchanged by a client, except for what the dialect cannot
//! express.

use jiff::Timestamp;
use openfang_types::event::{EventBody, StreamItem, Until};
use openfang_types::ids::TaskName;
use openfang_types::task::{Part, Task, TaskState};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::samples::*;
use super::super::*;
use super::laws;
use crate::operation::{HistoryLength, PushNotificationConfig};
use crate::peer::{
    AnswerError, PeerAnswer, PeerArtifact, PeerEvent, PeerFault, PeerMessage, PeerPage, PeerPush, PeerStatus,
};

use expressible::{is_old, kept_artifact, kept_status, kept_task, read_task};

#[path = "round_trips/expressible.rs"]
mod expressible;

fn now() -> Timestamp {
    at("2030-01-01T00:00:00Z")
}

fn read_answer(dialect: Dialect, method: Method, document: &Value) -> Result<PeerAnswer, AnswerError> {
    let bare = document.to_string();
    let framed = json!({"jsonrpc": "2.0", "id": 1, "result": document}).to_string();
    let reading = ReadContext { now: now(), task: None };
    let read = |body: &str| dialect.read_answer(method, &PeerResponse::response(200, body.as_bytes()), &reading);
    let (bare, framed) = (read(&bare), read(&framed));
    assert_eq!(bare.is_ok(), framed.is_ok(), "{dialect:?} {method}");
    framed
}

fn read_event(dialect: Dialect, document: &Value) -> PeerEvent {
    let reading = ReadContext { now: now(), task: None };
    let text = document.to_string();
    dialect
        .read_event(&PeerResponse::event("message", &text), &reading)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn asked_by(answer: &Answer) -> Method {
    match answer {
        Answer::Sent(..) | Answer::Replied(_) => Method::Send,
        Answer::Task(..) => Method::Get,
        Answer::Tasks(_) => Method::List,
        Answer::Push(_) => Method::GetPush,
        Answer::Pushes(_) => Method::ListPush,
        Answer::Gone => Method::DeletePush,
        Answer::Card(_) => Method::ExtendedCard,
    }
}

fn check_answer(dialect: Dialect, task: &Task, answer: &Answer) {
    let read = read_answer(dialect, asked_by(answer), &written(dialect, answer)).unwrap();
    let push = || {
        let id = push().config.id.filter(|_| dialect != Dialect::V01);
        PeerPush { task: Some(TASK.parse().unwrap()), config: PushNotificationConfig { id, ..push().config } }
    };
    match (answer, read) {
        (Answer::Sent(..) | Answer::Task(..), PeerAnswer::Task(read)) => {
            assert_eq!(read_task(dialect, *read), kept_task(dialect, task), "{dialect:?}");
        }
        (Answer::Replied(message), PeerAnswer::Message(read)) => {
            assert_eq!(*read, PeerMessage { task: None, message: (**message).clone() }, "{dialect:?}");
        }
        // These dialects have no answer without a task.
        (Answer::Replied(message), PeerAnswer::Task(read)) => {
            assert!(is_old(dialect) && read.status.state == TaskState::Completed);
            assert_eq!(read.id.as_str(), message.message_id.as_str());
            assert_eq!(read.status.message.unwrap().parts, message.parts);
        }
        (Answer::Tasks(page), PeerAnswer::Tasks(PeerPage { tasks, next_page_token, page_size, total })) => {
            let tasks: Vec<_> = tasks.into_iter().map(|task| read_task(dialect, task)).collect();
            assert_eq!(tasks, [kept_task(dialect, task)]);
            assert_eq!(next_page_token.as_ref(), Some(&page.next_page_token));
            assert_eq!((page_size, total), (Some(page.page_size), Some(page.total)));
        }
        (Answer::Push(_), PeerAnswer::Push(read)) => assert_eq!(*read, push(), "{dialect:?}"),
        (Answer::Pushes(_), PeerAnswer::Pushes(read)) => assert_eq!(read, [push()], "{dialect:?}"),
        (Answer::Gone, PeerAnswer::Deleted) => {}
        (answer, read) => panic!("{dialect:?}: {answer:?} was read as {read:?}"),
    }
}

fn check_item(dialect: Dialect, item: &StreamItem) {
    if !dialect.can_write(StreamEvent::Item(&head(), item)) {
        return;
    }
    let task: Option<TaskName> = Some(TASK.parse().unwrap());
    let context_id = Some("c-1".parse().unwrap()).filter(|_| !is_old(dialect));
    let mut read = read_event(dialect, &streamed(dialect, item));
    let expected = match item {
        StreamItem::Snapshot(snapshot, _) => PeerEvent::Task(Box::new(kept_task(dialect, snapshot))),
        StreamItem::Event(event) => match &event.body {
            EventBody::Status(status) => PeerEvent::Status(Box::new(PeerStatus {
                task,
                context_id,
                status: kept_status(dialect, status),
                is_final: dialect != Dialect::V10 && Until::Settled.is_reached(status.state),
                metadata: Map::new(),
            })),
            EventBody::Artifact(update) => {
                let artifact = kept_artifact(dialect, 0, &update.artifact);
                let update = openfang_types::event::ArtifactUpdate { artifact, ..update.clone() };
                PeerEvent::Artifact(Box::new(PeerArtifact { task, context_id, update }))
            }
            EventBody::Message(_) => unreachable!(),
        },
        StreamItem::Shutdown => unreachable!(),
    };
    match &mut read {
        PeerEvent::Task(task) => **task = read_task(dialect, (**task).clone()),
        PeerEvent::Status(changed) => {
            let said = changed.status.message.iter_mut().filter(|_| is_old(dialect));
            said.for_each(|message| message.message_id = "m".parse().unwrap());
        }
        PeerEvent::Message(_) | PeerEvent::Artifact(_) => {}
    }
    assert_eq!(read, expected, "{dialect:?}");
}

/// Whether a message repeats the artifacts. It looks the same as the message that OpenFang's dialect adds.
fn repeats_itself(task: &Task) -> bool {
    let texts = |parts: &[Part]| parts.iter().filter_map(Part::as_text).map(str::to_owned).collect::<Vec<_>>();
    let artifacts: Vec<_> = task.artifacts.iter().flat_map(|artifact| texts(&artifact.parts)).collect();
    task.history
        .iter()
        .chain(&task.status.message)
        .any(|message| texts(&message.parts) == artifacts)
}

fn check(task: &Task) {
    for dialect in Dialect::ALL {
        if dialect == Dialect::OpenFang && repeats_itself(task) {
            continue;
        }
        for answer in answers(task.clone()) {
            let has_push = dialect != Dialect::OpenFang;
            if has_push || !matches!(answer, Answer::Push(_) | Answer::Pushes(_) | Answer::Gone) {
                check_answer(dialect, task, &answer);
            }
        }
        items(task).iter().for_each(|item| check_item(dialect, item));
    }
}

#[test]
fn every_answer_and_event_that_is_written_is_read_as_the_same() {
    for state in TaskState::ALL {
        check(&rich_task(state));
        check(&bare_task(state));
    }
}

#[test]
fn a_card_is_kept_as_it_came() {
    let card = "{\"b\": 1,  \"a\": 2.50}";
    let framed = format!("{{\"jsonrpc\": \"2.0\", \"result\": {card}, \"id\": 1}}");
    let reading = ReadContext { now: now(), task: None };
    for (dialect, body) in Dialect::ALL.into_iter().flat_map(|dialect| [(dialect, card), (dialect, &framed)]) {
        let received = PeerResponse::response(200, body.as_bytes());
        let read = dialect.read_answer(Method::ExtendedCard, &received, &reading).unwrap();
        let PeerAnswer::Card(read) = read else { panic!("{read:?}") };
        assert_eq!(read.get(), card);
    }
}

#[test]
fn a_history_that_is_cut_is_read_as_far_as_it_goes() {
    let answer = Answer::Task(Box::new(held(rich_task(TaskState::Working))), HistoryLength(Some(1)));
    let read = read_answer(Dialect::V10, Method::Get, &written(Dialect::V10, &answer)).unwrap();
    let PeerAnswer::Task(read) = read else { panic!("{read:?}") };
    assert_eq!(read.history.len(), 1);
}

#[test]
fn every_refusal_that_is_written_is_read_as_the_same() {
    let refusals = [
        (A2aError::Parse("x".into()), PeerFault::Parse),
        (A2aError::InvalidRequest("x".into()), PeerFault::InvalidRequest),
        (A2aError::MethodNotFound("x".into()), PeerFault::MethodNotFound),
        (A2aError::invalid("id", "missing"), PeerFault::InvalidParams),
        (A2aError::Internal, PeerFault::Internal),
        (A2aError::TaskNotFound, PeerFault::TaskNotFound),
        (A2aError::NotCancelable(TaskState::Completed), PeerFault::NotCancelable),
        (A2aError::PushNotSupported, PeerFault::PushNotSupported),
        (A2aError::Unsupported("not here".into()), PeerFault::Unsupported),
        (A2aError::ContentType("no".into()), PeerFault::ContentType),
        (A2aError::NoExtendedCard, PeerFault::NoExtendedCard),
        (A2aError::ExtensionRequired("urn:x".into()), PeerFault::ExtensionRequired),
        (A2aError::VersionNotSupported("9".into()), PeerFault::VersionNotSupported),
    ];
    let reading = ReadContext { now: now(), task: None };
    for (error, fault) in refusals {
        for dialect in Dialect::ALL {
            let rpc = json!({"jsonrpc": "2.0", "id": null, "error": dialect.error(&error)}).to_string();
            let http = crate::server::status_body(dialect, &error, error.status().0, None);
            let http = String::from_utf8(http).unwrap();
            let is_detailed = matches!(dialect, Dialect::V10 | Dialect::V03Proto);
            for (status, body) in [(200, rpc), (error.status().0, http)] {
                if status != 200 && !is_detailed {
                    continue;
                }
                let received = PeerResponse::response(status, body.as_bytes());
                let read = dialect.read_answer(Method::Get, &received, &reading).unwrap_err();
                let AnswerError::Peer(read) = read else { panic!("{read:?}") };
                assert_eq!((read.fault, read.message.as_str()), (fault, error.to_string().as_str()), "{body}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_task_that_is_written_is_read_as_the_same(task in laws::task()) {
        check(&task);
    }

    #[test]
    fn any_reply_that_is_written_is_read_as_the_same(message in laws::any_message()) {
        for dialect in [Dialect::V03, Dialect::V03Proto, Dialect::V10] {
            let reply = written(dialect, &Answer::Replied(Box::new(message.clone())));
            let read = read_answer(dialect, Method::Send, &reply).unwrap();
            let PeerAnswer::Message(read) = read else { panic!("{read:?}") };
            prop_assert_eq!(read.message, laws::kept(dialect, &message));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn any_answer_is_read_or_refused_whatever_is_in_it(document in laws::value(), junk in any::<Vec<u8>>()) {
        let reading = ReadContext { now: now(), task: None };
        let around = [
            document.clone(),
            json!({"task": document, "id": document, "status": document}),
            json!({"id": "t", "status": {"state": document, "message": document, "timestamp": document}}),
            json!({"id": "t", "artifacts": document, "history": document}),
            json!({"id": "t", "artifacts": [document], "history": [document]}),
            json!({"kind": "message", "parts": [document], "role": document}),
            json!({"artifact": document, "append": document}),
            json!({"tasks": document, "configs": document, "url": "u", "authentication": document}),
            json!({"error": document}),
            json!({"error": {"code": document, "message": document, "data": document}}),
        ];
        for dialect in Dialect::ALL {
            for body in around.iter().map(|value| value.to_string().into_bytes()).chain([junk.clone()]) {
                for status in [200, 500] {
                    let received = PeerResponse::response(status, &body);
                    for method in Method::ALL {
                        if let Err(error) = dialect.read_answer(method, &received, &reading) {
                            prop_assert!(error.to_string().len() < 4_000);
                        }
                    }
                    let _ = dialect.read_event(&received, &reading);
                }
            }
        }
    }
}
