//! A clock that only a test moves.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use openfang_types::clock::Clock;

/// A clock under the control of a test. Clones share the time.
#[derive(Clone)]
pub struct HandClock {
    now: Arc<Mutex<Timestamp>>,
}

impl Default for HandClock {
    fn default() -> Self {
        let begin = Timestamp::from_second(1_800_000_000).expect("a moment of the next years exists");
        Self { now: Arc::new(Mutex::new(begin)) }
    }
}

impl HandClock {
    pub fn advance(&self, by: Duration) {
        *self.now.lock().expect("nobody panics with it") += by;
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().expect("nobody panics with it")
    }
}
