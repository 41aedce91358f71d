//! The rules every store must follow, as tests against the traits. The tests of each store call these suites.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use openfang_types::event::{ArtifactUpdate, EventBody};
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::taint::Labels;
use openfang_types::task::{Artifact, Message, Origin, Part, Role, TaskParts, TaskState, TaskStatus};

use crate::{Append, Created, NewTask, ResendKey, TaskQuery, TaskRecord, TaskStore, TranscriptWrite};

pub(crate) use approvals::approvals;
pub(crate) use audit::{audit, audit_row, subjects};
pub(crate) use files::{files, owners_have_a_quota};
pub(crate) use key_values::{key_values, keys_are_limited_per_owner};
pub(crate) use model::agrees_with_the_model;
pub(crate) use published_events::published_events;
pub(crate) use push::{pushes, pushes_across_processes};
pub(crate) use queue::{claimed_once, queue};
pub(crate) use remotes::remotes;
pub(crate) use results::results;
pub(crate) use retention::retention;
pub(crate) use schedules::{schedules, started_once};
pub(crate) use takeover::takeover;
pub(crate) use tasks::tasks;
pub(crate) use transcripts::{retention as transcript_retention, transcripts};
pub(crate) use usage::usage;
pub(crate) use users::{new_key, new_user, users};

mod approvals;
mod audit;
mod events;
mod files;
mod key_values;
mod lists;
mod model;
mod published_events;
mod push;
mod queue;
mod remotes;
mod results;
mod retention;
mod schedules;
mod takeover;
mod tasks;
pub(crate) mod transcripts;
mod usage;
mod users;

pub(crate) fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

/// Each number is a different node.
pub(crate) fn node(number: u8) -> NodeId {
    format!("00000000-0000-0000-0000-0000000000{number:02x}").parse().unwrap()
}

fn tick() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(1);
    TICKS.fetch_add(1, Ordering::Relaxed)
}

/// Later than every earlier call.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millisecond(i64::try_from(tick()).unwrap()).unwrap()
}

/// A task with an id that grows with time, like those of the id source.
pub(crate) fn new_task(owner: &Owner, message: &str) -> NewTask {
    let id = format!("00000000-0000-0000-0000-{:012}", tick());
    NewTask {
        id: id.parse().unwrap(),
        owner: owner.clone(),
        agent: "starter".parse().unwrap(),
        context_id: "c".parse().unwrap(),
        message: Message::text(message.parse().unwrap(), Role::User, "hi"),
        resend_key: ResendKey::new(message, b""),
        events: Vec::new(),
        labels: Labels::none(),
        scope: None,
        door: openfang_types::principal::Door::Cli,
        trace: id.parse().unwrap(),
        origin: Origin::OpenFang,
        peer_name: None,
        push: None,
        remote: None,
        transcript: TranscriptWrite::default(),
        node: node(1),
        at: now(),
        live_limit: usize::MAX,
    }
}

/// A task that is created finished.
pub(crate) fn finished_task(owner: &Owner, message: &str) -> NewTask {
    let events = vec![status(TaskState::Working), artifact(message), status(TaskState::Completed)];
    NewTask { events, ..new_task(owner, message) }
}

pub(crate) async fn create(store: &dyn TaskStore, new: NewTask) -> TaskRecord {
    let (owner, id) = (new.owner.clone(), new.id);
    match store.create(new).await.unwrap() {
        Created::New(_) => store.get(&owner, id).await.unwrap(),
        Created::Known(_) => panic!("a fresh message was taken for a known one"),
    }
}

/// Appends events and reads the result.
pub(crate) async fn append(store: &dyn TaskStore, record: &TaskRecord, events: Vec<EventBody>) -> TaskRecord {
    store.append(write(record, events)).await.unwrap();
    store.get(&record.owner, record.task.id).await.unwrap()
}

pub(crate) async fn end(store: &dyn TaskStore, owner: &Owner, id: TaskId, state: TaskState) -> TaskRecord {
    let record = store.get(owner, id).await.unwrap();
    append(store, &record, vec![status(state)]).await
}

pub(crate) fn write(record: &TaskRecord, events: Vec<EventBody>) -> Append {
    Append {
        owner: record.owner.clone(),
        id: record.task.id,
        version: record.version,
        events,
        labels: Labels::none(),
        remote: None,
        transcript: TranscriptWrite::default(),
        node: None,
        door: None,
        at: now(),
    }
}

pub(crate) fn status(state: TaskState) -> EventBody {
    EventBody::Status(TaskStatus { state, message: None, timestamp: now() })
}

pub(crate) fn artifact(id: &str) -> EventBody {
    EventBody::Artifact(ArtifactUpdate {
        artifact: Artifact::of_parts(id.parse().unwrap(), None, vec![Part::text("x")]),
        append: false,
        last_chunk: true,
    })
}

pub(crate) fn query(owner: &Owner) -> TaskQuery {
    TaskQuery {
        owner: owner.clone(),
        agent: None,
        state: None,
        context_id: None,
        changed_since: None,
        scope: None,
        limit: 100,
        after: None,
        parts: TaskParts::ALL,
        max_bytes: usize::MAX,
    }
}
