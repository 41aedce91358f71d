//! What is stored of a transcript reads back as it was, and damage is named.

use openfang_store::{
    Conversation, ItemBody, NewTask, ResendKey, Stores, TranscriptItem, TranscriptKind, TranscriptQuery,
    TranscriptRange, TranscriptRow, TranscriptWrite,
};
use openfang_types::ids::{NodeId, TraceId};
use openfang_types::task::{Message, Origin, Role};

use super::*;
use crate::transcript::AskedCall;

/// One body of each kind.
fn one_of_each() -> Vec<TranscriptBody> {
    let native = native_of(WireKind::Gemini, &[call("a")]);
    let approval = "0190a000-0000-7000-8000-000000000001".to_owned();
    vec![
        user("Hi \u{1f980}"),
        answer_to(1, vec![call("a")], native, Stop::Refused("no".to_owned())),
        begun("a"),
        done("a"),
        TranscriptBody::Asked { calls: vec![AskedCall { call: "a".to_owned(), approval: approval.clone() }] },
        TranscriptBody::Decided { approval, is_approved: true },
        TranscriptBody::Compacted(Box::new(compaction("They said hi.", 3))),
        TranscriptBody::Switched { model: "other".to_owned(), reason: "busy".to_owned() },
    ]
}

fn row(entry: &TranscriptEntry) -> TranscriptRow {
    let item = entry.body.to_item(entry.turn, entry.labels.clone()).unwrap();
    TranscriptRow { seq: entry.seq, task: entry.task, at: jiff::Timestamp::UNIX_EPOCH, item }
}

#[test]
fn a_stored_entry_reads_back_as_it_was() {
    let mut all = entries(one_of_each());
    all[0].labels = Labels::one(Label::User, "rest");
    for entry in all {
        let stored = row(&entry);
        assert_eq!(stored.item.covers, (stored.item.kind == TranscriptKind::Compacted).then_some(3));

        assert_eq!(TranscriptEntry::try_from(stored).unwrap(), entry);
    }
}

#[test]
fn a_damaged_entry_is_named_and_nothing_of_it_is_told() {
    for mut entry in entries(one_of_each()) {
        entry.seq = 7;
        let whole = row(&entry);
        let json = whole.item.body.as_str();
        let other = serde_json::to_string(&TranscriptBody::Asked { calls: Vec::new() }).unwrap();
        let other = if entry.body.kind() == TranscriptKind::Asked { "{}".to_owned() } else { other };
        let cut = (0..json.len())
            .filter(|end| json.is_char_boundary(*end))
            .map(|end| json[..end].to_owned());
        for body in cut.chain([format!("{json}}}"), "null".to_owned(), "[]".to_owned(), other]) {
            let item = TranscriptItem { body: ItemBody::new(body.clone()).unwrap(), ..whole.item.clone() };

            let refused = TranscriptEntry::try_from(TranscriptRow { item, ..whole.clone() })
                .unwrap_err()
                .to_string();

            assert!(refused.starts_with("entry 7 of the transcript cannot be read"), "{body}: {refused}");
            assert!(!refused.contains("Hi") && !refused.contains("hi."), "{refused}");
        }
    }
}

#[tokio::test]
async fn what_a_run_needs_after_a_crash_is_in_the_store() {
    let stores = Stores::in_memory();
    let id = TaskId::from_uuid(uuid::Uuid::from_u128(7));
    let conversation = Conversation {
        owner: "ada".parse().unwrap(),
        agent: "researcher".parse().unwrap(),
        context_id: "talk".parse().unwrap(),
    };
    let history = [user("Hi"), answer_to(1, vec![call("a"), call("b")], None, Stop::Calls), begun("a")];
    let items = history.iter().map(|body| body.to_item(1, Labels::none()).unwrap()).collect();
    stores
        .tasks
        .create(new_task(id, &conversation, TranscriptWrite::at_the_end(items)))
        .await
        .unwrap();
    let (range, max_bytes) = (TranscriptRange::Uncovered, usize::MAX);

    let page = stores
        .transcripts
        .read(&TranscriptQuery { conversation, range, kind: None, limit: 9, max_bytes })
        .await
        .unwrap();

    let read: Vec<TranscriptEntry> = page.rows.into_iter().map(|row| row.try_into().unwrap()).collect();
    assert_eq!(read.iter().map(|entry| entry.body.clone()).collect::<Vec<_>>(), history);
    assert!(read.iter().all(|entry| entry.task == id && entry.turn == 1));
    let unknown = "This call was interrupted. Whether it took effect is not known.";
    assert_eq!(result_texts(&read), [unknown, "This call was not run."]);
}

fn new_task(id: TaskId, conversation: &Conversation, transcript: TranscriptWrite) -> NewTask {
    NewTask {
        id,
        owner: conversation.owner.clone(),
        agent: conversation.agent.clone(),
        context_id: conversation.context_id.clone(),
        message: Message::text("m".parse().unwrap(), Role::User, "Hi"),
        resend_key: ResendKey::unique(id),
        events: Vec::new(),
        labels: Labels::none(),
        scope: None,
        door: openfang_types::principal::Door::Rest,
        trace: TraceId::from_uuid(id.as_uuid()),
        origin: Origin::OpenFang,
        peer_name: None,
        push: None,
        remote: None,
        transcript,
        node: NodeId::from_uuid(id.as_uuid()),
        at: jiff::Timestamp::UNIX_EPOCH,
        live_limit: 1,
    }
}
