//! Server-sent events, as WHATWG describes them: lines, fields, a blank line that ends an event.
//!
//! [`Parser::push`] takes bytes however they were split; complete events come out in order. An event that grows beyond
//! [`DAEMON_EVENT_MAX_BYTES`] is an error. One deliberate difference: an event with a name and no data is delivered,
//! because a name can be all there is to say.

use std::collections::VecDeque;

use openfang_types::limits::DAEMON_EVENT_MAX_BYTES;

use super::DaemonError;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind of event; `message` if it did not say.
    pub name: String,
    /// The id to resume after; the last one named, by this event or an earlier one.
    pub id: Option<String>,
    /// The lines of data, joined.
    pub data: String,
}

/// Turns bytes into events.
#[derive(Debug)]
pub(super) struct Parser {
    line: Vec<u8>,
    /// The last line ended with a carriage return; a line feed right behind it belongs to that end.
    after_return: bool,
    is_first_line: bool,
    name: String,
    data: Option<String>,
    id: Option<String>,
    events: VecDeque<Event>,
    limit: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Self::with_limit(DAEMON_EVENT_MAX_BYTES)
    }
}

impl Parser {
    fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            name: String::new(),
            data: None,
            id: None,
            events: VecDeque::new(),
            limit,
        }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), DaemonError> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return self.check_size();
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.check_size()?;
            self.after_return = bytes[end] == b'\r';
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The next complete event.
    pub(super) fn next(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn check_size(&self) -> Result<(), DaemonError> {
        let held = self.line.len() + self.name.len() + self.data.as_ref().map_or(0, String::len);
        if held > self.limit { Err(DaemonError::TooLarge { limit: self.limit }) } else { Ok(()) }
    }

    fn end_line(&mut self) {
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
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
            _ => {} // a comment has the empty name; `retry` is for clients that reconnect by themselves
        }
    }

    fn end_event(&mut self) {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take();
        if name.is_empty() && data.is_none() {
            return;
        }
        let name = if name.is_empty() { "message".to_owned() } else { name };
        self.events.push_back(Event { name, id: self.id.clone(), data: data.unwrap_or_default() });
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
