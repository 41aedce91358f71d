//! What a tail keeps, and what it leaves to the store.

use jiff::Timestamp;
use openfang_types::event::{ArtifactUpdate, EventBody};
use openfang_types::ids::TaskId;
use openfang_types::task::{Artifact, Part};

use super::*;

fn event(seq: Seq, text: &str) -> TaskEvent {
    let artifact = Artifact::of_parts("reply".parse().unwrap(), None, vec![Part::text(text)]);
    TaskEvent {
        task_id: TaskId::from_uuid(uuid::Uuid::from_u128(1)),
        seq,
        at: Timestamp::UNIX_EPOCH,
        body: EventBody::Artifact(ArtifactUpdate { artifact, append: true, last_chunk: false }),
    }
}

fn seqs(tail: &Tail, after: Seq) -> Vec<Seq> {
    tail.after(after).iter().map(|event| event.seq).collect()
}

#[test]
fn a_reader_gets_what_came_after_its_last_event_and_nothing_across_a_gap() {
    let tail = Tail::of(Owner::admin());
    assert_eq!(seqs(&tail, 0), [0; 0]);
    tail.committed(vec![event(3, "a"), event(4, "b")]);
    assert_eq!(seqs(&tail, 2), [3, 4]);
    assert_eq!(seqs(&tail, 3), [4]);
    assert_eq!(seqs(&tail, 4), [0; 0]);
    assert_eq!(seqs(&tail, 1), [0; 0], "the second event is in the store");
}

#[test]
fn events_of_another_process_between_ours_are_a_gap() {
    let tail = Tail::of(Owner::admin());
    tail.committed(vec![event(3, "a")]);
    tail.committed(vec![event(5, "c")]);
    assert_eq!(seqs(&tail, 2), [0; 0]);
    assert_eq!(seqs(&tail, 3), [0; 0]);
    assert_eq!(seqs(&tail, 4), [5]);
}

#[test]
fn a_tail_holds_little_however_much_is_committed() {
    let tail = Tail::of(Owner::admin());
    for seq in 1..1_000 {
        tail.committed(vec![event(seq, "x")]);
    }
    assert_eq!(tail.after(999 - STREAM_BATCH_EVENTS as u64).len(), STREAM_BATCH_EVENTS);
    assert_eq!(seqs(&tail, 1), [0; 0]);
    let large = "x".repeat(STREAM_TAIL_BYTES + 1);
    tail.committed(vec![event(1_000, &large)]);
    assert_eq!(seqs(&tail, 999), [0; 0], "one that is too large is read from the store");
    tail.committed(vec![event(1_001, "y")]);
    assert_eq!(seqs(&tail, 1_000), [1_001]);
}
