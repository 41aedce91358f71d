//! What every home must keep of transcripts: items are written with the events of their task, and by conversation.

use futures_util::future::join_all;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::TaskState;

use super::{create, end, finished_task, new_task, now, owner, status, write};
use crate::{
    Append, Conversation, Created, ItemBody, NewTask, StoreError, Stores, TaskRecord, TranscriptItem, TranscriptKind,
    TranscriptPage, TranscriptQuery, TranscriptRange, TranscriptWrite,
};

pub(crate) use reading::reading;
pub(crate) use retention::retention;

mod reading;
mod retention;

pub(crate) async fn transcripts(fresh: impl Fn() -> Stores) {
    items_are_read_as_they_were_written(&fresh()).await;
    items_and_events_are_written_together_or_not_at_all(&fresh()).await;
    a_refused_task_leaves_no_items(&fresh()).await;
    a_message_that_comes_again_adds_nothing(&fresh()).await;
    the_tasks_of_a_conversation_share_its_transcript(&fresh()).await;
    the_same_context_is_another_conversation_for_others(&fresh()).await;
    a_writer_that_missed_something_is_told(&fresh()).await;
    many_writers_leave_no_gap(&fresh()).await;
    transcripts_share_the_room_of_their_owner(&fresh()).await;
    a_task_can_end_with_its_last_items_where_nothing_else_fits(&fresh()).await;
    reading(&fresh).await;
}

pub(crate) fn item(kind: TranscriptKind, body: &str) -> TranscriptItem {
    let body = ItemBody::new(format!("{{\"text\":\"{body}\"}}")).unwrap();
    TranscriptItem { turn: 1, kind, covers: None, tokens: None, labels: Labels::none(), body }
}

pub(crate) fn said(words: &[&str]) -> TranscriptWrite {
    TranscriptWrite::at_the_end(words.iter().map(|word| item(TranscriptKind::User, word)).collect())
}

/// A task that begins with these items.
pub(crate) fn new_with(owner_name: &str, message: &str, words: &[&str]) -> NewTask {
    NewTask { transcript: said(words), ..new_task(&owner(owner_name), message) }
}

/// A query for everything, from the first item on.
pub(crate) fn all(conversation: Conversation) -> TranscriptQuery {
    TranscriptQuery {
        conversation,
        range: TranscriptRange::After(0),
        kind: None,
        limit: usize::MAX,
        max_bytes: usize::MAX,
    }
}

async fn page(stores: &Stores, record: &TaskRecord) -> TranscriptPage {
    stores.transcripts.read(&all(record.conversation())).await.unwrap()
}

/// The words of a conversation, and nothing that is missing between them.
pub(crate) async fn words(stores: &Stores, record: &TaskRecord) -> Vec<String> {
    let page = page(stores, record).await;
    let numbers: Vec<u64> = page.rows.iter().map(|row| row.seq).collect();
    assert_eq!(numbers, (1..=page.rows.len() as u64).collect::<Vec<_>>());
    assert_eq!((page.end, page.has_more), (page.rows.len() as u64, false));
    words_of(&page)
}

pub(crate) fn words_of(page: &TranscriptPage) -> Vec<String> {
    let word = |json: &str| json.trim_start_matches("{\"text\":\"").trim_end_matches("\"}").to_owned();
    page.rows.iter().map(|row| word(row.item.body.as_str())).collect()
}

async fn add(stores: &Stores, record: &TaskRecord, transcript: TranscriptWrite) -> Result<TaskRecord, StoreError> {
    stores.tasks.append(Append { transcript, ..write(record, Vec::new()) }).await?;
    stores.tasks.get(&record.owner, record.task.id).await
}

async fn items_are_read_as_they_were_written(stores: &Stores) {
    let mut labels = Labels::one(Label::McpServer, "the MCP server a");
    labels.add(Label::ExternalNetwork, "example.com");
    let kinds = TranscriptKind::ALL.into_iter().zip(1..).map(|(kind, turn)| TranscriptItem {
        turn,
        covers: (kind == TranscriptKind::Compacted).then_some(2),
        tokens: (turn > 2).then_some(u64::from(turn) << 33),
        labels: if turn % 2 == 0 { labels.clone() } else { Labels::none() },
        ..item(kind, "a\\u0000b \u{1f980}")
    });
    let large = item(TranscriptKind::Answer, &"\u{e4}".repeat(3_000_000));
    let items: Vec<TranscriptItem> = kinds.chain([large]).collect();

    let first =
        NewTask { transcript: TranscriptWrite::at_the_end(items[..3].to_vec()), ..new_task(&owner("ada"), "m") };
    let record = create(&*stores.tasks, first).await;
    let later = Append { transcript: TranscriptWrite::at_the_end(items[3..].to_vec()), ..write(&record, Vec::new()) };
    let written_at = later.at;
    stores.tasks.append(later).await.unwrap();

    let page = page(stores, &record).await;
    assert_eq!(page.rows.iter().map(|row| row.item.clone()).collect::<Vec<_>>(), items);
    assert!(page.rows.iter().all(|row| row.task == record.task.id));
    assert_eq!((page.rows[0].at, page.rows[3].at), (record.created_at, written_at));
    let after = stores.tasks.get(&record.owner, record.task.id).await.unwrap();
    assert_eq!((after.seq, after.version), (record.seq, record.version + 1), "items are a write, and no events");
}

async fn items_and_events_are_written_together_or_not_at_all(stores: &Stores) {
    let ada = owner("ada");
    let record = create(&*stores.tasks, new_with("ada", "m", &["hi"])).await;
    let working = |transcript| Append { transcript, ..write(&record, vec![status(TaskState::Working)]) };
    let refused = [
        (Append { version: record.version + 1, ..working(said(&["x"])) }, StoreError::Conflict),
        (Append { owner: owner("bob"), ..working(said(&["x"])) }, StoreError::NotFound),
        (working(TranscriptWrite { after: Some(7), ..said(&["x"]) }), StoreError::Conflict),
        (working(TranscriptWrite { after: Some(0), ..said(&["x"]) }), StoreError::Conflict),
        (
            Append { events: vec![status(TaskState::Submitted)], ..working(said(&["x"])) },
            StoreError::NotAllowed { from: TaskState::Submitted, to: TaskState::Submitted },
        ),
    ];
    for (write, why) in refused {
        assert_eq!(stores.tasks.append(write.clone()).await, Err(why), "{write:?}");
        assert_eq!(words(stores, &record).await, ["hi"]);
        assert_eq!(stores.tasks.get(&ada, record.task.id).await.unwrap(), record);
    }

    stores
        .tasks
        .append(working(TranscriptWrite { after: Some(1), ..said(&["and", "so"]) }))
        .await
        .unwrap();

    assert_eq!(words(stores, &record).await, ["hi", "and", "so"]);
    let after = stores.tasks.get(&ada, record.task.id).await.unwrap();
    assert_eq!((after.task.status.state, after.seq), (TaskState::Working, record.seq + 1));
    let ended = end(&*stores.tasks, &ada, record.task.id, TaskState::Canceled).await;
    let late = Append { transcript: said(&["late"]), ..write(&ended, Vec::new()) };
    let (from, to) = (TaskState::Canceled, TaskState::Canceled);
    assert_eq!(stores.tasks.append(late).await, Err(StoreError::NotAllowed { from, to }));
    assert_eq!(words(stores, &record).await.len(), 3);
}

async fn a_refused_task_leaves_no_items(stores: &Stores) {
    let first = create(&*stores.tasks, new_with("ada", "1", &["hi"])).await;
    let new = new_with("ada", "2", &["x"]);
    let refused = [
        NewTask { live_limit: 1, ..new.clone() },
        NewTask { id: first.task.id, ..new.clone() },
        NewTask { transcript: TranscriptWrite { after: Some(0), ..said(&["x"]) }, ..new.clone() },
        NewTask { events: vec![status(TaskState::Submitted)], ..new.clone() },
    ];
    for new in refused {
        assert!(stores.tasks.create(new.clone()).await.is_err(), "{new:?}");
        assert_eq!(words(stores, &first).await, ["hi"]);
        assert_eq!(stores.tasks.counts(&owner("ada")).await.unwrap().values().sum::<u64>(), 1);
    }

    create(&*stores.tasks, NewTask { transcript: TranscriptWrite { after: Some(1), ..said(&["y"]) }, ..new }).await;

    assert_eq!(words(stores, &first).await, ["hi", "y"]);
}

async fn a_message_that_comes_again_adds_nothing(stores: &Stores) {
    let record = create(&*stores.tasks, new_with("ada", "m", &["hi"])).await;

    for transcript in [said(&["hi"]), TranscriptWrite { after: Some(0), ..said(&["hi"]) }] {
        let again = stores.tasks.create(NewTask { transcript, ..new_task(&owner("ada"), "m") }).await;

        assert_eq!(again, Ok(Created::Known(record.task.id)));
        assert_eq!(words(stores, &record).await, ["hi"]);
    }
}

async fn the_tasks_of_a_conversation_share_its_transcript(stores: &Stores) {
    let one = create(&*stores.tasks, new_with("ada", "1", &["a"])).await;
    let two = create(&*stores.tasks, new_with("ada", "2", &["b"])).await;
    let silent = create(&*stores.tasks, finished_task(&owner("ada"), "3")).await;
    let one = add(stores, &one, said(&["c"])).await.unwrap();
    add(stores, &two, said(&["d"])).await.unwrap();
    add(stores, &one, said(&["e"])).await.unwrap();

    assert_eq!(words(stores, &silent).await, ["a", "b", "c", "d", "e"]);
    let tasks: Vec<_> = page(stores, &one).await.rows.iter().map(|row| row.task).collect();
    let (one, two) = (one.task.id, two.task.id);
    assert_eq!(tasks, [one, two, one, two, one]);
}

async fn the_same_context_is_another_conversation_for_others(stores: &Stores) {
    let new = |whose: &str, message: &str| new_with(whose, message, &[message]);
    let ours = create(&*stores.tasks, new("ada", "1")).await;
    let bobs = create(&*stores.tasks, new("bob", "2")).await;
    let agent = create(&*stores.tasks, NewTask { agent: "other".parse().unwrap(), ..new("ada", "3") }).await;
    let context = create(&*stores.tasks, NewTask { context_id: "d".parse().unwrap(), ..new("ada", "4") }).await;
    for (record, word) in [(&ours, "1"), (&bobs, "2"), (&agent, "3"), (&context, "4")] {
        assert_eq!(words(stores, record).await, [word]);
    }
    let eve = Conversation { owner: owner("eve"), ..ours.conversation() };

    assert_eq!(stores.transcripts.read(&all(eve)).await, Ok(TranscriptPage::default()));
}

async fn a_writer_that_missed_something_is_told(stores: &Stores) {
    let run = create(&*stores.tasks, new_with("ada", "1", &["hi"])).await;
    let read = page(stores, &run).await.end;
    let other = create(&*stores.tasks, new_with("ada", "2", &["wait"])).await;

    let missed = add(stores, &run, TranscriptWrite { after: Some(read), ..said(&["answer"]) }).await;

    assert_eq!(missed, Err(StoreError::Conflict));
    let read = page(stores, &other).await.end;
    add(stores, &run, TranscriptWrite { after: Some(read), ..said(&["answer"]) })
        .await
        .unwrap();
    assert_eq!(words(stores, &run).await, ["hi", "wait", "answer"]);
    let nothing_to_add = TranscriptWrite { after: Some(0), items: Vec::new() };
    assert!(add(stores, &other, nothing_to_add).await.is_ok(), "whoever adds nothing misses nothing");
}

async fn many_writers_leave_no_gap(stores: &Stores) {
    let news = (0..40).map(|n| stores.tasks.create(new_with("ada", &format!("m{n}"), &["a", "b"])));
    for created in join_all(news).await {
        created.unwrap();
    }
    let record = create(&*stores.tasks, new_with("ada", "last", &["c"])).await;
    assert_eq!(words(stores, &record).await.len(), 81);

    let racing = (0..10).map(|n| {
        let transcript = TranscriptWrite { after: Some(81), ..said(&["first"]) };
        stores.tasks.create(NewTask { transcript, ..new_task(&owner("ada"), &format!("r{n}")) })
    });
    let outcomes = join_all(racing).await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(StoreError::Conflict))), "{outcomes:?}");
    assert_eq!(words(stores, &record).await.len(), 82);
}

#[track_caller]
fn assert_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    let said = format!("{outcome:?}");
    assert!(matches!(outcome, Err(StoreError::OwnerFull { kept, .. }) if kept.transcripts > 4_000), "{said}");
}

async fn transcripts_share_the_room_of_their_owner(stores: &Stores) {
    stores.quota.set(10_000);
    let long = "x".repeat(4_000);
    let record = create(&*stores.tasks, new_with("ada", "1", &[&long])).await;
    let record = add(stores, &record, said(&[&long])).await.unwrap();

    assert_full(stores.tasks.create(new_with("ada", "2", &[&long])).await);
    assert_full(add(stores, &record, said(&[&long])).await);
    let memory = crate::StoredValue { value: long.clone(), labels: Labels::none() };
    assert_full(stores.memory.put(&owner("ada"), "k", memory).await);

    assert_eq!(words(stores, &record).await.len(), 2);
    assert_eq!(stores.tasks.get(&record.owner, record.task.id).await.unwrap(), record);
    create(&*stores.tasks, new_with("bob", "3", &[&long])).await;
    let full = add(stores, &record, said(&[&long])).await.unwrap_err().to_string();
    assert!(full.contains("transcripts 80") && full.contains("storage.transcript_days"), "{full}");
}

async fn a_task_can_end_with_its_last_items_where_nothing_else_fits(stores: &Stores) {
    stores.quota.set(10_000);
    let record = create(&*stores.tasks, new_with("ada", "1", &[&"x".repeat(9_000)])).await;
    let last = said(&[&"y".repeat(2_000)]);
    assert_full(add(stores, &record, last.clone()).await);

    let end = Append { transcript: last, ..write(&record, vec![status(TaskState::Completed)]) };
    stores.tasks.append(Append { at: now(), ..end }).await.unwrap();

    assert_eq!(words(stores, &record).await.len(), 2);
}
