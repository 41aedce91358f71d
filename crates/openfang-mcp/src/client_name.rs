//! The name that a client gives itself. It decides nothing but how long the client is made to wait.

use serde::Deserialize;
use serde_json::value::RawValue;

const MOST_BYTES: usize = 32;

/// The beginning of a client's name; empty if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientName {
    bytes: [u8; MOST_BYTES],
}

impl ClientName {
    /// The name in a `clientInfo`.
    pub(crate) fn read(info: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Info {
            name: String,
        }
        serde_json::from_str::<Info>(info.get()).map_or_else(|_| Self::default(), |info| Self::of(&info.name))
    }

    fn of(name: &str) -> Self {
        let end = name.floor_char_boundary(MOST_BYTES);
        let mut bytes = [0; MOST_BYTES];
        bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
        Self { bytes }
    }

    pub fn as_str(&self) -> &str {
        let text = std::str::from_utf8(&self.bytes).unwrap_or_default();
        text.split('\0').next().unwrap_or_default()
    }

    /// The name as a sealed token carries it.
    pub(crate) const fn to_bytes(self) -> [u8; MOST_BYTES] {
        self.bytes
    }

    pub(crate) const fn from_bytes(bytes: [u8; MOST_BYTES]) -> Self {
        Self { bytes }
    }
}

#[cfg(test)]
#[path = "client_name_tests.rs"]
mod tests;
