//! Turns in a conversation, and entries that were not written.

use std::sync::Arc;
use std::time::Duration;

use openfang_store::{Conversation, ItemBody, TranscriptItem, TranscriptKind};
use openfang_types::taint::Labels;

use super::{Conversations, OpenTranscript};

fn conversation(context: &str) -> Conversation {
    Conversation {
        owner: openfang_types::ids::Owner::admin(),
        agent: "thinker".parse().unwrap(),
        context_id: context.parse().unwrap(),
    }
}

fn item() -> TranscriptItem {
    TranscriptItem {
        turn: 1,
        kind: TranscriptKind::User,
        covers: None,
        tokens: None,
        labels: Labels::none(),
        body: ItemBody::new("{}".to_owned()).unwrap(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_runs_of_a_conversation_take_turns_and_others_do_not_wait() {
    let conversations = Arc::new(Conversations::default());
    let first = conversations.turn(conversation("one")).await;

    let waits = tokio::time::timeout(Duration::from_secs(1), conversations.turn(conversation("one"))).await;
    assert!(waits.is_err());
    drop(conversations.turn(conversation("two")).await);
    drop(first);
    drop(conversations.turn(conversation("one")).await);

    let known = conversations.turns.lock().unwrap().len();
    assert!(known <= 2, "turns that nobody waits for are forgotten: {known}");
}

#[tokio::test]
async fn what_was_not_written_waits_again_in_its_place() {
    let turn = Conversations::default().turn(conversation("one")).await;
    let mut open = OpenTranscript { end: 4, waiting: Vec::new(), is_overtaken: false, _turn: turn };
    assert_eq!(open.add(vec![item(), item()]), 5);
    let taken = open.take();
    assert_eq!(open.write(taken.clone()).after, Some(4));
    assert_eq!(open.write(Vec::new()).after, None, "a write of events alone says nothing about the transcript");

    open.put_back(taken);
    assert_eq!(open.add(vec![item()]), 7);
    let taken = open.take();
    open.wrote(taken.len());
    assert_eq!((taken.len(), open.add(vec![item()])), (3, 8));
}
