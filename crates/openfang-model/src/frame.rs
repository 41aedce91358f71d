//! Bytes into frames: server-sent events, lines of JSON, or one document. What is held is bounded.

use bytes::Bytes;
use openfang_egress::sse::{Parser, SseLimits};
use openfang_types::limits::{MODEL_ANSWER_MAX_BYTES, MODEL_EVENT_MAX_BYTES, MODEL_EVENTS_MAX};

use crate::wire::{Framing, WireFault};

/// One frame of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) data: &'a str,
}

/// Takes bytes in chunks of any size and hands out whole frames.
pub(crate) struct Frames {
    kind: FrameKind,
    received: u64,
}

enum FrameKind {
    Events(Box<Parser>),
    Lines(Vec<u8>),
    Whole(Vec<u8>),
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        let limits = SseLimits { event_bytes: MODEL_EVENT_MAX_BYTES, events: MODEL_EVENTS_MAX };
        let kind = match framing {
            Framing::Events => FrameKind::Events(Box::new(Parser::new(limits))),
            Framing::Lines => FrameKind::Lines(Vec::new()),
            Framing::Whole => FrameKind::Whole(Vec::new()),
        };
        Self { kind, received: 0 }
    }

    /// Adds bytes, and hands every frame that is whole now to `take`.
    pub(crate) fn push(
        &mut self,
        bytes: &Bytes,
        mut take: impl FnMut(Frame<'_>) -> Result<(), WireFault>,
    ) -> Result<(), WireFault> {
        self.received += bytes.len() as u64;
        if self.received > MODEL_ANSWER_MAX_BYTES {
            return Err(WireFault::TooLarge { what: "the answer", limit: MODEL_ANSWER_MAX_BYTES });
        }
        match &mut self.kind {
            FrameKind::Events(parser) => {
                parser.push(bytes.clone());
                while let Some(event) = parser.next_event().map_err(WireFault::Events)? {
                    take(Frame { data: &event.data })?;
                }
                Ok(())
            }
            FrameKind::Lines(held) => lines(held, bytes, take),
            FrameKind::Whole(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// The end of the bytes: what is held may be a last frame. An event that its blank line does not end is none.
    pub(crate) fn end(&mut self, take: impl FnOnce(Frame<'_>) -> Result<(), WireFault>) -> Result<(), WireFault> {
        match &mut self.kind {
            FrameKind::Events(_) => Ok(()),
            FrameKind::Lines(held) | FrameKind::Whole(held) => {
                let held = std::mem::take(held);
                let last = text(&held)?;
                if last.trim().is_empty() { Ok(()) } else { take(Frame { data: last }) }
            }
        }
    }
}

fn lines(
    held: &mut Vec<u8>,
    mut bytes: &[u8],
    mut take: impl FnMut(Frame<'_>) -> Result<(), WireFault>,
) -> Result<(), WireFault> {
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        held.extend_from_slice(&bytes[..end]);
        bytes = &bytes[end + 1..];
        let line = std::mem::take(held);
        let line = text(&line)?;
        if !line.trim().is_empty() {
            take(Frame { data: line })?;
        }
    }
    held.extend_from_slice(bytes);
    if held.len() > MODEL_EVENT_MAX_BYTES {
        return Err(WireFault::TooLarge { what: "a line of the answer", limit: MODEL_EVENT_MAX_BYTES as u64 });
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str, WireFault> {
    str::from_utf8(bytes).map_err(|_| WireFault::malformed("the answer is not utf-8"))
}
