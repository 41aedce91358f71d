//! What every tool of a server that was seen looked like, by its name. There may be ten thousand.

use std::borrow::Cow;
use std::collections::BTreeMap;

use openfang_mcp::client::fingerprint;
use openfang_mcp::listing::Entry;
use openfang_types::names::Names;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// What every tool looked like.
#[derive(Default)]
pub(super) struct Approved {
    names: Names,
    prints: Vec<Fingerprint>,
}

impl Approved {
    /// What a tool looked like.
    pub(super) fn get(&self, tool: &str) -> Option<&Fingerprint> {
        self.prints.get(self.names.place_of(tool)?)
    }

    /// The names of the tools, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// The same, without the tools that are not kept.
    pub(super) fn only(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        let mut kept = Self::default();
        let all = self.names.iter().zip(&self.prints);
        all.filter(|(name, _)| is_kept(name)).for_each(|(name, print)| kept.push(name, *print));
        kept.names.shrink();
        kept
    }

    /// Whether no tool was seen yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The same, and these, which are in order too. Of two with one name the later one counts.
    pub(super) fn with(&self, tools: &[(&str, Fingerprint)]) -> Self {
        let mut all = Self::default();
        let mut before = self.names.iter().zip(self.prints.iter().copied()).peekable();
        for (name, print) in tools {
            while let Some((earlier, earlier_print)) = before.next_if(|(earlier, _)| earlier < name) {
                all.push(earlier, earlier_print);
            }
            before.next_if(|(same, _)| same == name);
            all.push(name, *print);
        }
        before.for_each(|(name, print)| all.push(name, print));
        all.names.shrink();
        all
    }

    fn push(&mut self, name: &str, print: Fingerprint) {
        self.names.push(name);
        self.prints.push(print);
    }
}

impl Serialize for Approved {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.names.iter().zip(&self.prints))
    }
}

impl<'de> Deserialize<'de> for Approved {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let all = BTreeMap::<Cow<'_, str>, Fingerprint>::deserialize(from)?;
        Ok(Self { names: all.keys().collect(), prints: all.into_values().collect() })
    }
}

/// What a tool looked like; in hexadecimal digits where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of what a tool says, and where it is.
    pub(super) fn of(place: &str, tool: &Entry) -> Self {
        let mut digest = Sha256::new();
        digest.update(place.as_bytes());
        digest.update(fingerprint(&tool.json()));
        Self(digest.finalize().into())
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <Cow<'_, str>>::deserialize(from)?;
        let digit = |at: usize| text.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = digit(at).ok_or_else(|| D::Error::custom("no fingerprint"))?;
        }
        Ok(Self(bytes))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[path = "approved_tests.rs"]
mod tests;
