//! Time and fresh ids are passed in, so that tests decide what they are.

use jiff::Timestamp;
use uuid::Uuid;

/// What time it is, for rows, statuses and expiries. Timers use the runtime's own monotonic clock.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// Where fresh ids come from.
pub trait IdSource: Send + Sync {
    /// A time-ordered id (UUIDv7): rows sort by it; it is never the only thing that grants access.
    fn ordered(&self) -> Uuid;
    /// A random id (UUIDv4).
    fn random(&self) -> Uuid;
}
