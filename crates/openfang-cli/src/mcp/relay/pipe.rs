//! A server in this process, behind a pipe: it takes over from a daemon that went away.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use openfang_mcp::framing::{Frame, FrameReader, Framing, write_frame};
use openfang_types::jsonrpc::{Id, IdRule, Incoming, decode, one_line};
use openfang_types::limits::{DAEMON_ANSWER_MAX_BYTES, MCP_PIPE_BYTES};
use tokio::io::{AsyncRead, DuplexStream, duplex};
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use super::memory::Repeated;
use super::questions::ServerFrame;
use super::{Out, questions};
use crate::mcp::endpoint::LocalServer;

/// The way to the server.
pub(super) struct Pipe {
    /// None once the conversation is over.
    input: Mutex<Option<DuplexStream>>,
    /// Subscriptions that the client was told of before: that they have begun is not told again.
    acknowledged: Arc<std::sync::Mutex<HashSet<Id>>>,
}

impl Pipe {
    /// Starts the server and says to it what the client said to the one before; the answers to that go nowhere.
    pub(super) async fn open(
        server: LocalServer,
        said: &[Repeated],
        generation: u32,
        (out, tracker): (&Out, &TaskTracker),
    ) -> io::Result<Self> {
        let (mut input, theirs) = duplex(MCP_PIPE_BYTES);
        let (answers, ours) = duplex(MCP_PIPE_BYTES);
        tracker.spawn(async move {
            if let Err(error) = server.serve(theirs, answers).await {
                tracing::debug!(%error, "the server in this process ended");
            }
        });
        let mut reader = FrameReader::new(ours).with_limit(DAEMON_ANSWER_MAX_BYTES);
        for Repeated { frame, id } in said {
            write(&mut input, frame).await?;
            if let Some(id) = id {
                skip_to_answer(&mut reader, id).await?;
            }
        }
        let (out, acknowledged) = (out.clone(), Arc::<std::sync::Mutex<HashSet<Id>>>::default());
        let known = Arc::clone(&acknowledged);
        tracker.spawn(async move {
            while let Ok(Some(frame)) = reader.next().await {
                let Frame::Message(frame) = frame else { continue };
                let (kind, frame) = questions::read(generation, frame.freeze());
                let is_known = |id| known.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
                if matches!(&kind, ServerFrame::Acknowledged(id) if is_known(id)) {
                    continue;
                }
                if out.send(frame).await.is_err() {
                    break;
                }
            }
        });
        Ok(Self { input: Mutex::new(Some(input)), acknowledged })
    }

    /// Says that the client was told before that the subscription of this request has begun.
    pub(super) fn expect_again(&self, id: &Id) {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
    }

    /// Passes a frame on. A server that has ended takes no more.
    pub(super) async fn send(&self, frame: &Bytes) {
        if let Some(input) = &mut *self.input.lock().await
            && let Err(error) = write(input, frame).await
        {
            tracing::debug!(%error, "the server in this process has ended");
        }
    }

    /// The client says no more.
    pub(super) async fn close(&self) {
        self.input.lock().await.take();
    }
}

async fn write(input: &mut DuplexStream, frame: &Bytes) -> io::Result<()> {
    write_frame(input, Framing::Lines, &one_line(frame.to_vec())).await
}

async fn skip_to_answer<R: AsyncRead + Unpin>(reader: &mut FrameReader<R>, id: &Id) -> io::Result<()> {
    while let Some(frame) = reader.next().await? {
        let Frame::Message(frame) = frame else { continue };
        if matches!(decode(&frame, IdRule::Mcp), Ok(Incoming::Response { id: answered, .. }) if answered == *id) {
            return Ok(());
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
