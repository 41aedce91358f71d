//! Writes to a child's stdin: a bounded queue of whole frames. Queued frames are written together.
//!
//! A frame is written completely, or the stream ends. A partial frame is never followed by another, even if the future
//! of [`Stdin::send`] is dropped. A child that does not read within its limit is given up.

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
    /// Sends a frame and returns when the pipe has accepted all of it. If the future is dropped, a queued frame is
    /// still written completely; a frame that is not queued yet is not sent.
    pub async fn send(&self, bytes: Bytes) -> Result<(), SendError> {
        let (written, done) = oneshot::channel();
        if self.queue.send(Frame { bytes, written }).await.is_ok() && done.await.is_ok() {
            return Ok(());
        }
        Err(self.verdict.wait().await.clone())
    }

    /// Sends a frame without a wake-up when it is written, for callers that learn otherwise that it arrived. Returns at
    /// the end of the stream whether the frame was written.
    pub async fn send_unheard(&self, bytes: Bytes) -> Result<(), SendError> {
        let (written, mut done) = oneshot::channel();
        let is_queued = self.queue.send(Frame { bytes, written }).await.is_ok();
        let verdict = self.verdict.wait().await;
        if is_queued && done.try_recv().is_ok() { Ok(()) } else { Err(verdict.clone()) }
    }

    /// Closes stdin after the queued frames.
    pub fn close(&self) {
        self.closing.cancel();
    }
}

/// The other end of the queue. It always reports a result, because a sender may be waiting.
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
    /// Writes until the queue ends or writing fails. `stop` ends it immediately. Afterwards the pipe is closed and
    /// every waiting sender knows the reason.
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
            // Other senders can queue their frames meanwhile, so that one write takes all of them.
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

/// Writes until at least the first frame is complete, and notifies the senders of the written frames.
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
                // The sender may be gone.
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
