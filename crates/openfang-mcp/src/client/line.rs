//! A line in which calls wait for one of few places: every owner in turn, so that whoever sends a hundred calls holds up
//! nobody who sends one. An owner has only so many places at a time. Who gives up waiting leaves the line.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{MCP_POOL_WAITING, MCP_POOL_WAITING_PER_OWNER};
use openfang_types::quota::Quota;
use tokio::sync::oneshot;

/// The places, and who waits for one.
pub(super) struct Line {
    inside: Mutex<Inside>,
}

struct Inside {
    quota: Quota,
    /// How many places each owner has.
    taken: HashMap<String, usize>,
    all: usize,
    /// Who waits, by owner. An owner who does not wait is not here.
    waiting: HashMap<String, VecDeque<oneshot::Sender<LineSlot>>>,
    /// Whose turn it is.
    turns: VecDeque<String>,
}

/// A place. It goes to the next who waits when it is dropped.
pub(super) struct LineSlot {
    line: Option<Arc<Line>>,
    owner: String,
}

impl Line {
    pub(super) fn new(quota: Quota) -> Arc<Self> {
        let inside = Inside { quota, taken: HashMap::new(), all: 0, waiting: HashMap::new(), turns: VecDeque::new() };
        Arc::new(Self { inside: Mutex::new(inside) })
    }

    /// A place, once it is this owner's turn; none where too many wait.
    pub(super) async fn place(self: &Arc<Self>, owner: &str) -> Option<LineSlot> {
        let coming = {
            let mut inside = self.lock();
            if inside.admits(owner) {
                inside.take(owner);
                return Some(LineSlot { line: Some(Arc::clone(self)), owner: owner.to_owned() });
            }
            inside.join(owner)?
        };
        coming.await.ok()
    }

    /// How many places are taken: by this owner, and by all.
    pub(super) fn taken(&self, owner: &str) -> (usize, usize) {
        let inside = self.lock();
        (inside.taken.get(owner).copied().unwrap_or_default(), inside.all)
    }

    /// Gives what is free to those who still wait, in turn.
    fn pass_on(self: &Arc<Self>) {
        while let Some((owner, next)) = self.next() {
            let place = LineSlot { line: Some(Arc::clone(self)), owner };
            // This one gave up. The place must not come back to us from its own end.
            if let Err(mut place) = next.send(place) {
                drop(place.line.take());
                self.lock().give_back(&place.owner);
            }
        }
    }

    /// Who is next; none where nobody waits who may have a place.
    fn next(&self) -> Option<(String, oneshot::Sender<LineSlot>)> {
        let mut inside = self.lock();
        // A call that was given up does not take the turn of another of its owner.
        inside.forget_gone();
        let at = inside.turns.iter().position(|owner| inside.admits(owner))?;
        let owner = inside.turns.remove(at)?;
        let waiting = inside.waiting.get_mut(&owner)?;
        let next = waiting.pop_front()?;
        if waiting.is_empty() {
            inside.waiting.remove(&owner);
        } else {
            inside.turns.push_back(owner.clone());
        }
        inside.take(&owner);
        Some((owner, next))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn admits(&self, owner: &str) -> bool {
        self.quota.admits(self.taken.get(owner).copied().unwrap_or_default(), self.all, 1)
    }

    fn take(&mut self, owner: &str) {
        *self.taken.entry(owner.to_owned()).or_default() += 1;
        self.all += 1;
    }

    fn give_back(&mut self, owner: &str) {
        self.all -= 1;
        if let Some(taken) = self.taken.get_mut(owner) {
            *taken -= 1;
            if *taken == 0 {
                self.taken.remove(owner);
            }
        }
    }

    fn forget_gone(&mut self) {
        for waiting in self.waiting.values_mut() {
            waiting.retain(|one| !one.is_closed());
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        self.turns.retain(|owner| self.waiting.contains_key(owner));
    }

    fn join(&mut self, owner: &str) -> Option<oneshot::Receiver<LineSlot>> {
        self.forget_gone();
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

impl Drop for LineSlot {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.lock().give_back(&self.owner);
            line.pass_on();
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
