//! Readers that are slow, go away and come back.

use openfang_types::limits::MCP_REPLAY_BYTES_PER_OWNER;

use super::*;

fn open(streams: &Streams) -> Arc<EventLog> {
    let log = streams.prepare();
    streams.keep(&log);
    log
}

fn frame(text: &str) -> Bytes {
    Bytes::from(text.to_owned())
}

#[tokio::test]
async fn a_reader_gets_everything_in_order_and_then_the_end() {
    let log = EventLog::queue();
    let mut reader = log.tail();
    log.send(frame("a"), Weight::Light);
    log.finish(Some(frame("b")));

    assert_eq!(reader.next().await, Some((1, frame("a"))));
    assert_eq!(reader.next().await, Some((2, frame("b"))));
    assert_eq!(reader.next().await, None);
    assert_eq!(log.send(frame("c"), Weight::Heavy), Sent::Gone);
}

#[tokio::test]
async fn a_slow_reader_costs_light_messages_and_a_bounded_memory() {
    let log = EventLog::queue();
    let mut reader = log.tail();
    let taken = (0..MCP_LOG_EVENTS * 3)
        .filter(|_| log.send(frame("x"), Weight::Light) == Sent::Taken)
        .count();

    assert_eq!(taken, MCP_LOG_EVENTS);
    assert_eq!(log.send(frame("answer"), Weight::Heavy), Sent::Taken);
    for _ in 0..MCP_LOG_EVENTS {
        reader.next().await.unwrap();
    }
    assert_eq!(reader.next().await.unwrap().1, frame("answer"));
    log.room().await;
}

#[tokio::test]
async fn a_replay_begins_after_the_event_that_is_named() {
    let streams = Streams::new(Arc::default());
    let log = open(&streams);
    let mut reader = log.tail();
    for text in ["a", "b", "c"] {
        log.send(frame(text), Weight::Light);
    }
    let (first, _) = reader.next().await.unwrap();
    reader.next().await.unwrap();

    let mut again = streams.find(&log.id_of(first)).unwrap();
    assert_eq!(again.next().await.unwrap().1, frame("b"));
    assert_eq!(again.next().await.unwrap().1, frame("c"));
    assert_eq!(streams.find(&log.id_of(0)).unwrap().next().await.unwrap().1, frame("a"));
    for odd in ["", "x", "1", "1-", "9-1", "1-9", "1-x", "-1--1"] {
        assert!(streams.find(odd).is_none(), "{odd}");
    }
}

#[tokio::test]
async fn an_ended_connection_ends_its_reader_and_the_next_one_goes_on() {
    let streams = Streams::new(Arc::default());
    let log = open(&streams);
    let mut reader = log.tail();
    log.send(frame("a"), Weight::Light);
    let (seq, _) = reader.next().await.unwrap();

    log.end_connection();
    assert_eq!(reader.next().await, None);
    log.finish(Some(frame("late")));

    let mut again = streams.find(&log.id_of(seq)).unwrap();
    assert_eq!(again.next().await.unwrap().1, frame("late"));
    assert_eq!(again.next().await, None);
}

#[test]
fn a_session_keeps_a_bounded_number_of_streams() {
    let streams = Streams::new(Arc::default());
    let first = open(&streams);
    for _ in 0..MCP_STREAMS_PER_SESSION * 2 {
        open(&streams).finish(None);
    }

    let kept = streams.state.lock().unwrap().1.len();
    assert_eq!(kept, MCP_STREAMS_PER_SESSION);
    assert!(streams.find(&first.id_of(0)).is_some(), "a stream that is not over went before those that are");
}

#[tokio::test]
async fn ending_the_connection_of_a_queue_does_nothing_since_nobody_could_come_back() {
    let log = EventLog::queue();
    let mut reader = log.tail();
    log.end_connection();
    log.finish(Some(bytes::Bytes::from_static(b"the answer")));

    assert_eq!(reader.next().await, Some((1, frame("the answer"))));
}

#[tokio::test]
async fn a_log_stirs_when_its_connection_is_ended() {
    let log = EventLog::for_replay(1, Arc::default());
    let waiting = log.stirred();
    log.end_connection();

    waiting.await;
}

#[tokio::test]
async fn what_nobody_comes_back_for_is_dropped_when_its_owner_has_too_much_of_it() {
    let memory: Arc<OwnerMemory> = Arc::default();
    let sessions = [Streams::new(Arc::clone(&memory)), Streams::new(Arc::clone(&memory))];
    let large = || Bytes::from(vec![b'x'; MCP_REPLAY_BYTES_PER_OWNER / 2 - 64]);
    let [first, second, third] = [&sessions[0], &sessions[1], &sessions[1]].map(open);
    for abandoned in [&first, &second] {
        drop(abandoned.from_the_beginning());
        abandoned.finish(Some(large()));
    }
    let mut reader = third.from_the_beginning();
    third.finish(Some(large()));
    assert!(reader.next().await.is_some(), "whoever reads gets everything");

    drop(reader);
    let fourth = open(&sessions[0]);
    drop(fourth.from_the_beginning());
    fourth.finish(Some(frame("small")));

    assert!(first.reader(0).is_some() && second.reader(0).is_some());
    assert!(third.reader(0).is_none(), "it was read, and goes first");
    assert!(fourth.reader(0).is_some());
    drop((sessions, first, second, third, fourth));
    assert!(!memory.is_over());
}
