//! The bytes of an answer, in chunks of any size, into a [`ModelAnswer`].

use bytes::Bytes;

use crate::answer::{Delta, ModelAnswer};
use crate::frame::Frames;
use crate::tools::cut;
use crate::wire::{self, Decoder, Encoded, Framing, WireFault, WireKind};

/// What is kept of the beginning, for the error about something that is no answer.
const BEGINNING_BYTES: usize = 400;
const BEGINNING_CHARS: usize = 120;

/// Reads one answer. Whatever the bytes are, memory stays bounded and no answer comes out before its end mark arrived.
pub struct AnswerReader {
    frames: Frames,
    decoder: Box<dyn Decoder>,
    beginning: Vec<u8>,
    has_frames: bool,
    is_page: bool,
    fault: Option<WireFault>,
}

impl AnswerReader {
    pub(crate) fn new(encoded: &Encoded, content_type: Option<&str>) -> Self {
        let media_type = content_type.unwrap_or_default().to_ascii_lowercase();
        let is_document = media_type.starts_with("application/json") && encoded.wire == WireKind::Chat;
        let framing = if is_document { Framing::Whole } else { encoded.framing };
        Self {
            frames: Frames::new(framing),
            decoder: wire::decoder(encoded),
            beginning: Vec::new(),
            has_frames: false,
            is_page: media_type.starts_with("text/html"),
            fault: None,
        }
    }

    /// Adds bytes, and tells what they bring. After an error every further call returns the same error.
    pub fn push(&mut self, bytes: &Bytes, told: &mut dyn FnMut(Delta<'_>)) -> Result<(), WireFault> {
        if self.beginning.len() < BEGINNING_BYTES {
            let missing = BEGINNING_BYTES - self.beginning.len();
            self.beginning.extend_from_slice(&bytes[..missing.min(bytes.len())]);
        }
        if self.is_page {
            self.fault = Some(self.not_an_answer());
        }
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let Self { frames, decoder, has_frames, .. } = self;
        let taken = frames.push(bytes, |frame| {
            *has_frames = true;
            if decoder.is_complete() { Ok(()) } else { decoder.take(frame, told) }
        });
        self.noted(taken)
    }

    /// Whether the end mark arrived: the rest of the bytes does not matter.
    pub fn is_complete(&self) -> bool {
        self.fault.is_none() && self.decoder.is_complete()
    }

    /// The answer, once the bytes have ended or [`AnswerReader::is_complete`] says so.
    pub fn finish(mut self, told: &mut dyn FnMut(Delta<'_>)) -> Result<ModelAnswer, WireFault> {
        if self.fault.is_none() && !self.decoder.is_complete() {
            let Self { frames, decoder, has_frames, .. } = &mut self;
            let taken = frames.end(|frame| {
                *has_frames = true;
                decoder.take(frame, told)
            });
            self.noted(taken).ok();
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !self.has_frames && !self.beginning.trim_ascii().is_empty() && self.has_prose() {
            return Err(self.not_an_answer());
        }
        self.decoder.end()
    }

    /// Remembers an error. A first frame that is a page is reported as one.
    fn noted(&mut self, taken: Result<(), WireFault>) -> Result<(), WireFault> {
        taken.map_err(|fault| {
            let fault = match fault {
                WireFault::Malformed { .. } if self.begins_with(b"<") => self.not_an_answer(),
                fault => fault,
            };
            self.fault.insert(fault).clone()
        })
    }

    fn begins_with(&self, prefix: &[u8]) -> bool {
        self.beginning.trim_ascii_start().starts_with(prefix)
    }

    /// Whether what arrived is neither events nor their beginning.
    fn has_prose(&self) -> bool {
        let fields: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b":"];
        let start = self.beginning.trim_ascii_start();
        !fields.iter().any(|field| start.starts_with(field) || field.starts_with(start))
    }

    fn not_an_answer(&self) -> WireFault {
        let text = String::from_utf8_lossy(&self.beginning);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        WireFault::NotAnAnswer { beginning: cut(words, BEGINNING_CHARS) }
    }
}
