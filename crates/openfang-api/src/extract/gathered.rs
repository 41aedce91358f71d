//! The bytes of a body as they arrive. A large body lies in pages of its own, which go back to the system when it is dropped,
//! on whichever thread: an allocator would keep them for the thread that took them.

use std::io;

use bytes::{Bytes, BytesMut};
use memmap2::MmapMut;
use openfang_types::limits::OWN_PAGES_FROM_BYTES;

/// A body that is being read.
pub(super) enum Gathered {
    /// Passed on without copying, if it stays one piece.
    Small(Bytes),
    Large {
        pages: MmapMut,
        length: usize,
    },
}

impl Gathered {
    pub(super) const fn new() -> Self {
        Self::Small(Bytes::new())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Small(bytes) => bytes.len(),
            Self::Large { length, .. } => *length,
        }
    }

    /// Adds a piece. Memory for the declared length is taken as the body comes, so a client that sends nothing costs nothing.
    pub(super) fn add(&mut self, piece: Bytes, declared: usize) -> io::Result<()> {
        let needed = self.len() + piece.len();
        match self {
            Self::Large { pages, length } if needed <= pages.len() => {
                pages[*length..needed].copy_from_slice(&piece);
                *length = needed;
            }
            Self::Small(bytes) if bytes.is_empty() => *bytes = piece,
            Self::Small(bytes) if needed.max(declared) < OWN_PAGES_FROM_BYTES => {
                // Reuses the buffer from the second piece on, so that nothing is copied twice.
                let mut joined = BytesMut::from(std::mem::take(bytes));
                joined.reserve(piece.len().max(declared.saturating_sub(joined.len())));
                joined.extend_from_slice(&piece);
                *bytes = joined.freeze();
            }
            Self::Small(_) | Self::Large { .. } => *self = self.moved(&piece, declared)?,
        }
        Ok(())
    }

    /// The same and one more piece, in larger pages.
    fn moved(&self, piece: &[u8], declared: usize) -> io::Result<Self> {
        let (held, length) = (self.as_ref(), self.len() + piece.len());
        let mut pages = MmapMut::map_anon(declared.max(length.saturating_mul(2)))?;
        pages[..held.len()].copy_from_slice(held);
        pages[held.len()..length].copy_from_slice(piece);
        Ok(Self::Large { pages, length })
    }

    /// The body, once all of it has arrived.
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large { .. } => Bytes::from_owner(self),
        }
    }
}

impl AsRef<[u8]> for Gathered {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large { pages, length } => &pages[..*length],
        }
    }
}

#[cfg(test)]
#[path = "gathered_tests.rs"]
mod tests;
