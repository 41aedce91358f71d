//! The way to a child's stdin: a bounded queue of whole frames. Frames that wait together leave in one write.
//!
//! A frame is written whole, or the stream is over: never a part of one with another behind it, even when the future of
//! a [`Stdin::send`] is dropped. A child that does not read is given up after its limit.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use openfang_types::limits::CHILD_STDIN_QUEUE;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::process::SendError;

/// Our end of a child's stdin. Clones share the queue.
#[derive(Debug, Clone)]
pub struct Stdin {
    queue: mpsc::Sender<Frame>,
    closing: CancellationToken,
    verdict: Arc<SetOnce<SendError>>,
}

#[derive(Debug)]
struct Frame {
    bytes: Bytes,
    written: oneshot::Sender<()>,
}

impl Stdin {
    /// Sends a frame, and returns when the child's pipe has taken all of it. When this future is dropped, a frame that
    /// is in the queue is still written whole, and one that is not is not sent.
    pub async fn send(&self, bytes: Bytes) -> Result<(), SendError> {
        let (written, done) = oneshot::channel();
        if self.queue.send(Frame { bytes, written }).await.is_ok() && done.await.is_ok() {
            return Ok(());
        }
        Err(self.verdict.wait().await.clone())
    }

    /// Sends a frame for somebody who hears otherwise that it arrived: nobody is woken when it is written. Returns when
    /// the stream is over, and says whether the frame was written before.
    pub async fn send_unheard(&self, bytes: Bytes) -> Result<(), SendError> {
        let (written, mut done) = oneshot::channel();
        let is_queued = self.queue.send(Frame { bytes, written }).await.is_ok();
        let verdict = self.verdict.wait().await;
        if is_queued && done.try_recv().is_ok() { Ok(()) } else { Err(verdict.clone()) }
    }

    /// Closes it after the frames that wait.
    pub fn close(&self) {
        self.closing.cancel();
    }
}

/// The other end of the queue. It never goes without a verdict: somebody may be waiting for it.
pub(super) struct StdinPump {
    frames: mpsc::Receiver<Frame>,
    pipe: pipe::Sender,
    limit: Duration,
    closing: CancellationToken,
    verdict: Arc<SetOnce<SendError>>,
}

/// A queue into a pipe.
pub(super) fn queue(pipe: pipe::Sender, limit: Duration) -> (Stdin, StdinPump) {
    let (queue, frames) = mpsc::channel(CHILD_STDIN_QUEUE);
    let closing = CancellationToken::new();
    let verdict = Arc::new(SetOnce::new());
    let stdin = Stdin { queue, closing: closing.clone(), verdict: Arc::clone(&verdict) };
    (stdin, StdinPump { frames, pipe, limit, closing, verdict })
}

impl StdinPump {
    /// Writes until there is nothing more to write, or no use in it. `stop` ends it at once. Afterwards the pipe is
    /// closed and everybody who waits knows why.
    pub(super) async fn run(mut self, stop: &CancellationToken) {
        let verdict = tokio::select! {
            biased;
            () = stop.cancelled() => SendError::Closed,
            verdict = self.write() => verdict,
        };
        let _ = self.verdict.set(verdict);
    }

    async fn write(&mut self) -> SendError {
        let mut waiting = VecDeque::with_capacity(CHILD_STDIN_QUEUE);
        while let Some(first) = self.next().await {
            waiting.push_back(first);
            // Whoever else is about to send does so meanwhile, and one write takes it all.
            yield_now().await;
            while waiting.len() < CHILD_STDIN_QUEUE
                && let Ok(frame) = self.frames.try_recv()
            {
                waiting.push_back(frame);
            }
            while !waiting.is_empty() {
                match timeout(self.limit, write_one_or_more(&mut self.pipe, &mut waiting)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return SendError::Gone,
                    Err(_) => return SendError::Stuck { limit: self.limit },
                }
            }
        }
        SendError::Closed
    }

    async fn next(&mut self) -> Option<Frame> {
        tokio::select! {
            biased;
            () = self.closing.cancelled() => self.frames.close(),
            frame = self.frames.recv() => return frame,
        }
        self.frames.recv().await
    }
}

/// Writes until at least the first frame is written, and tells whoever waits for those that are.
async fn write_one_or_more(pipe: &mut pipe::Sender, waiting: &mut VecDeque<Frame>) -> io::Result<()> {
    loop {
        let mut slices = [IoSlice::new(&[]); CHILD_STDIN_QUEUE];
        for (slice, frame) in slices.iter_mut().zip(&*waiting) {
            *slice = IoSlice::new(&frame.bytes);
        }
        let mut written = pipe.write_vectored(&slices[..waiting.len()]).await?;
        let before = waiting.len();
        while let Some(frame) = waiting.front_mut() {
            if written < frame.bytes.len() {
                frame.bytes.advance(written);
                break;
            }
            written -= frame.bytes.len();
            if let Some(frame) = waiting.pop_front() {
                // Whoever sent it may have gone.
                let _ = frame.written.send(());
            }
        }
        if waiting.len() < before {
            return Ok(());
        }
    }
}

impl Drop for StdinPump {
    fn drop(&mut self) {
        let _ = self.verdict.set(SendError::Gone);
    }
}

#[cfg(test)]
#[path = "stdin_tests.rs"]
mod tests;
