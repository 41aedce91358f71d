//! What holds of the scan for any bytes at all. The property tests and the fuzz target (`fuzz/`) both call
//! [`scan_agrees_with_serde_json`]; the includer has [`scan`](super::scan) in scope.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::scan;

/// The scan accepts what `serde_json` accepts, minus duplicate and reserved keys, which [`Strict`] refuses too.
///
/// Known differences, and no others:
/// - a number that no `f64` holds (`1e999`): the scan and `RawValue` accept it, `Value` does not;
/// - lone surrogates and depth: `RawValue` lets both pass, the scan and `Value` do not. The depth at which `Value`
///   stops is the scan's own: 127 is accepted, 128 is not.
pub(crate) fn scan_agrees_with_serde_json(bytes: &[u8]) {
    let scanned = scan(bytes);
    if scanned.is_ok() {
        assert!(serde_json::from_slice::<&RawValue>(bytes).is_ok(), "as a raw value: {}", shown(bytes));
    }
    match serde_json::from_slice::<Strict>(bytes) {
        Err(error) if error.to_string().starts_with("number out of range") => {}
        judged => {
            assert_eq!(scanned.is_ok(), judged.is_ok(), "{scanned:?}, {judged:?}: {}", shown(bytes));
            assert!(scanned.is_err() || serde_json::from_slice::<Value>(bytes).is_ok(), "{}", shown(bytes));
        }
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2_000).collect()
}

/// Any JSON value without a duplicate or reserved key, by `serde_json`'s own recursive parser.
#[derive(Debug)]
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without duplicate keys")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key.starts_with("$serde_json::private::") || !seen.insert(key) {
                return Err(A::Error::custom("duplicate or reserved key"));
            }
            entries.next_value::<Self>()?;
        }
        Ok(self)
    }
}
