//! The seats of connections. When all are taken, connections without a request in progress make room for new ones:
//! first those that have never sent a request, the oldest first, then those that have paused for long. So nobody can keep
//! others out by only connecting.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};
use openfang_types::limits::{SEAT_PAUSE, SEAT_SETTLING, SEATS_FREED_AT_ONCE, SEATS_LOOK, SEATS_WARNING_PACE};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::AnswerBody;

/// All seats of a server.
pub(super) struct Seats {
    free: Arc<Semaphore>,
    opened: Instant,
    taken: Mutex<SeatTable>,
}

#[derive(Default)]
struct SeatTable {
    next: u64,
    seats: BTreeMap<u64, Arc<Occupant>>,
    warned: Option<Instant>,
}

/// A free seat, before it is known who takes it.
pub(super) struct FreeSeat(OwnedSemaphorePermit);

/// The seat of one connection, free again when it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    pub(super) occupant: Arc<Occupant>,
    _permit: OwnedSemaphorePermit,
}

/// What a connection does.
pub(super) struct Occupant {
    /// Fires when the connection must end: because the server stops, or to make room.
    leave: CancellationToken,
    makes_room: AtomicBool,
    requests: AtomicUsize,
    has_asked: AtomicBool,
    /// Since when it has no request, in milliseconds after the server started.
    idle_since: AtomicU64,
    opened: Instant,
}

impl Seats {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, opened: Instant::now(), taken: Mutex::default() })
    }

    /// A free seat, as soon as there is one.
    pub(super) async fn free(&self) -> Option<FreeSeat> {
        loop {
            match Arc::clone(&self.free).try_acquire_owned() {
                Ok(permit) => return Some(FreeSeat(permit)),
                Err(_) => self.make_room(),
            }
            if let Ok(permit) = tokio::time::timeout(SEATS_LOOK, Arc::clone(&self.free).acquire_owned()).await {
                return permit.ok().map(FreeSeat);
            }
        }
    }

    /// Gives the seat to a connection, which must end when `stop` fires.
    pub(super) fn take(self: &Arc<Self>, FreeSeat(permit): FreeSeat, stop: &CancellationToken) -> Seat {
        let occupant = Arc::new(Occupant {
            leave: stop.child_token(),
            makes_room: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            has_asked: AtomicBool::new(false),
            idle_since: AtomicU64::new(millis_since(self.opened)),
            opened: self.opened,
        });
        let mut taken = self.lock();
        taken.next += 1;
        let number = taken.next;
        taken.seats.insert(number, Arc::clone(&occupant));
        drop(taken);
        Seat { seats: Arc::clone(self), number, occupant, _permit: permit }
    }

    /// Ends some connections that have no request. The newest stay: their first request may be on its way.
    fn make_room(&self) {
        let now = millis_since(self.opened);
        let mut taken = self.lock();
        let idle = taken
            .seats
            .values()
            .filter(|occupant| occupant.is_idle() && !occupant.leave.is_cancelled());
        let mut idle: Vec<_> = idle
            .map(|occupant| (occupant.has_asked(), occupant.idle_since.load(Ordering::Relaxed), Arc::clone(occupant)))
            .filter(|(has_asked, since, _)| {
                let safe = if *has_asked { SEAT_PAUSE } else { SEAT_SETTLING };
                u128::from(now.saturating_sub(*since)) >= safe.as_millis()
            })
            .collect();
        let is_due = taken.warned.is_none_or(|warned| warned.elapsed() >= SEATS_WARNING_PACE);
        if is_due {
            taken.warned = Some(Instant::now());
        }
        drop(taken);
        if is_due {
            tracing::warn!("all connections are in use; the ones without a request are closed for new ones");
        }
        idle.sort_unstable_by_key(|(has_asked, since, _)| (*has_asked, *since));
        // Connections that have been used stay as long as there are others to close.
        let silent = idle.iter().take_while(|(has_asked, ..)| !has_asked).count();
        let some = SEATS_FREED_AT_ONCE.min(if silent > 0 { silent } else { idle.len() });
        for (_, _, occupant) in idle.iter().take(some) {
            occupant.makes_room.store(true, Ordering::Release);
            occupant.leave.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, SeatTable> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn millis_since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().seats.remove(&self.number);
    }
}

impl Occupant {
    /// Fires when the connection must end.
    pub(super) const fn leave(&self) -> &CancellationToken {
        &self.leave
    }

    /// Whether it must end because others need its seat.
    pub(super) fn makes_room(&self) -> bool {
        self.makes_room.load(Ordering::Acquire)
    }

    /// Whether it has no request in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }

    fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// A request of this connection, until its response was passed on.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        self.has_asked.store(true, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        InProgress(Arc::clone(self))
    }
}

/// A request in progress.
pub(super) struct InProgress(Arc<Occupant>);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.idle_since.store(millis_since(self.0.opened), Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response, which is in progress until it was passed on.
pub(super) struct SeatedBody<B> {
    body: B,
    _request: InProgress,
}

impl<B> SeatedBody<B> {
    pub(super) const fn new(body: B, request: InProgress) -> Self {
        Self { body, _request: request }
    }
}

impl<B: AnswerBody> Body for SeatedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
#[path = "seats_tests.rs"]
mod tests;
