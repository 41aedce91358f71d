//! The socket of a connection. A peer that reads nothing for a while is disconnected, HTTP/1 is checked strictly, and
//! the bytes read to detect the version are replayed to the protocol.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use openfang_types::limits::{UNREAD_BODY_MAX_BYTES, UNREAD_BODY_PIECE_BYTES};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::heads::{HeadRefusal, Heads};

/// The preface of HTTP/2. No HTTP/1 method begins like this.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Makes a head invalid at any position, and ends it: the parser ignores a head without an end.
const INVALID: &[u8] = b"\0\r\n\r\n";

pub(super) struct Socket {
    stream: TcpStream,
    /// The first bytes of the peer, and which of them are still to be replayed.
    opening: [u8; PREFACE.len()],
    unread: std::ops::Range<usize>,
    /// The HTTP/1 check; none for HTTP/2.
    heads: Option<Heads>,
    /// The rest of [`INVALID`] that the parser must still read.
    invalid: &'static [u8],
    stall: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

pub(super) enum Version {
    One,
    Two,
}

impl Socket {
    pub(super) const fn new(stream: TcpStream, stall: Duration) -> Self {
        Self { stream, opening: [0; PREFACE.len()], unread: 0..0, heads: None, invalid: INVALID, stall, stalled: None }
    }

    /// Reads until the first bytes show the version; none if the peer closes before. The caller limits the time.
    pub(super) async fn version(&mut self) -> Option<Version> {
        loop {
            let seen = self.unread.end;
            match self.stream.read(&mut self.opening[seen..]).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.unread.end += read,
            }
            let seen = &self.opening[..self.unread.end];
            if !PREFACE.starts_with(seen) {
                self.heads = Some(Heads::new());
                return Some(Version::One);
            }
            if seen.len() == PREFACE.len() {
                return Some(Version::Two);
            }
        }
    }

    /// Closes after a response to a request that was not read completely. Closing a socket with unread bytes resets the
    /// connection, and the peer loses the response. So the rest is read, up to `UNREAD_BODY_MAX_BYTES`.
    pub(super) async fn close_gently(&mut self, time: Duration) {
        if !self.is_within_a_request() {
            return;
        }
        let _ = tokio::time::timeout(time, self.read_the_rest()).await;
    }

    fn is_within_a_request(&self) -> bool {
        self.heads.as_ref().is_some_and(|heads| heads.is_within_a_body() || heads.is_refused())
    }

    async fn read_the_rest(&mut self) {
        if self.stream.shutdown().await.is_err() {
            return;
        }
        let (mut piece, mut bytes) = (vec![0; UNREAD_BODY_PIECE_BYTES], 0);
        while bytes < UNREAD_BODY_MAX_BYTES && self.is_within_a_request() {
            let Ok(read @ 1..) = self.stream.read(&mut piece).await else { return };
            bytes += read;
            if let Some(heads) = &mut self.heads {
                // Refused bytes are read to their end, but not answered.
                let _ = heads.read(&piece[..read]);
            }
        }
    }

    /// The timer starts with the first write that would block, and stops with one that does not.
    fn timed<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stall = self.stall;
        let clock = self.stalled.get_or_insert_with(|| Box::pin(sleep(stall)));
        ready!(clock.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Feeds the parser an invalid head, as far as there is room, and nothing after it.
    fn refuse(&mut self, into: &mut ReadBuf<'_>) {
        let (now, later) = self.invalid.split_at(self.invalid.len().min(into.remaining()));
        into.put_slice(now);
        self.invalid = later;
    }

    /// What the peer sent next, as it is.
    fn poll_bytes(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.unread.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, into);
        }
        let length = self.unread.len().min(into.remaining());
        let end = self.unread.start + length;
        into.put_slice(&self.opening[self.unread.start..end]);
        self.unread.start = end;
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.heads.as_ref().is_some_and(Heads::is_refused) {
            self.refuse(into);
            return Poll::Ready(Ok(()));
        }
        let before = into.filled().len();
        ready!(self.poll_bytes(cx, into))?;
        let Some(heads) = &mut self.heads else { return Poll::Ready(Ok(())) };
        match heads.read(&into.filled()[before..]) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(HeadRefusal { at, in_head: true }) => {
                into.set_filled(before + at);
                self.refuse(into);
                Poll::Ready(Ok(()))
            }
            Err(HeadRefusal { in_head: false, .. }) => {
                self.invalid = &[];
                Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
