//! A database that an earlier version left behind is brought up to date and reads as it was written.
//!
//! `fixtures/v1.db` was made by [`fill`]. If the first migration must change before it is released, delete the file:
//! the test makes it anew, and fails once to say so.

use jiff::Timestamp;
use openfang_types::event::{EventBody, TaskEvent};
use openfang_types::ids::TaskId;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Origin, Role, TaskState, TaskStatus};

use super::*;
use crate::contract::{artifact, query};
use crate::{Append, ListedKey, NewTask, ResendKey, StoredValue, TaskRecord, TranscriptWrite};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/v1.db");

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).unwrap()
}

fn status(state: TaskState, seconds: i64) -> EventBody {
    let message = Message::text("reply".parse().unwrap(), Role::Agent, "on it");
    EventBody::Status(TaskStatus { state, message: Some(message), timestamp: at(seconds) })
}

fn task(number: u8, events: Vec<EventBody>) -> NewTask {
    let id = format!("0190a000-0000-7000-8000-0000000000{number:02}");
    NewTask {
        id: id.parse().unwrap(),
        owner: owner("ada"),
        agent: "starter".parse().unwrap(),
        context_id: "talk".parse().unwrap(),
        message: Message::text(format!("m{number}").parse().unwrap(), Role::User, "hi \u{1f980}"),
        resend_key: ResendKey::new(&format!("m{number}"), b""),
        events,
        labels: Labels::one(Label::User, "rest"),
        scope: None,
        door: openfang_types::principal::Door::Rest,
        trace: id.parse().unwrap(),
        origin: Origin::OpenFang,
        peer_name: None,
        push: None,
        remote: None,
        transcript: TranscriptWrite::default(),
        node: node(1),
        at: at(number.into()),
        live_limit: 10,
    }
}

/// Two finished tasks, of which the older one was folded when the file was made, one that another process took over, one that shall stop; and some memory.
async fn fill(sqlite: &Sqlite) {
    let stores = sqlite.stores();
    let tasks = stores.tasks;
    let life = |seconds, end| vec![status(TaskState::Working, seconds), artifact("a"), status(end, seconds + 1)];
    tasks.create(task(1, life(1, TaskState::Failed))).await.unwrap();
    tasks.create(task(2, life(3, TaskState::Completed))).await.unwrap();
    let (third, fourth) = (task(3, Vec::new()), task(4, Vec::new()));
    let (third_id, fourth_id) = (third.id, fourth.id);
    tasks.create(third).await.unwrap();
    let claimed = tasks.claim(third_id, 1, node(2)).await.unwrap();
    let write = Append {
        owner: owner("ada"),
        id: third_id,
        version: claimed.version,
        events: vec![status(TaskState::InputRequired, 5), artifact("b")],
        labels: Labels::one(Label::ExternalNetwork, "web_fetch"),
        remote: None,
        transcript: TranscriptWrite::default(),
        node: None,
        door: None,
        at: at(6),
    };
    tasks.append(write).await.unwrap();
    tasks.create(fourth).await.unwrap();
    tasks.request_cancel(&owner("ada"), fourth_id).await.unwrap();
    for key in ["colour", "number"] {
        let kept = StoredValue { value: format!("the {key}"), labels: Labels::one(Label::McpServer, "files") };
        stores.memory.put(&owner("ada"), key, kept).await.unwrap();
    }
}

/// Everything that can be read of it.
#[derive(Debug, PartialEq)]
struct Shown {
    tasks: Vec<TaskRecord>,
    events: Vec<Vec<TaskEvent>>,
    counts: Vec<(TaskState, u64)>,
    to_cancel: Vec<TaskId>,
    keys: Vec<ListedKey>,
    colour: Option<StoredValue>,
}

async fn shown(sqlite: &Sqlite) -> Shown {
    let (tasks, memory, ada) = (sqlite.stores().tasks, sqlite.stores().memory, owner("ada"));
    let page = tasks.list(&query(&ada)).await.unwrap();
    let mut events = Vec::new();
    for record in &page.tasks {
        events.push(tasks.events(&ada, record.task.id, 0, 99).await.unwrap());
    }
    Shown {
        tasks: page.tasks,
        events,
        counts: tasks.counts(&ada).await.unwrap().into_iter().collect(),
        to_cancel: tasks.cancel_requests(node(1)).await.unwrap(),
        keys: memory.keys(&ada, "", 9).await.unwrap(),
        colour: memory.get(&ada, "colour").await.unwrap(),
    }
}

async fn fresh() -> (Home, Sqlite) {
    let home = Home::new();
    let sqlite = home.open();
    fill(&sqlite).await;
    (home, sqlite)
}

/// A copy of the stored database.
async fn stored() -> Home {
    if !fs::exists(FIXTURE).unwrap() {
        let (home, sqlite) = fresh().await;
        drop(sqlite);
        let beside = format!("{FIXTURE}.{:?}", std::thread::current().id());
        fs::create_dir_all(PathBuf::from(FIXTURE).parent().unwrap()).unwrap();
        fs::copy(home.path(), &beside).unwrap();
        fs::rename(beside, FIXTURE).unwrap();
        panic!("{FIXTURE} was missing; it has been made: keep it");
    }
    let home = Home::new();
    fs::copy(FIXTURE, home.path()).unwrap();
    home
}

#[tokio::test]
async fn a_stored_database_reads_as_it_was_written() {
    let home = stored().await;

    let upgraded = shown(&home.open()).await;

    assert_eq!(upgraded.tasks.len(), 4);
    assert_eq!(upgraded.events.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2, 5, 0], "the oldest one was folded");
    let mut expected = shown(&fresh().await.1).await;
    // The oldest one was folded before transitions were kept, and when tasks of one write still were.
    expected.tasks.last_mut().unwrap().task.transitions.clear();
    expected.events.last_mut().unwrap().clear();
    assert_eq!(upgraded, expected);
}

#[tokio::test]
async fn a_stored_database_gets_the_schema_of_a_new_one() {
    let home = stored().await;
    let (_new_home, new) = fresh().await;
    let schema = |sqlite: &Sqlite| {
        sqlite.read(|connection| {
            let sql = "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1";
            let mut statement = connection.prepare(sql).map_err(unavailable)?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(unavailable)?;
            rows.collect::<rusqlite::Result<Vec<_>>>().map_err(unavailable)
        })
    };

    let (upgraded, new) = (schema(&home.open()).await.unwrap(), schema(&new).await.unwrap());

    assert_eq!(upgraded, new, "what has been released is not changed: add a migration, or see above");
}

#[tokio::test]
async fn a_stored_database_can_be_written() {
    let home = stored().await;
    let sqlite = home.open();
    let tasks = sqlite.stores().tasks;

    let record = create(&*tasks, new_task(&owner("ada"), "new")).await;

    assert_eq!(tasks.list(&query(&owner("ada"))).await.unwrap().total, 5);
    assert_eq!(tasks.get(&owner("ada"), record.task.id).await.unwrap(), record);
}

#[tokio::test]
async fn a_message_from_before_the_upgrade_is_known_when_it_is_sent_again() {
    let home = stored().await;
    let tasks = home.open().stores().tasks;

    for number in 1..=4 {
        let known = task(number, Vec::new());
        let again = NewTask { id: TaskId::from_uuid(uuid::Uuid::now_v7()), ..task(number, Vec::new()) };
        let again = NewTask { resend_key: ResendKey::of(&format!("m{number}")), ..again };

        assert_eq!(tasks.create(again).await, Ok(crate::Created::Known(known.id)));
    }
}

#[tokio::test]
async fn a_stored_database_is_sound_before_it_is_upgraded_and_after() {
    let home = stored().await;
    let before = DatabaseFile::open(&home.path()).unwrap().check().unwrap();
    home.open();
    let after = DatabaseFile::open(&home.path()).unwrap().check().unwrap();

    assert_eq!((before.findings, before.events), (Vec::new(), 11));
    assert_eq!((after.findings, after.events), (Vec::new(), 11));
}

#[tokio::test]
async fn how_a_task_from_before_the_upgrade_came_in_is_not_known() {
    let home = stored().await;
    let tasks = home.open().stores().tasks;

    assert_eq!(tasks.door(task(4, Vec::new()).id).await, Ok(None));
}
