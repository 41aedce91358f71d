//! Reads HTTP/1 strictly: everything that two parsers could interpret as two different requests is refused.
//!
//! The parser behind us accepts a bare line feed as a line end, drops a repeated `Content-Length`, and accepts any
//! `Transfer-Encoding` that ends with `chunked`. A proxy in front of us may interpret each of them differently. So the
//! bytes are checked as they arrive, and the parser sees nothing of a refused head after the offending line.

/// How much of a line is kept. The relevant lines are shorter, or refused.
const LINE: usize = 64;

/// The requests of one connection, byte by byte.
pub(super) struct Heads {
    state: State,
    line: [u8; LINE],
    /// The length of the line so far, which may exceed the kept part.
    length: usize,
    /// The byte before the next one.
    last: u8,
    framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first line of a head.
    Start,
    Head,
    /// The number of body bytes to come.
    Body(u64),
    ChunkSize,
    /// The number of bytes to come of a chunk and its line end.
    Chunk(u64),
    Trailers,
    Refused,
}

/// How a head frames its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// The position of a byte that must not be passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeadRefusal {
    pub(super) at: usize,
    /// Whether it is in a head, so that the peer can be told.
    pub(super) in_head: bool,
}

impl Heads {
    pub(super) const fn new() -> Self {
        Self { state: State::Start, line: [0; LINE], length: 0, last: 0, framing: Framing::None }
    }

    /// Whether a body has begun and not ended.
    pub(super) const fn is_within_a_body(&self) -> bool {
        matches!(self.state, State::Body(_) | State::ChunkSize | State::Chunk(_) | State::Trailers)
    }

    pub(super) const fn is_refused(&self) -> bool {
        matches!(self.state, State::Refused)
    }

    /// Looks at the next bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), HeadRefusal> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            at += match self.state {
                State::Body(left) => {
                    let taken = taken(left, rest.len());
                    let left = left - taken as u64;
                    self.state = if left == 0 { State::Start } else { State::Body(left) };
                    taken
                }
                State::Chunk(left) => {
                    let taken = taken(left, rest.len());
                    let left = left - taken as u64;
                    self.state = if left == 0 { State::ChunkSize } else { State::Chunk(left) };
                    taken
                }
                State::Start | State::Head | State::ChunkSize | State::Trailers => self.line(rest, at)?,
                State::Refused => return Err(HeadRefusal { at, in_head: false }),
            };
        }
        Ok(())
    }

    /// Reads bytes up to the end of the line, or all.
    fn line(&mut self, rest: &[u8], at: usize) -> Result<usize, HeadRefusal> {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let piece = end.map_or(rest, |end| &rest[..end]);
        let kept = self.length.min(LINE);
        let room = piece.len().min(LINE - kept);
        self.line[kept..kept + room].copy_from_slice(&piece[..room]);
        self.last = piece.last().copied().unwrap_or(self.last);
        self.length += piece.len();
        let Some(end) = end else { return Ok(rest.len()) };
        let in_head = matches!(self.state, State::Start | State::Head);
        let is_whole = self.last == b'\r' && self.length > 0;
        let next = if is_whole { self.next_state() } else { None };
        let Some(next) = next else {
            self.state = State::Refused;
            return Err(HeadRefusal { at: at + end, in_head });
        };
        self.state = next;
        (self.length, self.last) = (0, 0);
        Ok(end + 1)
    }

    /// The state after a complete line; none if it is refused.
    fn next_state(&mut self) -> Option<State> {
        let is_empty = self.length == 1;
        let line = &self.line[..self.length.min(LINE).saturating_sub(usize::from(self.length <= LINE))];
        match self.state {
            // Empty lines before a request are allowed.
            State::Start if is_empty => Some(State::Start),
            State::Start => {
                self.framing = Framing::None;
                Some(State::Head)
            }
            State::Head if is_empty => Some(match self.framing {
                Framing::None | Framing::Length(0) => State::Start,
                Framing::Length(length) => State::Body(length),
                Framing::Chunked => State::ChunkSize,
            }),
            State::Head => {
                self.framing = framed(self.framing, line, self.length > LINE)?;
                Some(State::Head)
            }
            State::ChunkSize => match chunk_size(line)? {
                0 => Some(State::Trailers),
                size => Some(State::Chunk(size.checked_add(2)?)),
            },
            State::Trailers if is_empty => Some(State::Start),
            State::Trailers => Some(State::Trailers),
            State::Body(_) | State::Chunk(_) | State::Refused => None,
        }
    }
}

fn taken(left: u64, here: usize) -> usize {
    usize::try_from(left).map_or(here, |left| left.min(here))
}

/// The framing after one more header; none if it is stated twice or ambiguously.
fn framed(so_far: Framing, line: &[u8], is_cut: bool) -> Option<Framing> {
    let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
    let (name, value) = line.split_at(colon);
    let is_length = name.eq_ignore_ascii_case(b"content-length");
    if !is_length && !name.eq_ignore_ascii_case(b"transfer-encoding") {
        return Some(so_far);
    }
    let value = value.get(1..).unwrap_or_default().trim_ascii();
    match so_far {
        Framing::None if is_cut => None,
        Framing::None if is_length => number(value, 10).map(Framing::Length),
        Framing::None => value.eq_ignore_ascii_case(b"chunked").then_some(Framing::Chunked),
        Framing::Length(_) | Framing::Chunked => None,
    }
}

/// The size at the start of a chunk line. The rest of the line is an extension.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    number(&line[..end], 16)
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    is_plain.then(|| u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok())?
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod tests;
