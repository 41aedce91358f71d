//! Content decoding in small steps. [`Decoder::pull`] returns at most one step, so that a caller can stop a
//! decompression bomb at its limit. A damaged, truncated or extended body is [`Corrupt`].

use std::io::{self, BufRead, Read};

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use http::{HeaderMap, header};
use openfang_types::limits::HTTP_DECODE_STEP_BYTES;

/// The body does not match its content encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Corrupt;

/// The content encoding was not requested.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsupported;

/// The result of one pull.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Bytes(Bytes),
    /// More input is needed.
    Hungry,
    End,
}

/// Decodes the body of a response.
pub(super) enum Decoder {
    Identity(Feed),
    Gzip(Box<MultiGzDecoder<Feed>>),
    Deflate(Box<Inflater>),
}

impl Decoder {
    /// The decoder for the headers of a response.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Unsupported> {
        let mut named = headers.get_all(header::CONTENT_ENCODING).iter();
        let (Some(encoding), None) = (named.next(), named.next()) else {
            return if headers.contains_key(header::CONTENT_ENCODING) {
                Err(Unsupported)
            } else {
                Ok(Self::identity())
            };
        };
        match encoding.to_str().map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            Ok("" | "identity") => Ok(Self::identity()),
            Ok("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Feed::default())))),
            Ok("deflate") => Ok(Self::Deflate(Box::default())),
            _ => Err(Unsupported),
        }
    }

    fn identity() -> Self {
        Self::Identity(Feed::default())
    }

    /// Whether the body is not encoded.
    pub(super) const fn is_identity(&self) -> bool {
        matches!(self, Self::Identity(_))
    }

    /// Adds bytes from the wire.
    pub(super) fn feed(&mut self, bytes: Bytes) {
        self.source().add(bytes);
    }

    /// Signals the end of the input.
    pub(super) fn end(&mut self) {
        self.source().is_ended = true;
    }

    /// The next decoded bytes, at most one step unless the body is not encoded.
    pub(super) fn pull(&mut self) -> Result<Step, Corrupt> {
        let source = self.source();
        if source.is_ended && source.was_empty() {
            return Ok(Step::End);
        }
        match self {
            Self::Identity(feed) => {
                let bytes = std::mem::take(&mut feed.pending);
                Ok(if !bytes.is_empty() {
                    Step::Bytes(bytes)
                } else if feed.is_ended {
                    Step::End
                } else {
                    Step::Hungry
                })
            }
            Self::Gzip(gzip) => {
                let mut step = vec![0; HTTP_DECODE_STEP_BYTES];
                match gzip.read(&mut step) {
                    Ok(0) => Ok(Step::End),
                    Ok(length) => {
                        step.truncate(length);
                        Ok(Step::Bytes(step.into()))
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Step::Hungry),
                    Err(_) => Err(Corrupt),
                }
            }
            Self::Deflate(inflater) => inflater.pull(),
        }
    }

    fn source(&mut self) -> &mut Feed {
        match self {
            Self::Identity(feed) => feed,
            Self::Gzip(gzip) => gzip.get_mut(),
            Self::Deflate(inflater) => &mut inflater.feed,
        }
    }
}

/// Received bytes that are not decoded yet. Its reader returns `WouldBlock` where more may come.
#[derive(Debug, Default)]
pub(super) struct Feed {
    pending: Bytes,
    taken: bool,
    is_ended: bool,
}

impl Feed {
    fn add(&mut self, bytes: Bytes) {
        self.taken |= !bytes.is_empty();
        if self.pending.is_empty() {
            self.pending = bytes;
        } else {
            let mut joined = BytesMut::from(&*self.pending);
            joined.extend_from_slice(&bytes);
            self.pending = joined.freeze();
        }
    }

    /// The response to HEAD names an encoding but has no body.
    const fn was_empty(&self) -> bool {
        !self.taken
    }
}

impl Read for Feed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.len().min(into.len());
        self.pending.copy_to_slice(&mut into[..length]);
        Ok(length)
    }
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pending.is_empty() && !self.is_ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(&self.pending)
    }

    fn consume(&mut self, length: usize) {
        self.pending.advance(length);
    }
}

/// `deflate` means zlib, but some servers send raw deflate. The first two bytes distinguish them.
#[derive(Default)]
pub(super) struct Inflater {
    feed: Feed,
    state: Option<Decompress>,
    is_done: bool,
}

impl Inflater {
    fn pull(&mut self) -> Result<Step, Corrupt> {
        let state = match &mut self.state {
            Some(state) => state,
            none => {
                let [first, second, ..] = *self.feed.pending else {
                    return if self.feed.is_ended { Err(Corrupt) } else { Ok(Step::Hungry) };
                };
                let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
                none.insert(Decompress::new(is_zlib))
            }
        };
        let mut step = vec![0; HTTP_DECODE_STEP_BYTES];
        while !self.is_done {
            let (before_in, before_out) = (state.total_in(), state.total_out());
            let status = state
                .decompress(&self.feed.pending, &mut step, FlushDecompress::None)
                .map_err(|_| Corrupt)?;
            let taken = usize::try_from(state.total_in() - before_in).map_err(|_| Corrupt)?;
            let given = usize::try_from(state.total_out() - before_out).map_err(|_| Corrupt)?;
            self.feed.consume(taken);
            self.is_done = status == Status::StreamEnd;
            if given > 0 {
                step.truncate(given);
                return Ok(Step::Bytes(step.into()));
            }
            if taken == 0 && !self.is_done {
                return match (self.feed.pending.is_empty(), self.feed.is_ended) {
                    (true, false) => Ok(Step::Hungry),
                    (true, true) | (false, _) => Err(Corrupt),
                };
            }
        }
        match (self.feed.pending.is_empty(), self.feed.is_ended) {
            (false, _) => Err(Corrupt),
            (true, true) => Ok(Step::End),
            (true, false) => Ok(Step::Hungry),
        }
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
