//! What is posted of a task in each dialect: which events, in which order, as what.

use openfang_store::{Append, NewTask, Stores};
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::Owner;
use openfang_types::taint::Labels;
use openfang_types::task::{Artifact, Message, Part, Role, TaskState, TaskStatus};
use serde_json::Value;
use uuid::Uuid;

use super::*;

fn status(state: TaskState) -> EventBody {
    EventBody::Status(TaskStatus { state, message: None, timestamp: jiff::Timestamp::UNIX_EPOCH })
}

fn artifact(text: &str) -> EventBody {
    let artifact = Artifact::of_parts("a".parse().unwrap(), None, vec![Part::text(text)]);
    EventBody::Artifact(ArtifactUpdate { artifact, append: true, last_chunk: false })
}

/// A finished task: submitted, a message, working, two pieces of an artifact, completed.
async fn finished(stores: &Stores) -> TaskRecord {
    let (owner, id): (Owner, Uuid) = ("ada".parse().unwrap(), Uuid::from_u128(7));
    let new = NewTask {
        resend_key: openfang_store::ResendKey::new("m", b""),
        id: openfang_types::ids::TaskId::from_uuid(id),
        owner: owner.clone(),
        agent: "starter".parse().unwrap(),
        context_id: "talk".parse().unwrap(),
        message: Message::text("m".parse().unwrap(), Role::User, "hi"),
        events: vec![status(TaskState::Working), artifact("one"), artifact("two")],
        labels: Labels::none(),
        scope: None,
        door: openfang_types::principal::Door::Rest,
        trace: openfang_types::ids::TraceId::from_uuid(id),
        origin: Origin::V10,
        peer_name: Some("theirs".parse().unwrap()),
        push: None,
        remote: None,
        transcript: openfang_store::TranscriptWrite::default(),
        node: openfang_types::ids::NodeId::from_uuid(id),
        at: jiff::Timestamp::UNIX_EPOCH,
        live_limit: 9,
    };
    let id = new.id;
    stores.tasks.create(new).await.unwrap();
    let write = Append {
        owner: owner.clone(),
        id,
        version: 1,
        events: vec![status(TaskState::Completed)],
        labels: Labels::none(),
        remote: None,
        transcript: openfang_store::TranscriptWrite::default(),
        node: None,
        door: None,
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    stores.tasks.append(write).await.unwrap();
    stores.tasks.get(&owner, id).await.unwrap()
}

async fn told(stores: &Stores, record: TaskRecord, after: Seq, origin: Origin) -> Vec<(Seq, &'static str, Value)> {
    let mut story = Story::read(&*stores.tasks, record, after, origin).await.unwrap();
    let mut told = Vec::new();
    while let Some(Chapter { seq, payload }) = story.next() {
        told.extend(payload.map(|held| (seq, held.media_type, serde_json::from_slice(&held.body).unwrap())));
    }
    told
}

#[tokio::test]
async fn the_newest_dialect_is_told_each_event_as_a_stream_shows_it() {
    let stores = Stores::in_memory();
    let record = finished(&stores).await;

    let told = told(&stores, record, 2, Origin::V10).await;

    let seqs: Vec<Seq> = told.iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(seqs, [3, 4, 5, 6]);
    assert!(told.iter().all(|(_, media_type, _)| *media_type == "application/a2a+json"));
    assert_eq!(told[0].2["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(told[0].2["statusUpdate"]["taskId"], "theirs");
    assert_eq!(told[0].2["statusUpdate"]["contextId"], "talk");
    assert_eq!(told[1].2["artifactUpdate"]["artifact"]["parts"][0]["text"], "one");
    assert_eq!(told[3].2["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn older_dialects_are_told_the_task_as_it_stood_after_each_event() {
    let stores = Stores::in_memory();
    let record = finished(&stores).await;
    for origin in [Origin::V03, Origin::V01, Origin::OpenFangA2a] {
        for after in [0, 2, 4] {
            let told = told(&stores, record.clone(), after, origin).await;

            let seqs: Vec<Seq> = told.iter().map(|(seq, ..)| *seq).collect();
            let expected = [1, 3, 4, 5, 6].into_iter().filter(|seq| *seq > after).collect::<Vec<Seq>>();
            assert_eq!(seqs, expected, "{origin:?}: a message of its own is no news");
            let parts = |seq: Seq| {
                let task = &told.iter().find(|(at, ..)| *at == seq).unwrap().2;
                task["artifacts"][0]["parts"].as_array().map_or(0, Vec::len)
            };
            assert_eq!((parts(5), parts(6)), (2, 2), "{origin:?}");
            if after < 4 {
                assert_eq!((parts(3), parts(4)), (0, 1), "{origin:?}");
            }
            assert!(
                told.iter()
                    .all(|(_, media_type, task)| *media_type == "application/json" && task["id"] == "theirs")
            );
        }
    }
}

#[tokio::test]
async fn a_task_whose_events_were_folded_is_told_as_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let node = openfang_types::ids::NodeId::from_uuid(Uuid::from_u128(1));
    let stores = openfang_store::Sqlite::open(&directory.path().join("db"), node).unwrap().stores();
    let record = finished(&stores).await;
    let rule = openfang_store::Retention {
        fold_after: std::time::Duration::from_secs(1),
        ..openfang_store::Retention::FOREVER
    };
    let later = jiff::Timestamp::from_second(1_000).unwrap();
    assert_eq!(stores.tasks.retain(rule, later).await.unwrap().folded, 1);

    for (origin, state) in [(Origin::V10, "/task/status/state"), (Origin::V03, "/status/state")] {
        let told = told(&stores, record.clone(), 2, origin).await;

        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, record.seq);
        let said = told[0].2.pointer(state).unwrap().as_str().unwrap().to_lowercase();
        assert!(said.ends_with("completed"), "{said}");
    }
    assert_eq!(told(&stores, record.clone(), record.seq, Origin::V10).await, [], "it was told all there is");
}
