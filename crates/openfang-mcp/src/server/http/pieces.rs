//! A body of a few pieces whose length is known: what is shared with other answers is not copied.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body in pieces.
pub struct Pieces {
    /// The pieces, last first.
    left: Vec<Bytes>,
}

impl Pieces {
    pub(super) fn new<const N: usize>(mut pieces: [Bytes; N]) -> Self {
        pieces.reverse();
        Self { left: pieces.into_iter().filter(|piece| !piece.is_empty()).collect() }
    }
}

impl Pieces {
    /// What is left, in one piece.
    pub(super) fn joined(self) -> Bytes {
        self.left.iter().rev().flatten().copied().collect()
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.left.pop().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.iter().map(|piece| piece.len() as u64).sum())
    }
}
