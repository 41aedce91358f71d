//! Frames on stdio: one message per line, or `Content-Length` headers where the peer opens with them.
//!
//! No revision has headers, but there are clients that send them and wait for the same; the first bytes decide.
//! A frame beyond the limit is drained without being kept, and reading goes on behind it.

use std::io;

use bytes::{Buf as _, BytesMut};
use openfang_types::limits::{MAX_MCP_MESSAGE_SIZE, MCP_FRAME_HEADER_BYTES, MCP_LOST_HEAD_BYTES, MCP_UNASKED_MESSAGE};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use openfang_egress::pace::Pace;

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Lines,
    /// A header with the length each.
    Headers,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    Message(BytesMut),
    /// A message that was too large, and is gone.
    TooLarge,
    /// A header that says nothing usable, and is gone.
    BadHeader,
}

/// Reads frames. [`FrameReader::next`] may be dropped and called again: nothing is lost.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    buffer: BytesMut,
    framing: Option<Framing>,
    state: State,
    limit: usize,
    /// How the last message began that was too large.
    lost: BytesMut,
    /// How fast is read what nobody asked for.
    pace: Option<Pace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a frame; so many bytes of the buffer were looked at already.
    Between { seen: usize },
    /// Within a line that is too long.
    SkippingLine,
    /// Within a body of which so much is still to come; a body that is too large is not kept.
    Body { left: usize, is_kept: bool },
}

/// Room for as much is made before each read, so that many short messages come with one.
const READ_BYTES: usize = 8 * 1024;
/// A buffer larger than this goes when it is empty.
const KEPT_BYTES: usize = 64 * 1024;
const START: State = State::Between { seen: 0 };

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub fn new(from: R) -> Self {
        Self {
            from,
            buffer: BytesMut::new(),
            framing: None,
            state: START,
            limit: MAX_MCP_MESSAGE_SIZE,
            lost: BytesMut::new(),
            pace: None,
        }
    }

    /// Takes frames of this size at most.
    #[must_use]
    pub const fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Reads slowly once the peer has said too much that nobody asked for; see [`FrameReader::asked_for`].
    #[must_use]
    pub(crate) fn paced(mut self) -> Self {
        self.pace = Some(Pace::new());
        self
    }

    /// So many bytes that came were asked for.
    pub(crate) fn asked_for(&mut self, bytes: usize) {
        if let Some(pace) = &mut self.pace {
            pace.give(bytes as u64);
        }
    }

    /// A message came that nobody asked for. However short it is, it takes its time.
    pub(crate) async fn unasked(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.spend(MCP_UNASKED_MESSAGE).await;
        }
    }

    /// How the peer frames; lines until it has said something else.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or(Framing::Lines)
    }

    /// How the last message began that was too large: it may say whom it was for.
    pub(crate) fn lost(&self) -> &[u8] {
        &self.lost
    }

    /// The next frame; none at the end of the input. A frame that the end cuts off is none.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take() {
                return Ok(Some(frame));
            }
            self.make_room();
            let read = self.from.read_buf(&mut self.buffer).await?;
            if read == 0 {
                return Ok(self.rest());
            }
            if let Some(pace) = &mut self.pace {
                pace.spend(read as u64).await;
            }
        }
    }

    /// Room for a read. What one large message needed is not kept for the small ones behind it.
    fn make_room(&mut self) {
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES {
            self.buffer = BytesMut::new();
        }
        // A long message takes few steps to its length: each leaves behind what the one before held.
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES {
            self.buffer.reserve(READ_BYTES.max(3 * self.buffer.len()));
        }
    }

    /// What stands behind the last line break is a message too.
    fn rest(&mut self) -> Option<Frame> {
        let rest = self.buffer.split();
        let state = std::mem::replace(&mut self.state, START);
        let is_whole = matches!(state, State::Between { .. }) && self.framing() == Framing::Lines;
        (is_whole && !rest.trim_ascii().is_empty()).then_some(Frame::Message(rest))
    }

    fn take(&mut self) -> Option<Frame> {
        loop {
            let step = match self.state {
                State::Between { seen } => match self.framing_of_start()? {
                    Framing::Lines => self.line(seen),
                    Framing::Headers => self.header(),
                },
                State::SkippingLine => self.skip_line(),
                State::Body { left, is_kept } => self.body(left, is_kept),
            };
            match step {
                Step::Frame(frame) => return Some(frame),
                Step::Again => {}
                Step::More => return None,
            }
        }
    }

    /// Decided once, by the first bytes that are not blank.
    fn framing_of_start(&mut self) -> Option<Framing> {
        const HEADER: &[u8] = b"content-length";
        if let Some(framing) = self.framing {
            return Some(framing);
        }
        let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.buffer.advance(blank);
        let start = &self.buffer[..self.buffer.len().min(HEADER.len())];
        if start.is_empty() || (start.len() < HEADER.len() && start.eq_ignore_ascii_case(&HEADER[..start.len()])) {
            return None;
        }
        let framing = if start.eq_ignore_ascii_case(HEADER) { Framing::Headers } else { Framing::Lines };
        self.framing = Some(framing);
        Some(framing)
    }

    fn line(&mut self, seen: usize) -> Step {
        let Some(end) = self.buffer[seen..].iter().position(|byte| *byte == b'\n') else {
            if self.buffer.len() > self.limit {
                // Said at once: it may take long until all of it has come.
                self.lose();
                self.buffer.clear();
                self.state = State::SkippingLine;
                return Step::Frame(Frame::TooLarge);
            }
            self.state = State::Between { seen: self.buffer.len() };
            return Step::More;
        };
        let mut line = self.buffer.split_to(seen + end + 1);
        self.state = START;
        line.truncate(line.len() - 1);
        if line.len() > self.limit {
            self.lost = BytesMut::from(&line[..line.len().min(MCP_LOST_HEAD_BYTES)]);
            return Step::Frame(Frame::TooLarge);
        }
        // A reader of lines skips what is blank.
        if line.trim_ascii().is_empty() { Step::Again } else { Step::Frame(Frame::Message(line)) }
    }

    /// Keeps how a message begins that is not kept.
    fn lose(&mut self) {
        self.lost = BytesMut::from(&self.buffer[..self.buffer.len().min(MCP_LOST_HEAD_BYTES)]);
    }

    fn skip_line(&mut self) -> Step {
        match self.buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                self.buffer.advance(end + 1);
                self.state = START;
                Step::Again
            }
            None => {
                self.buffer.clear();
                Step::More
            }
        }
    }

    fn header(&mut self) -> Step {
        let blank = self.buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.buffer.advance(blank);
        let Some((length, end)) = header_end(&self.buffer) else {
            if self.buffer.len() > MCP_FRAME_HEADER_BYTES {
                self.buffer.clear();
                return Step::Frame(Frame::BadHeader);
            }
            return Step::More;
        };
        let length = content_length(&self.buffer[..length]);
        self.buffer.advance(end);
        match length {
            Some(left) if left > self.limit => {
                self.lose();
                self.state = State::Body { left, is_kept: false };
                Step::Frame(Frame::TooLarge)
            }
            Some(left) => {
                self.state = State::Body { left, is_kept: true };
                Step::Again
            }
            None => Step::Frame(Frame::BadHeader),
        }
    }

    fn body(&mut self, left: usize, is_kept: bool) -> Step {
        if is_kept && self.buffer.len() < left {
            return Step::More;
        }
        let taken = left.min(self.buffer.len());
        let body = self.buffer.split_to(taken);
        if taken < left {
            self.state = State::Body { left: left - taken, is_kept };
            return Step::More;
        }
        self.state = START;
        if is_kept { Step::Frame(Frame::Message(body)) } else { Step::Again }
    }
}

enum Step {
    Frame(Frame),
    Again,
    More,
}

/// Where the header's text and where the blank line behind it end.
fn header_end(bytes: &[u8]) -> Option<(usize, usize)> {
    let crlf = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = bytes.windows(2).position(|window| window == b"\n\n").map(|at| (at, at + 2));
    match (crlf, lf) {
        (Some(crlf), Some(lf)) => Some(if crlf.0 < lf.0 { crlf } else { lf }),
        (found, None) | (None, found) => found,
    }
}

/// The length that a header names; a negative or senseless one is none.
fn content_length(header: &[u8]) -> Option<usize> {
    const NAME: &str = "content-length";
    let header = str::from_utf8(header).ok()?;
    // Behind a header that made no sense its body stands right before the next one, so the name may be anywhere.
    let named = |line: &'_ str| {
        let at = line.to_ascii_lowercase().rfind(NAME)? + NAME.len();
        line.get(at..)?.trim_start().strip_prefix(':').map(str::to_owned)
    };
    let mut lengths = header.lines().filter_map(named);
    let length = lengths.next()?;
    let length = length.trim();
    let is_plain = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain && lengths.next().is_none() { length.parse().ok() } else { None }
}

pub async fn write_frame<W: AsyncWrite + Unpin>(to: &mut W, framing: Framing, message: &[u8]) -> io::Result<()> {
    match framing {
        Framing::Lines => {
            to.write_all(message).await?;
            to.write_all(b"\n").await?;
        }
        Framing::Headers => {
            to.write_all(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes()).await?;
            to.write_all(message).await?;
        }
    }
    to.flush().await
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
