//! The entries of a server, packed. What ten thousand tools say about themselves is megabytes of words that are much
//! alike, and is read seldom: when somebody lists them, or one is called for the first time. So it is held deflated, in
//! blocks that are small enough to be opened for one entry. A short list is never larger than the block that is still
//! open, and is held as it is.

use std::borrow::Cow;
use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use openfang_types::limits::MCP_PACK_BLOCK_BYTES;
use openfang_types::names::Names;

use super::Late;

/// Entries, packed. They stay in the order in which they came.
#[derive(Default)]
pub(crate) struct Pack {
    names: Names,
    spots: Vec<Spot>,
    blocks: Vec<Box<[u8]>>,
    /// The last block, to which entries are added.
    open: String,
    /// The block that was read last: whoever reads one entry mostly reads the next one too.
    read: Mutex<Option<(u32, Arc<str>)>>,
}

/// Where an entry is.
#[derive(Clone, Copy)]
struct Spot {
    block: u32,
    begin: u32,
    end: u32,
}

impl Pack {
    pub(crate) fn push(&mut self, name: &str, json: &str) -> io::Result<()> {
        if !self.open.is_empty() && self.open.len() + json.len() > MCP_PACK_BLOCK_BYTES {
            self.blocks.push(deflated(&self.open)?);
            self.open.clear();
        }
        let number = |number: usize| u32::try_from(number).map_err(io::Error::other);
        let spot = Spot {
            block: number(self.blocks.len())?,
            begin: number(self.open.len())?,
            end: number(self.open.len() + json.len())?,
        };
        self.open.push_str(json);
        self.names.push(name);
        self.spots.push(spot);
        Ok(())
    }

    /// There will be no more.
    pub(crate) fn close(mut self) -> Arc<Self> {
        self.names.shrink();
        self.spots.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.open.shrink_to_fit();
        Arc::new(self)
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.spots.len()
    }

    fn block(&self, number: u32) -> Option<Arc<str>> {
        let last = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, text)) = last.filter(|(last, _)| *last == number) {
            return Some(text);
        }
        let text: Arc<str> = inflated(self.blocks.get(number as usize)?).ok()?.into();
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, Arc::clone(&text)));
        Some(text)
    }

    fn text(&self, place: usize) -> Option<Cow<'_, str>> {
        let Spot { block, begin, end } = *self.spots.get(place)?;
        let within = begin as usize..end as usize;
        if block as usize == self.blocks.len() {
            return self.open.get(within).map(Cow::Borrowed);
        }
        Some(Cow::Owned(self.block(block)?.get(within)?.to_owned()))
    }
}

impl Late for Pack {
    fn name(&self, place: usize) -> &str {
        self.names.get(place).unwrap_or_default()
    }

    fn json(&self, place: usize) -> Cow<'_, str> {
        self.text(place).unwrap_or(Cow::Borrowed("null"))
    }
}

fn deflated(text: &str) -> io::Result<Box<[u8]>> {
    let mut to = DeflateEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text.as_bytes())?;
    Ok(to.finish()?.into_boxed_slice())
}

fn inflated(bytes: &[u8]) -> io::Result<String> {
    let mut text = String::with_capacity(MCP_PACK_BLOCK_BYTES);
    DeflateDecoder::new(bytes).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
