//! Whose password is hashed next. Few are hashed at a time and few wait; the peer that tried least lately goes first, and
//! takes the place of the one that tried most when all places are taken. So a peer that guesses holds up only itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{PASSWORD_HASHES, PASSWORD_QUEUE};
use tokio::sync::oneshot;

use super::UserError;

/// The turns of one process.
#[derive(Clone)]
pub(super) struct Turns {
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    waiting: Vec<Waiting>,
    arrived: u64,
}

struct Waiting {
    /// How often its peer tried lately, then who came first.
    rank: (u32, u64),
    go: oneshot::Sender<Turn>,
}

/// The right to hash a password; dropping it hands it on.
pub(super) struct Turn {
    turns: Turns,
}

impl Default for Turns {
    fn default() -> Self {
        let state = State { free: PASSWORD_HASHES, waiting: Vec::new(), arrived: 0 };
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

impl Turns {
    /// Waits for a turn, unless too many wait who tried less often.
    pub(super) async fn take(&self, lately: u32) -> Result<Turn, UserError> {
        let turn = {
            let mut state = self.lock();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Ok(Turn { turns: self.clone() });
            }
            state.wait(lately)?
        };
        turn.await.map_err(|_displaced| UserError::Busy)
    }

    /// Gives a turn that became free to the next one.
    fn hand_on(&self) {
        let next = {
            let mut state = self.lock();
            let next = state.position(|waiting, best| waiting.rank < best.rank);
            let next = next.map(|at| state.waiting.swap_remove(at));
            state.free += usize::from(next.is_none());
            next
        };
        // Whoever stopped waiting hands it back, and so on, because dropping a turn does.
        drop(next.map(|next| next.go.send(Turn { turns: self.clone() })));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wait(&mut self, lately: u32) -> Result<oneshot::Receiver<Turn>, UserError> {
        self.waiting.retain(|waiting| !waiting.go.is_closed());
        if self.waiting.len() >= PASSWORD_QUEUE {
            let last = self.position(|waiting, worst| waiting.rank > worst.rank);
            let displaced = last.filter(|at| self.waiting.get(*at).is_some_and(|last| last.rank.0 > lately));
            self.waiting.swap_remove(displaced.ok_or(UserError::Busy)?);
        }
        let (go, turn) = oneshot::channel();
        self.arrived += 1;
        self.waiting.push(Waiting { rank: (lately, self.arrived), go });
        Ok(turn)
    }

    /// Where the one is that comes before all others.
    fn position(&self, is_before: impl Fn(&Waiting, &Waiting) -> bool) -> Option<usize> {
        let places = self.waiting.iter().enumerate();
        let found = places.reduce(|found, place| if is_before(place.1, found.1) { place } else { found });
        found.map(|(at, _)| at)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.hand_on();
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
