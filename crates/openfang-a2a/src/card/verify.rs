//! Verifies the signatures of cards: JWS with ES256, EdDSA (Ed25519) or RS256.
//!
//! The official SDKs sign the card without empty values, the specification keeps empty values of required members, and
//! older SDKs sign all members of their own version. A signature over any of these forms of the served card is valid:
//! each form is determined by the card that was served.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use openfang_types::limits::A2A_CARD_KEYS;
use openfang_types::scan::scan_text;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::canonical::canonical;
use super::members::of_v10;
use super::sign::{CardSignature, without_empties};

/// The keys that may have signed a card.
#[derive(Debug, Clone, Default)]
pub struct CardKeys(Vec<Jwk>);

#[derive(Debug, Clone, Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
    /// When the key begins to count, in seconds since 1970.
    nbf: Option<f64>,
    /// When the key stops counting.
    exp: Option<f64>,
    /// Why the key does not count any more.
    revoked: Option<Value>,
}

/// The algorithms that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Es256,
    EdDsa,
    Rs256,
}

/// The protected header of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeader {
    algorithm: Algorithm,
    /// The name of the key.
    pub kid: Option<String>,
    /// The URL of the keys.
    pub jku: Option<String>,
}

/// Why a signature does not make a card trustworthy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The signature itself is not acceptable.
    #[error("{0}")]
    Unacceptable(String),
    /// None of the keys is the one that signed.
    #[error("no key is known that could have signed it")]
    NoKey,
    /// The key that signed is past its end, before its beginning, or revoked.
    #[error("the key that signed it does not count any more: it has expired or was revoked")]
    Expired,
    /// The card is not what was signed.
    #[error("it does not match the card")]
    Mismatch,
}

impl CardKeys {
    /// Reads a JWK set, or a single JWK. Keys of unknown kinds are left out.
    pub fn read(document: &[u8]) -> Result<Self, String> {
        let text = scan_text(document.trim_ascii()).map_err(|error| error.to_string())?;
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let listed = match value.get("keys") {
            Some(Value::Array(keys)) => keys.clone(),
            Some(_) => return Err("`keys` must be a list".to_owned()),
            None => vec![value],
        };
        let keys: Vec<Jwk> = listed
            .into_iter()
            .take(A2A_CARD_KEYS)
            .filter_map(|key| serde_json::from_value(key).ok())
            .collect();
        if keys.is_empty() { Err("there is no key in it".to_owned()) } else { Ok(Self(keys)) }
    }
}

impl SignatureHeader {
    /// Reads the protected header. Algorithms without a public key, and critical members, are refused.
    pub fn read(signature: &CardSignature) -> Result<Self, VerifyError> {
        let refused = |why: &str| VerifyError::Unacceptable(why.to_owned());
        let bytes = decoded(&signature.protected).ok_or_else(|| refused("its header is not base64url"))?;
        let header = scan_text(&bytes).ok().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let header = header.ok_or_else(|| refused("its header is not JSON"))?;
        if header.get("crit").is_some() || header.get("b64").is_some() {
            return Err(refused("its header has critical members that are not supported"));
        }
        let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        let algorithm = match text("alg").as_deref() {
            Some("ES256") => Algorithm::Es256,
            Some("EdDSA" | "Ed25519") => Algorithm::EdDsa,
            Some("RS256") => Algorithm::Rs256,
            Some(other) => {
                let shown: String = other.chars().take(20).collect();
                return Err(VerifyError::Unacceptable(format!("the algorithm {shown:?} is not accepted")));
            }
            None => return Err(refused("its header names no algorithm")),
        };
        Ok(Self { algorithm, kid: text("kid"), jku: text("jku") })
    }
}

/// Checks one signature of a card as it was served, with the keys that count now. Returns the thumbprint (RFC 7638) of the
/// key.
pub fn verify(
    served: &[u8],
    signature: &CardSignature,
    keys: &CardKeys,
    now: Timestamp,
) -> Result<String, VerifyError> {
    let header = SignatureHeader::read(signature)?;
    let refused = |why: &str| VerifyError::Unacceptable(why.to_owned());
    let bytes = decoded(&signature.signature).ok_or_else(|| refused("it is not base64url"))?;
    let served = served.strip_prefix(b"\xef\xbb\xbf").unwrap_or(served).trim_ascii();
    let card: Value = scan_text(served)
        .ok()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| refused("the card is not JSON"))?;
    let inputs: Vec<String> = forms(&card)
        .iter()
        .map(|form| format!("{}.{}", signature.protected, URL_SAFE_NO_PAD.encode(form)))
        .collect();
    let mut error = VerifyError::NoKey;
    for key in &keys.0 {
        if key.can_be(&header) {
            if inputs.iter().any(|input| key.verifies(header.algorithm, input.as_bytes(), &bytes)) {
                if key.counts_at(now) {
                    return Ok(key.thumbprint());
                }
                error = VerifyError::Expired;
            } else if error != VerifyError::Expired {
                error = VerifyError::Mismatch;
            }
        }
    }
    Err(error)
}

/// The texts that a signer may have signed.
fn forms(card: &Value) -> Vec<String> {
    let mut whole = card.clone();
    if let Value::Object(members) = &mut whole {
        members.remove("signatures");
    }
    let projected = of_v10(card);
    let shorter = |value: &Value| without_empties(value.clone()).unwrap_or_default();
    let mut forms: Vec<String> =
        [shorter(&projected), projected, shorter(&whole), whole].iter().map(canonical).collect();
    forms.dedup();
    forms
}

impl Jwk {
    fn can_be(&self, header: &SignatureHeader) -> bool {
        let kind = match header.algorithm {
            Algorithm::Es256 => self.kty == "EC" && self.crv.as_deref() == Some("P-256"),
            Algorithm::EdDsa => self.kty == "OKP" && self.crv.as_deref() == Some("Ed25519"),
            Algorithm::Rs256 => self.kty == "RSA",
        };
        let is_named = match (&header.kid, &self.kid) {
            (Some(wanted), Some(kid)) => wanted == kid,
            (Some(_), None) | (None, _) => true,
        };
        kind && is_named && self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
    }

    /// A key without times counts at any time.
    fn counts_at(&self, now: Timestamp) -> bool {
        let now = now.as_duration().as_secs_f64();
        self.revoked.is_none() && self.nbf.is_none_or(|begin| begin <= now) && self.exp.is_none_or(|end| now < end)
    }

    fn verifies(&self, algorithm: Algorithm, input: &[u8], signature: &[u8]) -> bool {
        let part = |part: &Option<String>| part.as_deref().and_then(decoded);
        let verified = match algorithm {
            Algorithm::Es256 => part(&self.x).zip(part(&self.y)).map(|(x, y)| {
                // An uncompressed point: a format byte, then both coordinates.
                let point = [&[4_u8][..], &x, &y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(input, signature)
            }),
            Algorithm::EdDsa => part(&self.x).map(|x| UnparsedPublicKey::new(&ED25519, x).verify(input, signature)),
            Algorithm::Rs256 => part(&self.n)
                .zip(part(&self.e))
                .map(|(n, e)| RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, input, signature)),
        };
        matches!(verified, Some(Ok(())))
    }

    /// The hash of the required members in alphabetical order.
    fn thumbprint(&self) -> String {
        let members = match self.kty.as_str() {
            "EC" => json!({ "crv": self.crv, "kty": self.kty, "x": self.x, "y": self.y }),
            "OKP" => json!({ "crv": self.crv, "kty": self.kty, "x": self.x }),
            _ => json!({ "e": self.e, "kty": self.kty, "n": self.n }),
        };
        URL_SAFE_NO_PAD.encode(Sha256::digest(canonical(&members)))
    }
}

/// Base64url, with or without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
