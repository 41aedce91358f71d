//! Frames of every size and shape, whole and in pieces.

use std::time::Duration;

use openfang_types::limits::{MCP_UNASKED_BURST, MCP_UNASKED_PER_SECOND};
use tokio::time::Instant;

use super::*;

const LIMIT: usize = 64;

async fn frames(input: &[u8]) -> (Vec<Frame>, Framing) {
    let mut reader = FrameReader::new(input).with_limit(LIMIT);
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().await.unwrap() {
        frames.push(frame);
    }
    (frames, reader.framing())
}

/// The same input, a byte at a time.
async fn dribbled(input: &[u8]) -> Vec<Frame> {
    let pieces = input.iter().map(|byte| Ok::<_, io::Error>(vec![*byte].into()));
    let stream = futures_util::stream::iter(pieces.collect::<Vec<io::Result<bytes::Bytes>>>());
    let mut reader = FrameReader::new(Dribble(Box::pin(stream))).with_limit(LIMIT);
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().await.unwrap() {
        frames.push(frame);
    }
    frames
}

struct Dribble(std::pin::Pin<Box<dyn futures_util::Stream<Item = io::Result<bytes::Bytes>> + Send>>);

impl AsyncRead for Dribble {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        self.0.as_mut().poll_next(cx).map(|piece| {
            if let Some(piece) = piece {
                buffer.put_slice(&piece?);
            }
            Ok(())
        })
    }
}

fn message(text: &str) -> Frame {
    Frame::Message(BytesMut::from(text))
}

#[tokio::test]
async fn lines_are_messages_whatever_ends_them_and_blank_ones_are_none() {
    let (read, framing) = frames(b"\n{\"a\":1}\r\n\r\n   \n{\"b\":2}\n{\"c\":3}").await;

    assert_eq!(framing, Framing::Lines);
    assert_eq!(read, [message("{\"a\":1}\r"), message("{\"b\":2}"), message("{\"c\":3}")]);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_drained_and_the_next_one_is_read() {
    let input = format!("{}\n{{\"a\":1}}\n", "x".repeat(LIMIT * 100));
    let (read, _) = frames(input.as_bytes()).await;

    assert_eq!(read, [Frame::TooLarge, message("{\"a\":1}")]);
    assert_eq!(dribbled(input.as_bytes()).await, read);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_said_before_all_of_it_came_with_how_it_began() {
    let (near, far) = tokio::io::duplex(8 * LIMIT);
    let mut reader = FrameReader::new(near).with_limit(LIMIT);
    let mut writer = far;
    let begin = format!("{{\"id\":7,\"result\":\"{}", "x".repeat(LIMIT));
    writer.write_all(begin.as_bytes()).await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(Frame::TooLarge));
    assert!(begin.as_bytes().starts_with(reader.lost()) && reader.lost().starts_with(b"{\"id\":7,"));

    writer.write_all(b"xxx\"}\n{\"a\":1}\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(message("{\"a\":1}")));
}

#[tokio::test]
async fn a_line_of_exactly_the_limit_is_read() {
    let line = "x".repeat(LIMIT);

    assert_eq!(frames(format!("{line}\n").as_bytes()).await.0, [message(&line)]);
    assert_eq!(frames(format!("{line}y\n").as_bytes()).await.0, [Frame::TooLarge]);
}

#[tokio::test]
async fn a_peer_that_opens_with_a_header_is_read_by_headers() {
    let input =
        b"Content-Length: 7\r\n\r\n{\"a\":1}content-length:7\r\nX-Y: z\r\n\r\n{\"b\":2}\r\nContent-Length: 2\n\n{}";
    let (read, framing) = frames(input).await;

    assert_eq!(framing, Framing::Headers);
    assert_eq!(read, [message("{\"a\":1}"), message("{\"b\":2}"), message("{}")]);
    assert_eq!(dribbled(input).await, read);
}

#[tokio::test]
async fn a_header_that_makes_no_sense_is_said_and_reading_goes_on() {
    let odd = ["-5", "x", "", "+3", "99999999999999999999999", "1, 1"];
    for length in odd {
        let input = format!("Content-Length: {length}\r\n\r\nContent-Length: 2\r\n\r\n{{}}");
        let (read, _) = frames(input.as_bytes()).await;

        assert_eq!(read, [Frame::BadHeader, message("{}")], "{length}");
    }
    let with_body = b"Content-Length: -7\r\n\r\n{\"a\":1}Content-Length: 2\r\n\r\n{}";
    assert_eq!(frames(with_body).await.0, [Frame::BadHeader, message("{}")]);
    let twice = b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(frames(twice).await.0, [Frame::BadHeader, message("{}")]);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_drained() {
    let input = format!("Content-Length: {}\r\n\r\n{}Content-Length: 2\r\n\r\n{{}}", LIMIT * 9, "x".repeat(LIMIT * 9));
    let (read, _) = frames(input.as_bytes()).await;

    assert_eq!(read, [Frame::TooLarge, message("{}")]);
    assert_eq!(dribbled(input.as_bytes()).await, read);
}

#[tokio::test]
async fn a_length_that_promises_more_than_comes_ends_with_the_input() {
    assert_eq!(frames(b"Content-Length: 40\r\n\r\n{}").await.0, []);
    assert_eq!(frames(b"Content-Length: 999999999999\r\n\r\n{}").await.0, [Frame::TooLarge]);
}

#[tokio::test]
async fn a_header_within_a_stream_of_lines_is_a_line() {
    let (read, framing) = frames(b"{\"a\":1}\nContent-Length: 7\n{\"b\":2}\n").await;

    assert_eq!(framing, Framing::Lines);
    assert_eq!(read, [message("{\"a\":1}"), message("Content-Length: 7"), message("{\"b\":2}")]);
}

#[tokio::test]
async fn an_endless_header_is_given_up() {
    let input = format!("Content-Length: 1\r\nX: {}", "y".repeat(MCP_FRAME_HEADER_BYTES * 2));

    assert_eq!(frames(input.as_bytes()).await.0, [Frame::BadHeader]);
}

#[tokio::test]
async fn messages_are_written_in_the_peers_framing() {
    let mut lines = Vec::new();
    write_frame(&mut lines, Framing::Lines, b"{}").await.unwrap();
    let mut headers = Vec::new();
    write_frame(&mut headers, Framing::Headers, b"{}").await.unwrap();

    assert_eq!(lines, b"{}\n");
    assert_eq!(headers, b"Content-Length: 2\r\n\r\n{}");
}

/// Reads until the end of an input of one byte again and again, and returns how long that was made to take.
async fn flooded(byte: u8, bytes: u64) -> Duration {
    let begun = Instant::now();
    let mut frames = FrameReader::new(tokio::io::repeat(byte).take(bytes)).with_limit(1_000).paced();
    while frames.next().await.unwrap().is_some() {}
    begun.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_flood_without_messages_is_read_at_a_walk() {
    let more = 4 * 1024 * 1024;
    let walk = Duration::from_secs_f64(more as f64 / MCP_UNASKED_PER_SECOND);
    for byte in [b'x', b'\n'] {
        assert_eq!(flooded(byte, MCP_UNASKED_BURST / 2).await, Duration::ZERO);
        let took = flooded(byte, MCP_UNASKED_BURST + more).await;
        assert!(took >= walk.mul_f64(0.9) && took <= walk.mul_f64(1.5), "{took:?} instead of {walk:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_nobody_asked_for_takes_its_time_and_an_answer_takes_none() {
    let begun = Instant::now();
    let mut frames = FrameReader::new(&b""[..]).paced();
    let messages = MCP_UNASKED_BURST / MCP_UNASKED_MESSAGE;
    for _ in 0..messages {
        frames.unasked().await;
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);

    for _ in 0..messages {
        frames.unasked().await;
    }
    assert!(begun.elapsed() > Duration::from_secs(10), "{:?}", begun.elapsed());
}
