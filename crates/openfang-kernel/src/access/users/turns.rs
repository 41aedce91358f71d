//! Whose password is hashed next. Few are hashed at a time, and few wait.
//!
//! A peer that logged in to the account before goes first, then the peer that tried least lately, then networks take
//! turns. When all places are taken, a stranger of the network that has most of them gives up its place. So whoever guesses,
//! from one address or from many, holds up only itself, and an owner at a known address waits for no stranger.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::limits::{PASSWORD_HASHES, PASSWORD_QUEUE};
use tokio::sync::oneshot;

use super::UserError;

/// Who tries to log in, as far as it decides who is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginPeer {
    /// Whether somebody logged in to the account from there before.
    pub is_known: bool,
    /// How often it tried lately.
    pub lately: u32,
    /// The network that it is in; networks take turns.
    pub network: IpAddr,
}

impl LoginPeer {
    /// The operator, who waits for no stranger.
    pub(crate) const OPERATOR: Self =
        Self { is_known: true, lately: 0, network: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST) };
}

/// The turns of one process.
#[derive(Clone)]
pub(super) struct Turns {
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    waiting: Vec<Waiting>,
    arrived: u64,
    /// Says who goes among equals, so that nobody can arrange to stay.
    lots: RandomState,
}

struct Waiting {
    peer: LoginPeer,
    /// How many of its network waited when it came.
    round: usize,
    arrived: u64,
    go: oneshot::Sender<Turn>,
}

/// The right to hash a password; dropping it hands it on.
pub(super) struct Turn {
    turns: Turns,
}

impl Default for Turns {
    fn default() -> Self {
        let state = State { free: PASSWORD_HASHES, waiting: Vec::new(), arrived: 0, lots: RandomState::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }
}

impl Turns {
    /// Waits for a turn, unless all places are taken and this peer has to give up its own.
    pub(super) async fn take(&self, peer: LoginPeer) -> Result<Turn, UserError> {
        let turn = {
            let mut state = self.lock();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Ok(Turn { turns: self.clone() });
            }
            state.wait(peer)
        };
        turn.await.map_err(|_displaced| UserError::Busy)
    }

    /// Gives a turn that became free to the next one.
    fn give_to_next(&self) {
        let next = {
            let mut state = self.lock();
            let next = state.next().map(|at| state.waiting.swap_remove(at));
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
    fn wait(&mut self, peer: LoginPeer) -> oneshot::Receiver<Turn> {
        self.waiting.retain(|waiting| !waiting.go.is_closed());
        let (go, turn) = oneshot::channel();
        self.arrived += 1;
        let round = self.waiting_of(peer.network);
        self.waiting.push(Waiting { peer, round, arrived: self.arrived, go });
        if self.waiting.len() > PASSWORD_QUEUE {
            let last = self.last();
            self.waiting.swap_remove(last);
        }
        turn
    }

    fn waiting_of(&self, network: IpAddr) -> usize {
        self.waiting.iter().filter(|waiting| waiting.peer.network == network).count()
    }

    fn next(&self) -> Option<usize> {
        let places = self.waiting.iter().enumerate();
        let next = places
            .min_by_key(|(_, waiting)| (!waiting.peer.is_known, waiting.peer.lately, waiting.round, waiting.arrived));
        next.map(|(at, _)| at)
    }

    /// Who gives up its place: a stranger if there is one, of the network that has most places, who tried most; among
    /// equals anyone.
    fn last(&self) -> usize {
        let lot = |waiting: &Waiting| self.lots.hash_one((waiting.arrived, self.arrived));
        let places = self.waiting.iter().enumerate();
        let last = places.max_by_key(|(_, waiting)| {
            let peer = waiting.peer;
            (!peer.is_known, self.waiting_of(peer.network), peer.lately, lot(waiting))
        });
        last.map_or(0, |(at, _)| at)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.give_to_next();
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
