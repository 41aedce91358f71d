//! A line in which calls wait for one of few places: every owner in turn, so that whoever sends a hundred calls holds up
//! nobody who sends one. Who gives up waiting leaves the line.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_POOL_WAITING, MCP_POOL_WAITING_PER_OWNER};
use tokio::sync::oneshot;

/// The places, and who waits for one.
pub(super) struct Line {
    inside: Mutex<Inside>,
}

struct Inside {
    all: usize,
    free: usize,
    /// Who waits, by owner. An owner who does not wait is not here.
    waiting: HashMap<String, VecDeque<oneshot::Sender<Place>>>,
    /// Whose turn it is.
    turns: VecDeque<String>,
}

/// A place. It goes to the next who waits when it is dropped.
pub(super) struct Place {
    line: Option<Arc<Line>>,
}

impl Line {
    pub(super) fn new(places: usize) -> Arc<Self> {
        let inside = Inside { all: places, free: places, waiting: HashMap::new(), turns: VecDeque::new() };
        Arc::new(Self { inside: Mutex::new(inside) })
    }

    /// A place, once it is this owner's turn; none where too many wait.
    pub(super) async fn place(self: &Arc<Self>, owner: &str) -> Option<Place> {
        let coming = {
            let mut inside = self.lock();
            if inside.free > 0 {
                inside.free -= 1;
                return Some(Place { line: Some(Arc::clone(self)) });
            }
            inside.join(owner)?
        };
        coming.await.ok()
    }

    /// How many places are taken.
    pub(super) fn taken(&self) -> usize {
        let inside = self.lock();
        inside.all - inside.free
    }

    /// Gives a place to the next who still waits.
    fn pass_on(self: &Arc<Self>) {
        while let Some(next) = self.next() {
            match next.send(Place { line: Some(Arc::clone(self)) }) {
                Ok(()) => return,
                // This one gave up. The place must not come back to us from its own end.
                Err(mut place) => drop(place.line.take()),
            }
        }
    }

    /// Who is next; where nobody waits the place is free.
    fn next(&self) -> Option<oneshot::Sender<Place>> {
        let mut inside = self.lock();
        while let Some(owner) = inside.turns.pop_front() {
            let Some(waiting) = inside.waiting.get_mut(&owner) else { continue };
            // A call that was given up does not take the turn of another of its owner.
            let next = std::iter::from_fn(|| waiting.pop_front()).find(|one| !one.is_closed());
            if waiting.is_empty() {
                inside.waiting.remove(&owner);
            } else {
                inside.turns.push_back(owner);
            }
            if next.is_some() {
                return next;
            }
        }
        inside.free += 1;
        None
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn join(&mut self, owner: &str) -> Option<oneshot::Receiver<Place>> {
        for waiting in self.waiting.values_mut() {
            waiting.retain(|one| !one.is_closed());
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        self.turns.retain(|owner| self.waiting.contains_key(owner));
        let all: usize = self.waiting.values().map(VecDeque::len).sum();
        let owned = self.waiting.get(owner).map_or(0, VecDeque::len);
        if all >= MCP_POOL_WAITING || owned >= MCP_POOL_WAITING_PER_OWNER {
            return None;
        }
        if owned == 0 {
            self.turns.push_back(owner.to_owned());
        }
        let (sender, coming) = oneshot::channel();
        self.waiting.entry(owner.to_owned()).or_default().push_back(sender);
        Some(coming)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.pass_on();
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
