//! The stdio door: frames in, frames out, until the input ends.
//!
//! A peer that does not read its answers is not read from either. When the input ends, what is nearly done is still
//! answered, and the rest is canceled.

use std::io;

use openfang_types::jsonrpc::ErrorObject;
use openfang_types::limits::MCP_END_GRACE;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Server;
use super::duplex::Duplex;
use super::event_log::EventLog;
use crate::framing::{Frame, FrameReader, Framing, write_frame};
use crate::host::Host;

impl<H: Host> Server<H> {
    /// Serves one peer until its input ends, it stops reading for good, or the server stops.
    pub async fn serve_stdio<R, W>(&self, caller: H::Caller, input: R, mut output: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let out = EventLog::queue();
        let duplex = Duplex::new(self.clone(), &caller, std::sync::Arc::clone(&out));
        let (tell_framing, framing) = tokio::sync::watch::channel(Framing::Lines);
        let mut frames = out.tail();

        let read = async {
            let mut reader = FrameReader::new(input);
            loop {
                tokio::select! {
                    biased;
                    () = self.inner.stop.cancelled() => break,
                    () = out.room() => {}
                }
                let frame = tokio::select! {
                    biased;
                    () = self.inner.stop.cancelled() => break,
                    frame = reader.next() => frame?,
                };
                tell_framing.send_replace(reader.framing());
                match frame {
                    Some(Frame::Message(frame)) => duplex.accept(&caller, frame.trim_ascii(), None),
                    Some(Frame::TooLarge) => {
                        duplex.refuse(&ErrorObject::invalid_request("the message is larger than 10 MiB"))
                    }
                    Some(Frame::BadHeader) => {
                        duplex.refuse(&ErrorObject::parse_error("the header has no usable Content-Length"))
                    }
                    None => break,
                }
            }
            let _ = tokio::time::timeout(MCP_END_GRACE, duplex.running().idle()).await;
            duplex.end();
            out.finish(None);
            Ok(())
        };
        let write = async {
            while let Some((_, frame)) = frames.next().await {
                let framing = *framing.borrow();
                write_frame(&mut output, framing, &frame).await?;
            }
            Ok(())
        };
        tokio::pin!(read, write);
        let outcome = tokio::select! {
            written = &mut write => written,
            ended = &mut read => match ended {
                // What was answered before the end is still written, for as long as somebody takes it.
                Ok(()) => tokio::time::timeout(MCP_END_GRACE, write).await.unwrap_or(Ok(())),
                Err(error) => Err(error),
            },
        };
        duplex.end();
        outcome
    }
}
