//! What an answer takes, for whom, and until when.

use http_body_util::BodyExt as _;
use openfang_types::limits::Limits;

use super::*;

const MIB: usize = 1024 * 1024;

/// One owner may hold 8 MiB.
fn inflight() -> Arc<Inflight> {
    Inflight::new(&Limits { inflight_bytes: 16 * MIB, body_bytes: MIB, ..Limits::default() })
}

fn room(inflight: &Arc<Inflight>) -> Arc<Room> {
    inflight.room(&Arc::new(Principal::local()))
}

fn all(inflight: &Inflight) -> usize {
    inflight.all.load(Ordering::Relaxed)
}

fn answer(bytes: usize) -> Response {
    Response::new(Body::from(vec![b'x'; bytes]))
}

#[tokio::test]
async fn a_large_answer_counts_before_anybody_asks_for_it_until_it_is_taken_and_says_its_length() {
    let inflight = inflight();
    let room = room(&inflight);
    assert!(room.take(3 * MIB).await);

    let mut body = counted(answer(MIB), Arc::clone(&room), None, &lane::turns()).into_body();
    assert_eq!(body.size_hint().exact(), Some(MIB as u64));
    assert_eq!(all(&inflight), MIB, "what was read for it is gone");
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first.len(), INFLIGHT_PIECE_BYTES);
    assert_eq!(all(&inflight), MIB);
    let rest = body.collect().await.unwrap().to_bytes();

    assert_eq!(first.len() + rest.len(), MIB);
    assert_eq!(all(&inflight), 0, "also while a run holds the caller");
    drop(room);
}

#[tokio::test]
async fn an_answer_that_nobody_takes_counts_until_it_is_dropped() {
    let inflight = inflight();
    let body = counted(answer(MIB), room(&inflight), None, &lane::turns()).into_body();
    assert_eq!(all(&inflight), MIB);

    drop(body);

    assert_eq!(all(&inflight), 0);
}

#[tokio::test(start_paused = true)]
async fn a_large_answer_waits_for_room_and_is_refused_when_there_is_none_in_time() {
    let inflight = inflight();
    let (first, second) = (room(&inflight), room(&inflight));
    assert!(first.take(6 * MIB).await);

    let mut waiting = second.take(6 * MIB);
    assert!(futures_util::poll!(&mut waiting).is_pending());
    first.give_back(6 * MIB);
    assert!(waiting.await, "there is room now");

    assert!(!first.take(6 * MIB).await, "and now there is none");
    let refused = counted(answer(10), first, None, &lane::turns());
    assert_eq!(refused.headers()[RETRY_AFTER], "1");
}

#[tokio::test]
async fn what_is_larger_than_a_share_is_read_by_whoever_reads_nothing_else() {
    let inflight = inflight();

    assert!(room(&inflight).take(100 * MIB).await);
}
