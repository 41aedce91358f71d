//! Limits of the work queue.

/// The title of an item, in characters.
pub const QUEUE_TITLE_CHARS: usize = 200;
/// The description of an item.
pub const QUEUE_DESCRIPTION_MAX_BYTES: usize = 32 * 1024;
/// What a worker says at the end of an item.
pub const QUEUE_RESULT_MAX_BYTES: usize = 64 * 1024;
/// Items of one owner that have ended and are kept.
pub const QUEUE_ENDED_KEPT: usize = 1_000;
/// Ended leases of one owner that one claim gives up.
pub const QUEUE_LEASES_GIVEN_UP: usize = 1_000;
/// Items on one page of a list.
pub const QUEUE_PAGE: usize = 50;
/// Bytes of the items on one page.
pub const QUEUE_PAGE_BYTES: usize = 256 * 1024;
/// The longest lease, in seconds.
pub const QUEUE_LEASE_SECS_MAX: u64 = 24 * 3_600;
