//! What a server wrote to its stderr, and what we noted about it: the last lines, with the time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::clock::Clock;
use openfang_types::limits::MCP_SERVER_LOG_LINES;

use super::secrets::ServerSecrets;

pub(super) struct ServerLog {
    clock: Arc<dyn Clock>,
    secrets: Arc<ServerSecrets>,
    lines: Mutex<VecDeque<String>>,
}

impl ServerLog {
    pub(super) fn new(clock: Arc<dyn Clock>, secrets: Arc<ServerSecrets>) -> Self {
        Self { clock, secrets, lines: Mutex::default() }
    }

    /// A line, with who wrote it.
    pub(super) fn add(&self, who: &str, line: &str) {
        let now = self.clock.now();
        let mut lines = self.lock();
        if lines.len() >= MCP_SERVER_LOG_LINES {
            lines.pop_front();
        }
        lines.push_back(format!("{now:.3} {who}: {}", self.secrets.redactor().text(line)));
    }

    /// The lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
