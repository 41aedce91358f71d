//! Counts the connections of each peer.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_types::config::IpRange;

use crate::layers::network_of;

/// The number of connections per peer. A subscriber has a whole /64 IPv6 network, so it counts as one peer.
#[derive(Default)]
pub(super) struct PeerCounts {
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection of a peer, released when it is dropped.
pub(super) struct PeerSlot {
    counts: Arc<PeerCounts>,
    peer: IpAddr,
}

impl PeerCounts {
    /// A slot, unless the peer has reached its limit. Loopback and trusted proxies are exempt: many clients share the
    /// address of a proxy.
    pub(super) fn seat(self: &Arc<Self>, peer: IpAddr, limit: usize, proxies: &[IpRange]) -> Option<PeerSlot> {
        let peer = peer.to_canonical();
        let is_exempt = peer.is_loopback() || proxies.iter().any(|range| range.contains(peer));
        let peer = network_of(peer);
        let mut counts = self.lock();
        let count = counts.entry(peer).or_default();
        if *count >= limit && !is_exempt {
            return None;
        }
        *count += 1;
        Some(PeerSlot { counts: Arc::clone(self), peer })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PeerSlot {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
#[path = "peers_tests.rs"]
mod tests;
