//! The event parser: every way to split the bytes gives the same events.

use super::*;

fn event(name: &str, id: Option<&str>, data: &str) -> Event {
    Event { name: name.to_owned(), id: id.map(str::to_owned), data: data.to_owned() }
}

fn parsed(chunks: &[&[u8]]) -> Vec<Event> {
    let mut parser = Parser::default();
    for chunk in chunks {
        parser.push(chunk).unwrap();
    }
    std::iter::from_fn(|| parser.next()).collect()
}

const SAMPLE: &str = "\u{feff}: hello\r\nevent: status\r\nid: t:1\r\ndata: {\"a\":\"ä€😀\"}\r\n\r\n\
    data: one\rdata:two\rdata:  three\r\r\
    :keep-alive\n\nretry: 10\nevent: artifact\nid\ndata\n\n\
    event: shutdown\n\n\
    data: without an end";

fn sample_events() -> Vec<Event> {
    vec![
        event("status", Some("t:1"), "{\"a\":\"ä€😀\"}"),
        event("message", Some("t:1"), "one\ntwo\n three"),
        event("artifact", None, ""),
        event("shutdown", None, ""),
    ]
}

#[test]
fn fields_comments_and_all_three_line_ends_are_understood() {
    assert_eq!(parsed(&[SAMPLE.as_bytes()]), sample_events());
}

#[test]
fn every_split_into_two_gives_the_same_events() {
    let bytes = SAMPLE.as_bytes();
    for at in 0..=bytes.len() {
        let (left, right) = bytes.split_at(at);

        assert_eq!(parsed(&[left, right]), sample_events(), "split at {at}");
    }
}

#[test]
fn every_split_into_three_around_a_line_end_gives_the_same_events() {
    let bytes = b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n";
    let whole = parsed(&[bytes]);
    assert_eq!(whole, [event("a", None, "1"), event("message", None, "2")]);
    for first in 0..bytes.len() {
        for second in first..bytes.len() {
            let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];

            assert_eq!(parsed(&chunks), whole, "split at {first} and {second}");
        }
    }
}

#[test]
fn single_bytes_give_the_same_events() {
    let chunks: Vec<&[u8]> = SAMPLE.as_bytes().chunks(1).collect();

    assert_eq!(parsed(&chunks), sample_events());
}

#[test]
fn an_event_that_grows_beyond_the_limit_is_refused_wherever_it_grows() {
    let endless_line: &[u8] = b"data: 0123456789";
    let endless_data: &[u8] = b"data: 01\ndata: 23\ndata: 45\ndata: 67\n";
    let endless_comment: &[u8] = b": 0123456789";
    for bytes in [endless_line, endless_data, endless_comment] {
        let mut parser = Parser::with_limit(10);

        let refused = bytes.iter().find_map(|byte| parser.push(&[*byte]).err());

        assert!(matches!(refused, Some(DaemonError::TooLarge { limit: 10 })), "{refused:?}");
    }
}

#[test]
fn many_events_within_the_limit_are_no_reason_to_refuse() {
    let mut parser = Parser::with_limit(20);

    parser.push("data: 0123\n\n".repeat(100).as_bytes()).unwrap();

    assert_eq!(std::iter::from_fn(|| parser.next()).count(), 100);
}

#[test]
fn an_id_with_a_null_is_ignored_and_an_empty_one_resets() {
    let events = parsed(&[b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid:\ndata: c\n\n"]);

    assert_eq!(
        events,
        [event("message", Some("1"), "a"), event("message", Some("1"), "b"), event("message", None, "c")]
    );
}
