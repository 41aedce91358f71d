//! The limits of push notifications.

use std::time::Duration;

/// Push configurations of one task.
pub const PUSH_PER_TASK: usize = 50;
/// The scheme of the credentials, such as `Bearer`.
pub const PUSH_SCHEME_MAX_BYTES: usize = 64;
/// How long one delivery may take, with redirects and the answer.
pub const PUSH_TIMEOUT: Duration = Duration::from_secs(10);
/// What is taken of an answer; nobody reads it.
pub const PUSH_ANSWER_MAX_BYTES: u64 = 64 * 1024;
/// How often one event is tried before it is given up.
pub const PUSH_TRIES: u32 = 5;
/// How many events in a row may be given up before the configuration is.
pub const PUSH_GIVEN_UP: u32 = 10;
/// The pause before the second try; half of it is random.
pub const PUSH_BACKOFF: Duration = Duration::from_secs(5);
/// Each further pause is so many times longer: the fifth try comes after a quarter of an hour.
pub const PUSH_BACKOFF_GROWTH: u32 = 5;
/// The longest `Retry-After` that is heeded.
pub const PUSH_RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
/// How long a process may work on a delivery without a word before another one may take it over.
pub const PUSH_LEASE: Duration = Duration::from_secs(60);
/// How long the worker rests at most before it looks again, whatever its clock said.
pub const PUSH_LOOK: Duration = Duration::from_secs(5);
/// Deliveries of one process at a time.
pub const PUSH_PARALLEL: usize = 64;
/// Deliveries at a time for one owner, so that one owner's slow receivers hold up nobody else.
pub const PUSH_PARALLEL_PER_OWNER: usize = 24;
/// Deliveries at a time to one host.
pub const PUSH_PARALLEL_PER_HOST: usize = 8;
/// Deliveries a second to one host, whatever they are about: nobody is flooded through us.
pub const PUSH_RATE_PER_HOST: u32 = 50;
/// Deliveries to one host at once, after it has been left alone for a while.
pub const PUSH_BURST_PER_HOST: u32 = 100;
/// Hosts whose pace is remembered; when all of them are busy, others wait.
pub const PUSH_HOSTS: usize = 10_000;
/// Events that are read at a time for one configuration.
pub const PUSH_BATCH_EVENTS: usize = 64;
/// What is kept of why a delivery failed.
pub const PUSH_OUTCOME_MAX_CHARS: usize = 300;
