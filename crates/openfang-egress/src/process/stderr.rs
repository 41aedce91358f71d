//! A child's stderr: lines for a listener, and the tail for error messages. Memory use is constant. The listed values
//! of the child's environment are removed before anybody sees the output.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use openfang_types::limits::{CHILD_STDERR_LINE_BYTES, CHILD_STDERR_TAIL_BYTES};
use openfang_types::secret::REDACTED;

use super::LineCallback;

/// The output of a child, split into lines.
pub(super) struct Stderr {
    secrets: Vec<Vec<u8>>,
    longest: usize,
    on_line: Option<LineCallback>,
    written: Mutex<StderrBuffer>,
}

#[derive(Default)]
struct StderrBuffer {
    /// Whole lines, without secrets.
    tail: VecDeque<u8>,
    /// The unfinished line as received.
    line: Vec<u8>,
}

impl Stderr {
    pub(super) fn new(mut secrets: Vec<Vec<u8>>, on_line: Option<LineCallback>) -> Self {
        // Longest first, because one secret may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let longest = secrets.first().map_or(0, Vec::len);
        Self { secrets, longest, on_line, written: Mutex::default() }
    }

    /// Takes what was read.
    pub(super) fn push(&self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend_line(&bytes[..end]);
            self.finish_line();
            bytes = &bytes[end + 1..];
        }
        self.extend_line(bytes);
    }

    /// Ends the output: the unfinished line is the last one.
    pub(super) fn end(&self) {
        if !self.lock().line.is_empty() {
            self.finish_line();
        }
    }

    /// The end of what was written.
    pub(super) fn tail(&self) -> String {
        let written = self.lock();
        let mut bytes: Vec<u8> = written.tail.iter().copied().collect();
        let mut line = written.line.clone();
        while !line.is_empty() {
            let all = line.len();
            bytes.extend_from_slice(&self.cut(&mut line, all));
        }
        let start = bytes.len().saturating_sub(CHILD_STDERR_TAIL_BYTES);
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    fn extend_line(&self, mut bytes: &[u8]) {
        // A secret may lie across the cut, so more than one line is collected before cutting.
        let enough = CHILD_STDERR_LINE_BYTES + self.longest;
        while !bytes.is_empty() {
            let piece = {
                let mut written = self.lock();
                let (now, later) = bytes.split_at(bytes.len().min(enough - written.line.len()));
                written.line.extend_from_slice(now);
                bytes = later;
                if written.line.len() < enough {
                    continue;
                }
                let piece = self.cut(&mut written.line, CHILD_STDERR_LINE_BYTES);
                written.keep(&piece);
                piece
            };
            self.announce(&piece);
        }
    }

    fn finish_line(&self) {
        loop {
            let (piece, is_last) = {
                let mut written = self.lock();
                let all = written.line.len();
                let piece = self.cut(&mut written.line, all);
                written.keep(&piece);
                let is_last = written.line.is_empty();
                if is_last {
                    written.keep(b"\n");
                }
                (piece, is_last)
            };
            self.announce(&piece);
            if is_last {
                return;
            }
        }
    }

    /// Called without the lock, because the listener may ask for the tail.
    fn announce(&self, line: &[u8]) {
        if let Some(on_line) = &self.on_line {
            on_line(&String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)));
        }
    }

    /// Cuts a piece off the front of a line, without secrets and within the length limit. Everything from `end` on
    /// stays, because it may be the beginning of a secret.
    fn cut(&self, line: &mut Vec<u8>, end: usize) -> Vec<u8> {
        let end = end.min(line.len());
        if self.secrets.is_empty() {
            return line.drain(..end.min(CHILD_STDERR_LINE_BYTES)).collect();
        }
        let (mut piece, mut at) = (Vec::new(), 0);
        while at < end {
            let secret = self.secrets.iter().find(|secret| line[at..].starts_with(secret));
            let (shown, length) = secret.map_or((&line[at..=at], 1), |secret| (REDACTED.as_bytes(), secret.len()));
            if piece.len() + shown.len() > CHILD_STDERR_LINE_BYTES {
                break;
            }
            piece.extend_from_slice(shown);
            at += length;
        }
        line.drain(..at);
        piece
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, StderrBuffer> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StderrBuffer {
    fn keep(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        let surplus = self.tail.len().saturating_sub(CHILD_STDERR_TAIL_BYTES);
        self.tail.drain(..surplus);
    }
}

#[cfg(test)]
#[path = "stderr_tests.rs"]
mod tests;
