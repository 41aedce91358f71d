//! The event parser: every way to split the bytes gives the same events.

use super::*;

fn event(name: &str, id: Option<&str>, data: &str) -> Event {
    Event { name: name.to_owned(), id: id.map(str::to_owned), data: data.to_owned() }
}

fn parsed(chunks: &[&[u8]]) -> Vec<Event> {
    let mut parser = Parser::new(SseLimits::default());
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(Bytes::copy_from_slice(chunk));
        while let Some(event) = parser.next_event().unwrap() {
            events.push(event);
        }
    }
    events
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

fn within(event_bytes: usize) -> Parser {
    Parser::new(SseLimits { event_bytes, events: 100 })
}

fn first_error(parser: &mut Parser, chunks: impl IntoIterator<Item = Bytes>) -> Option<SseError> {
    for chunk in chunks {
        parser.push(chunk);
        loop {
            match parser.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return Some(error),
            }
        }
    }
    None
}

#[test]
fn an_event_that_grows_beyond_the_limit_is_refused_wherever_it_grows() {
    let endless_line: &[u8] = b"data: 0123456789";
    let endless_data: &[u8] = b"data: 01\ndata: 23\ndata: 45\ndata: 67\n";
    let endless_comment: &[u8] = b": 0123456789";
    let endless_comments: &[u8] = b":0\n:1\n:2\n:3\n:4\n:5\n:6\n";
    let endless_strange_fields: &[u8] = b"ab:0\nab:1\nab:2\nab:3\n";
    for bytes in [endless_line, endless_data, endless_comment, endless_comments, endless_strange_fields] {
        let single_bytes = bytes.iter().map(|byte| Bytes::copy_from_slice(&[*byte]));

        let refused = first_error(&mut within(10), single_bytes);

        assert_eq!(refused, Some(SseError::EventTooLarge { limit: 10 }));
        assert_eq!(first_error(&mut within(10), [Bytes::from_static(bytes)]), refused);
    }
}

#[test]
fn comments_between_events_are_no_reason_to_refuse() {
    let keep_alive = Bytes::from_static(b":keep-alive\n\n");

    assert_eq!(first_error(&mut within(20), std::iter::repeat_n(keep_alive, 1_000)), None);
}

#[test]
fn events_up_to_the_number_are_delivered_and_the_next_one_ends_the_stream() {
    let mut parser = within(20);
    parser.push(Bytes::from("data: 0123\n\n".repeat(101)));

    for _ in 0..100 {
        assert_eq!(parser.next_event().unwrap(), Some(event("message", None, "0123")));
    }
    assert_eq!(parser.next_event(), Err(SseError::TooManyEvents { limit: 100 }));
}

#[test]
fn an_id_too_long_to_keep_is_refused() {
    let line = format!("id: {}\n", "x".repeat(SSE_ID_MAX_BYTES + 1));

    let refused = first_error(&mut Parser::new(SseLimits::default()), [Bytes::from(line)]);

    assert_eq!(refused, Some(SseError::IdTooLong { limit: SSE_ID_MAX_BYTES }));
}

#[test]
fn bytes_pushed_before_the_earlier_ones_were_read_are_joined() {
    let mut parser = within(20);
    for byte in b"data: 1\r\n\r\n" {
        parser.push(Bytes::copy_from_slice(&[*byte]));
    }

    assert_eq!(parser.next_event(), Ok(Some(event("message", None, "1"))));
    assert_eq!(parser.next_event(), Ok(None));
}

#[test]
fn the_time_to_reconnect_is_the_last_one_that_is_a_number() {
    let mut parser = Parser::new(SseLimits::default());
    parser.push(Bytes::from_static(b"retry: 10\nretry: 2500\nretry: soon\nretry: -1\nretry:\n\n"));

    assert_eq!(parser.next_event(), Ok(None));
    assert_eq!(parser.retry(), Some(Duration::from_millis(2_500)));
}

#[test]
fn an_id_with_a_null_is_ignored_and_an_empty_one_resets() {
    let events = parsed(&[b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid:\ndata: c\n\n"]);

    assert_eq!(
        events,
        [event("message", Some("1"), "a"), event("message", Some("1"), "b"), event("message", None, "c")]
    );
}
