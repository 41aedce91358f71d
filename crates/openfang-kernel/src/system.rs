//! The real clock and the real source of ids.

use std::time::SystemTime;

use jiff::Timestamp;
use openfang_types::clock::{Clock, IdSource};
use uuid::Uuid;

/// The system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn now(&self) -> Timestamp {
        Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
    }
}

/// Random and time-ordered UUIDs.
pub struct SystemIds;

impl IdSource for SystemIds {
    fn ordered(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn random(&self) -> Uuid {
        Uuid::new_v4()
    }
}
