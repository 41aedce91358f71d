//! A line on the terminal that says what is waited for, and for how long. It appears after a moment, and goes away when the
//! wait is over.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use openfang_types::limits::{WAITING_GRACE, WAITING_TICK};

use crate::output::Output;

/// The phases of the turning mark.
const MARKS: [&str; 4] = ["-", "\\", "|", "/"];

/// A line about something that is waited for.
pub(crate) struct Waiting {
    output: Output,
    text: Mutex<String>,
    is_shown: AtomicBool,
}

impl Waiting {
    pub(crate) fn new(output: &Output, text: String) -> Self {
        Self { output: output.clone(), text: Mutex::new(text), is_shown: AtomicBool::new(false) }
    }

    /// Writes the line again and again, while `is_free` says that no other line stands there. Never ends by itself.
    pub(crate) async fn show(&self, is_free: impl Fn() -> bool) -> Infallible {
        if !self.output.can_rewrite() {
            return std::future::pending().await;
        }
        let begun = Instant::now();
        tokio::time::sleep(WAITING_GRACE).await;
        for mark in MARKS.iter().cycle() {
            if is_free() {
                self.is_shown.store(true, Ordering::Relaxed);
                let text = self.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
                self.output.rewrite(&format!("{mark} {text} ({} s)", begun.elapsed().as_secs()));
            }
            tokio::time::sleep(WAITING_TICK).await;
        }
        std::future::pending().await
    }

    /// Says from now on that something else is waited for.
    pub(crate) fn say(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.is_shown.swap(false, Ordering::Relaxed) {
            self.output.rewrite("");
        }
    }
}
