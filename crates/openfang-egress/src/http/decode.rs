//! Content encodings, decoded in small steps: [`Decoder::pull`] never gives more than one step, so whoever counts can
//! stop a bomb where it crosses the line. A damaged, cut or prolonged body is [`Corrupt`].

use std::io::{self, BufRead, Read};

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use http::{HeaderMap, header};
use openfang_types::limits::HTTP_DECODE_STEP_BYTES;

/// The body is not what its encoding says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Corrupt;

/// An encoding that we did not ask for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsupported;

/// What a pull brings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Some decoded bytes.
    Bytes(Bytes),
    /// Nothing before more is fed.
    Hungry,
    /// That was all.
    End,
}

/// Turns what is on the wire into what is meant.
pub(super) enum Decoder {
    Identity(Feed),
    Gzip(Box<MultiGzDecoder<Feed>>),
    Deflate(Box<Inflater>),
}

impl Decoder {
    /// The decoder that an answer's headers ask for.
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

    /// Whether the wire's bytes are the body's.
    pub(super) const fn is_identity(&self) -> bool {
        matches!(self, Self::Identity(_))
    }

    /// Takes the next bytes of the wire.
    pub(super) fn feed(&mut self, bytes: Bytes) {
        self.source().add(bytes);
    }

    /// Learns that the wire has no more.
    pub(super) fn end(&mut self) {
        self.source().is_ended = true;
    }

    /// The next decoded bytes, one step at most unless nothing is encoded.
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

/// Bytes that came and were not decoded yet. As a reader it would block where more may come.
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

    /// An answer to HEAD names an encoding and has no body.
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

/// `deflate` means zlib, and to some servers the bare format: the first two bytes tell.
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
