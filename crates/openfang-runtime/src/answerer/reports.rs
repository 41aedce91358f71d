//! What a call reports while an agent waits for it, as words for whoever watches the task. Only the newest report waits to be
//! told, and there is a pace: a tool may report as often as it likes.

use std::sync::{Mutex, PoisonError};

use openfang_types::call::{CallListener, LogLevel};
use openfang_types::limits::{MCP_PROGRESS_CHARS, PROGRESS_PACE, PROGRESS_REPORTS};
use openfang_types::task::Part;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The newest report of a call.
#[derive(Default)]
pub(super) struct Reports {
    newest: Mutex<Newest>,
    arrived: Notify,
}

#[derive(Default)]
struct Newest {
    report: Option<Part>,
    told_at: Option<Instant>,
    told: usize,
}

impl Reports {
    /// The next report that is to be told. Waits for ever once enough was told.
    pub(super) async fn next(&self) -> Part {
        loop {
            let due = {
                let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
                newest.told_at.map(|at| at + PROGRESS_PACE)
            };
            if let Some(due) = due {
                sleep_until(due).await;
            }
            if let Some(report) = self.take() {
                return report;
            }
            self.arrived.notified().await;
        }
    }

    fn take(&self) -> Option<Part> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let report = newest.report.take().filter(|_| newest.told < PROGRESS_REPORTS)?;
        newest.told += 1;
        newest.told_at = Some(Instant::now());
        Some(report)
    }

    fn put(&self, report: Part) {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).report = Some(report);
        self.arrived.notify_one();
    }
}

impl CallListener for Reports {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let text = match (message, total) {
            (Some(message), _) => message.chars().take(MCP_PROGRESS_CHARS).collect(),
            (None, Some(total)) => format!("{progress} of {total}"),
            (None, None) => format!("{progress}"),
        };
        self.put(Part::progress(text, Some(progress), total));
    }

    fn log(&self, _: LogLevel, logger: Option<&str>, data: &RawValue) {
        let text = serde_json::from_str::<String>(data.get()).unwrap_or_else(|_| data.get().to_owned());
        let text = match logger {
            Some(logger) => format!("{logger}: {text}"),
            None => text,
        };
        self.put(Part::progress(text.chars().take(MCP_PROGRESS_CHARS).collect::<String>(), None, None));
    }

    fn level(&self) -> Option<LogLevel> {
        Some(LogLevel::Info)
    }
}

#[cfg(test)]
#[path = "reports_tests.rs"]
mod tests;
