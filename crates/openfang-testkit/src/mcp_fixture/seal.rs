//! Tokens that only this fixture can create: each fixture has a fresh key, and a token has a tag over its purpose.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use openfang_mcp::host::{Seal, SealedFor};
use sha2::Sha256;

const TAG_BYTES: usize = 32;

/// A key that nobody else has.
pub(super) struct FreshSeal {
    key: [u8; 32],
}

impl FreshSeal {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system has randomness");
        Self { key }
    }

    fn mac(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> Hmac<Sha256> {
        let purpose: &[u8] = match purpose {
            SealedFor::Session => b"session",
            SealedFor::RequestState => b"request state",
        };
        let mut mac = Hmac::new_from_slice(&self.key).expect("HMAC takes a key of any length");
        for part in [purpose, owner.as_bytes(), payload] {
            mac.update(&part.len().to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl Seal for FreshSeal {
    fn seal(&self, purpose: SealedFor, owner: &str, payload: &[u8]) -> String {
        let tag = self.mac(purpose, owner, payload).finalize().into_bytes();
        URL_SAFE_NO_PAD.encode([payload, &tag].concat())
    }

    fn open(&self, purpose: SealedFor, owner: &str, token: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (payload, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        self.mac(purpose, owner, payload).verify_slice(tag).ok()?;
        Some(payload.to_vec())
    }
}
