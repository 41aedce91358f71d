//! Signed cards: a JWS over the canonical form of the 1.0 card, with a P-256 (ES256) or an Ed25519 (EdDSA) key.
//!
//! The signed form is the one both official SDKs rebuild from the card they read: the 1.0 card without its signatures
//! and without empty values at any depth, as canonical JSON.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::canonical::canonical;
use super::render::RenderedCard;
use super::{AgentCard, CardDocument, CardForm};

/// A signature in the form the card carries it: the parts of a JWS whose payload is the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardSignature {
    /// The protected header, base64url.
    pub protected: String,
    pub signature: String,
}

/// A key for signing cards.
pub struct CardKey {
    pair: Pair,
    public: PublicKey,
    id: String,
}

enum Pair {
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

/// The public key as a JWK. The thumbprint (RFC 7638) is computed over the members in this order.
#[derive(Serialize)]
struct PublicKey {
    crv: &'static str,
    kty: &'static str,
    x: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
}

/// Why a key cannot sign cards.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardKeyError {
    /// The file has no private key.
    #[error("holds no private key in PEM form; make one with `openssl genpkey -algorithm ed25519`")]
    NotPem,
    /// The private key is not in PKCS#8 form.
    #[error("holds a private key that is not PKCS#8; convert it with `openssl pkcs8 -topk8 -nocrypt`")]
    NotPkcs8,
    /// The private key is of another type.
    #[error(
        "holds a private key that is neither P-256 nor Ed25519; make one with `openssl genpkey -algorithm ed25519`"
    )]
    OtherKind,
}

/// The card could not be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the card could not be signed")]
pub struct SignError;

impl CardKey {
    /// Reads a private key: PEM, PKCS#8, P-256 or Ed25519.
    pub fn from_pem(pem: &[u8]) -> Result<Self, CardKeyError> {
        let pkcs8 = match PrivateKeyDer::from_pem_slice(pem).map_err(|_| CardKeyError::NotPem)? {
            PrivateKeyDer::Pkcs8(key) => key,
            _ => return Err(CardKeyError::NotPkcs8),
        };
        let pkcs8 = pkcs8.secret_pkcs8_der();
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8(pkcs8) {
            let x = URL_SAFE_NO_PAD.encode(pair.public_key());
            let public = PublicKey { crv: "Ed25519", kty: "OKP", x, y: None };
            return Ok(Self::new(Pair::Ed25519(Box::new(pair)), public));
        }
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).map_err(|_| CardKeyError::OtherKind)?;
        // An uncompressed point: a format byte, then both coordinates.
        let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
        let (x, y) = point.split_at(point.len() / 2);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), Some(URL_SAFE_NO_PAD.encode(y)));
        Ok(Self::new(Pair::P256(Box::new(pair)), PublicKey { crv: "P-256", kty: "EC", x, y }))
    }

    fn new(pair: Pair, public: PublicKey) -> Self {
        let members = serde_json::to_vec(&public).unwrap_or_default();
        Self { pair, public, id: URL_SAFE_NO_PAD.encode(Sha256::digest(members)) }
    }

    /// Signs a card. Its readers find the public key at `keys_url`.
    pub fn sign(&self, card: &AgentCard, keys_url: &str) -> Result<CardSignature, SignError> {
        let header = json!({ "alg": self.algorithm(), "jku": keys_url, "kid": self.id, "typ": "JOSE" });
        let protected = URL_SAFE_NO_PAD.encode(header.to_string());
        let input = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(signed_form(card)));
        let signature = match &self.pair {
            Pair::P256(pair) => pair
                .sign(&SystemRandom::new(), input.as_bytes())
                .map_err(|_| SignError)?
                .as_ref()
                .to_vec(),
            Pair::Ed25519(pair) => pair.try_sign(input.as_bytes()).map_err(|_| SignError)?.as_ref().to_vec(),
        };
        Ok(CardSignature { protected, signature: URL_SAFE_NO_PAD.encode(signature) })
    }

    /// The public key as a JWK set.
    pub fn jwks(&self, last_modified: Timestamp) -> CardDocument {
        let PublicKey { crv, kty, x, y } = &self.public;
        let mut key = json!({
            "kty": kty, "crv": crv, "x": x, "kid": self.id, "alg": self.algorithm(), "use": "sig",
        });
        if let (Some(y), Value::Object(members)) = (y, &mut key) {
            members.insert("y".to_owned(), y.as_str().into());
        }
        CardDocument::of(&json!({ "keys": [key] }), last_modified)
    }

    const fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::P256(_) => "ES256",
            Pair::Ed25519(_) => "EdDSA",
        }
    }
}

impl std::fmt::Debug for CardKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CardKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The bytes that are signed.
fn signed_form(card: &AgentCard) -> String {
    let unsigned = AgentCard { signatures: Vec::new(), ..card.clone() };
    let card = serde_json::to_value(RenderedCard(&unsigned, CardForm::Strict)).unwrap_or_default();
    canonical(&without_empties(card).unwrap_or_default())
}

/// The value without empty values at any depth. `false` stays, because it is always set on purpose.
pub(super) fn without_empties(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some(value),
        Value::String(text) => (!text.is_empty()).then_some(Value::String(text)),
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(without_empties).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(members) => {
            let members: serde_json::Map<_, _> = members
                .into_iter()
                .filter_map(|(key, value)| Some((key, without_empties(value)?)))
                .collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
    }
}

#[cfg(test)]
#[path = "sign_tests.rs"]
mod tests;
