//! The real clock and the real source of ids.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use jiff::Timestamp;
use openfang_types::clock::{Clock, IdSource};
use uuid::{Builder, Uuid};

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system")]
    fn now(&self) -> Timestamp {
        Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
    }
}

/// Random and time-ordered UUIDs. The system's randomness is taken in larger pieces, because asking costs more than
/// all the rest of an id.
#[derive(Default)]
pub struct SystemIds {
    pool: Mutex<Vec<u8>>,
    /// The millisecond of the last ordered id, and its number within.
    last: AtomicU64,
}

/// Bits of an ordered id for its number within a millisecond.
const NUMBER_BITS: u32 = 12;

const POOL_BYTES: usize = 4096;

impl SystemIds {
    /// Fresh random bytes; none is handed out twice.
    fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < N {
            pool.resize(POOL_BYTES, 0);
            if getrandom::fill(&mut pool).is_err() {
                pool.clear();
            }
        }
        match pool.last_chunk().copied() {
            Some(bytes) => {
                let rest = pool.len() - N;
                pool.truncate(rest);
                bytes
            }
            // Without the system's randomness the uuid crate decides what happens; it stops the process.
            None => {
                let mut bytes = [0; N];
                for (byte, random) in bytes.iter_mut().zip(Uuid::new_v4().into_bytes()) {
                    *byte = random;
                }
                bytes
            }
        }
    }
}

impl IdSource for SystemIds {
    fn ordered(&self) -> Uuid {
        let millis = u64::try_from(SystemClock.now().as_millisecond()).unwrap_or(0);
        let mut random = self.bytes::<10>();
        let [high, low, step, ..] = random;
        // Ids of the same millisecond lie in the order of their making. The first number of a millisecond is random, in the
        // lower half, and the steps are uneven: an id must not tell how many were made for others.
        let first = (millis << NUMBER_BITS) | u64::from(u16::from_be_bytes([high, low]) & 0x07ff);
        let next = |last: u64| {
            // A little ahead of the clock after many ids of one millisecond; far ahead if the clock was set back.
            let is_now = (last >> NUMBER_BITS).checked_sub(millis).is_some_and(|ahead| ahead < 1_000);
            if is_now { last + 1 + u64::from(step & 7) } else { first }
        };
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        let id = last.map_or(first, next);
        let number = u16::try_from(id & 0x0fff).unwrap_or_default();
        random[..2].copy_from_slice(&number.to_be_bytes());
        let millis = id >> NUMBER_BITS;
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    fn random(&self) -> Uuid {
        Builder::from_random_bytes(self.bytes()).into_uuid()
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;
