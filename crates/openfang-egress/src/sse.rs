//! Server-sent events as defined by WHATWG: lines, fields, and a blank line that ends an event.
//!
//! [`Parser::push`] takes bytes in chunks of any size. [`Parser::next_event`] returns complete events in order, one at
//! a time, so that a flood of small events costs no more memory than its bytes. Exceeding the [`SseLimits`] is an
//! error. One deliberate difference from WHATWG: an event with a name but no data is delivered, because the name alone
//! can carry meaning.

use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use openfang_types::limits::{SSE_EVENT_MAX_BYTES, SSE_EVENTS_MAX, SSE_ID_MAX_BYTES};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The event type; `message` by default.
    pub name: String,
    /// The id to resume after: the last one set by this or an earlier event.
    pub id: Option<String>,
    /// The lines of data, joined.
    pub data: String,
}

/// The limits of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseLimits {
    /// The size of one event in bytes, including preceding comments.
    pub event_bytes: usize,
    pub events: u64,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { event_bytes: SSE_EVENT_MAX_BYTES, events: SSE_EVENTS_MAX }
    }
}

/// Why a stream was aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event is too large.
    #[error("an event is larger than {limit} bytes")]
    EventTooLarge {
        /// The size limit in bytes.
        limit: usize,
    },
    /// The event id is too long to be stored.
    #[error("an event's id is longer than {limit} bytes")]
    IdTooLong {
        /// The size limit in bytes.
        limit: usize,
    },
    /// There are too many.
    #[error("the stream has more than {limit} events")]
    TooManyEvents {
        /// How many we take.
        limit: u64,
    },
}

/// Turns bytes into events.
#[derive(Debug)]
pub struct Parser {
    limits: SseLimits,
    /// Bytes that are not parsed yet.
    pending: Bytes,
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return. A following line feed belongs to the same line end.
    after_return: bool,
    is_first_line: bool,
    name: String,
    data: Option<String>,
    id: Option<String>,
    retry: Option<Duration>,
    /// Bytes of comments and unknown fields since the last event. They count towards the limit, because a comment could
    /// be endless.
    ignored: usize,
    events: u64,
}

impl Parser {
    /// A parser at the beginning of a stream.
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            pending: Bytes::new(),
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            name: String::new(),
            data: None,
            id: None,
            retry: None,
            ignored: 0,
            events: 0,
        }
    }

    /// Adds the next bytes.
    pub fn push(&mut self, bytes: Bytes) {
        if self.pending.is_empty() {
            self.pending = bytes;
        } else {
            let mut joined = BytesMut::from(&*self.pending);
            joined.extend_from_slice(&bytes);
            self.pending = joined.freeze();
        }
    }

    /// The next complete event; none when more bytes are needed.
    pub fn next_event(&mut self) -> Result<Option<Event>, SseError> {
        while let Some(&first) = self.pending.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                self.pending.advance(1);
                continue;
            }
            let Some(end) = self.pending.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(&self.pending);
                self.pending.clear();
                self.check_size()?;
                return Ok(None);
            };
            self.line.extend_from_slice(&self.pending[..end]);
            self.check_size()?;
            self.after_return = self.pending[end] == b'\r';
            self.pending.advance(end + 1);
            if let Some(event) = self.end_line()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The last reconnection delay the server sent.
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn check_size(&self) -> Result<(), SseError> {
        let held = self.line.len() + self.name.len() + self.data.as_ref().map_or(0, String::len);
        let limit = self.limits.event_bytes;
        if held + self.ignored > limit { Err(SseError::EventTooLarge { limit }) } else { Ok(()) }
    }

    fn end_line(&mut self) -> Result<Option<Event>, SseError> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let mut line = &*line;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if value.len() > SSE_ID_MAX_BYTES => return Err(SseError::IdTooLong { limit: SSE_ID_MAX_BYTES }),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            _ => self.ignored += line.len(), // a comment has the empty name
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<Event>, SseError> {
        self.ignored = 0;
        let name = std::mem::take(&mut self.name);
        let data = self.data.take();
        if name.is_empty() && data.is_none() {
            return Ok(None);
        }
        if self.events == self.limits.events {
            return Err(SseError::TooManyEvents { limit: self.limits.events });
        }
        self.events += 1;
        let name = if name.is_empty() { "message".to_owned() } else { name };
        Ok(Some(Event { name, id: self.id.clone(), data: data.unwrap_or_default() }))
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
