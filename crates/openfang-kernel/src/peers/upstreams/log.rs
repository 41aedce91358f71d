//! What a server wrote to its stderr, and what we noted about it: the last lines, with the time. Their number and their bytes
//! are bounded, so a server that writes long lines takes no more memory than one that writes short ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::clock::Clock;
use openfang_types::limits::{MCP_SERVER_LOG_BYTES, MCP_SERVER_LOG_LINES};

use super::secrets::ServerSecrets;

pub(super) struct ServerLog {
    clock: Arc<dyn Clock>,
    secrets: Arc<ServerSecrets>,
    lines: Mutex<LastLines>,
}

#[derive(Default)]
struct LastLines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl LastLines {
    /// Adds a line, and removes the oldest ones until all fit. The newest line always stays.
    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > 1 && (self.lines.len() > MCP_SERVER_LOG_LINES || self.bytes > MCP_SERVER_LOG_BYTES) {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
        }
    }
}

impl ServerLog {
    pub(super) fn new(clock: Arc<dyn Clock>, secrets: Arc<ServerSecrets>) -> Self {
        Self { clock, secrets, lines: Mutex::default() }
    }

    /// A line, with who wrote it.
    pub(super) fn add(&self, who: &str, line: &str) {
        let line = format!("{:.3} {who}: {}", self.clock.now(), self.secrets.redactor().text(line));
        self.lock().push(line);
    }

    /// The lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, LastLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
