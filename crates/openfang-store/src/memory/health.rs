//! The in-memory store is always healthy.

use crate::{StoreFuture, StoreHealth, WriteStats};

/// The health of the in-memory home.
pub struct MemoryHealth;

impl StoreHealth for MemoryHealth {
    fn failing(&self) -> Option<String> {
        None
    }

    fn unreadable(&self) -> Option<String> {
        None
    }

    fn probe(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn stats(&self) -> WriteStats {
        WriteStats::default()
    }
}
