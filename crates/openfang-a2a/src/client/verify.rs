//! The signature of a card, as far as the settings demand it. The keys come from the settings, or from the URL that the
//! signature names if that URL is encrypted and at the card's own origin, or at a listed origin.

use http::header::{self, HeaderValue};
use jiff::Timestamp;
use openfang_egress::http::{Caps, Patience, Request};
use openfang_types::limits::{A2A_CARD_MAX_BYTES, A2A_CARD_TOTAL};
use tokio::task::spawn_blocking;
use url::Url;

use super::agent::RemoteAgent;
use super::card::PeerCard;
use super::discovery::{DiscoveryError, SignatureState};
use super::settings::Verification;
use crate::card::{CardKeys, CardSignature, SignatureHeader, VerifyError, verify};

impl RemoteAgent {
    /// Checks the signatures of a card as it was served. One valid signature is enough.
    pub(super) async fn verify(
        &self,
        card: &PeerCard,
        served: &[u8],
        url: &Url,
    ) -> Result<SignatureState, DiscoveryError> {
        let is_required = match (self.settings().verification, card.signatures.is_empty()) {
            (Verification::Off, _) => return Ok(SignatureState::Unchecked),
            (Verification::IfSigned, true) => return Ok(SignatureState::Unsigned),
            (Verification::Required, true) => {
                return Err(DiscoveryError::Signature("the card is not signed".to_owned()));
            }
            (Verification::IfSigned, false) => false,
            (Verification::Required, false) => true,
        };
        let (mut wrong, mut unverified) = (None, None);
        for signature in &card.signatures {
            match self.checked(signature, served, url).await {
                Ok(key) => return Ok(SignatureState::Valid { key }),
                Err(Doubt::Wrong(why)) => wrong = wrong.or(Some(why)),
                Err(Doubt::Unverified(why)) => unverified = unverified.or(Some(why)),
            }
        }
        match (wrong, unverified) {
            (Some(why), _) => Err(DiscoveryError::Signature(why)),
            (None, why) if is_required => Err(DiscoveryError::Signature(why.unwrap_or_default())),
            (None, why) => Ok(SignatureState::Unverified { reason: why.unwrap_or_default() }),
        }
    }

    async fn checked(&self, signature: &CardSignature, served: &[u8], url: &Url) -> Result<String, Doubt> {
        let header = SignatureHeader::read(signature).map_err(|error| Doubt::Wrong(error.to_string()))?;
        let keys = match &self.settings().keys {
            Some(keys) => CardKeys::read(keys.as_bytes()).map_err(Doubt::Unverified)?,
            None => self.keys_at(header.jku.as_deref(), url).await.map_err(Doubt::Unverified)?,
        };
        let (signature, served) = (signature.clone(), served.to_vec());
        let verified = spawn_blocking(move || verify(&served, &signature, &keys, Timestamp::now())).await;
        match verified {
            Ok(Ok(key)) => Ok(key),
            Ok(Err(error @ (VerifyError::NoKey | VerifyError::Expired))) => Err(Doubt::Unverified(error.to_string())),
            Ok(Err(error @ (VerifyError::Mismatch | VerifyError::Unacceptable(_)))) => {
                Err(Doubt::Wrong(error.to_string()))
            }
            Err(_) => Err(Doubt::Unverified("the check was abandoned".to_owned())),
        }
    }

    /// The keys at the URL that a signature names.
    async fn keys_at(&self, jku: Option<&str>, card_url: &Url) -> Result<CardKeys, String> {
        let jku = jku.ok_or("no key is configured, and the signature names none")?;
        let target = self.site().target(jku).map_err(|error| format!("its keys are out of reach: {error}"))?;
        let is_own = Url::parse(jku).is_ok_and(|jku| jku.scheme() == "https" && jku.origin() == card_url.origin());
        if !is_own && !self.is_listed(jku) {
            return Err("its keys are at another origin than the card, or not encrypted; set keys".to_owned());
        }
        let patience = Patience { total: Some(A2A_CARD_TOTAL), ..Patience::default() };
        let request = Request::new(http::Method::GET, target)
            .header(header::ACCEPT, HeaderValue::from_static("application/json"))
            .patience(patience)
            .redirects(self.site().redirects)
            .caps(Caps { decoded_bytes: A2A_CARD_MAX_BYTES, ..Caps::default() });
        let failed = |error| format!("its keys cannot be fetched: {error}");
        let response = self.site().door.send(request).await.map_err(failed)?;
        if !response.status.is_success() || !self.site().allows(&response.origin) {
            return Err(format!(
                "its keys cannot be fetched: HTTP {} from {}",
                response.status.as_u16(),
                response.origin
            ));
        }
        CardKeys::read(&response.body.bytes().await.map_err(failed)?)
    }

    /// Whether the settings list the origin of a URL.
    fn is_listed(&self, url: &str) -> bool {
        let site = self.site();
        let Ok(origin) = site.origin_of(url) else { return false };
        self.settings()
            .origins
            .iter()
            .any(|listed| site.origin_of(listed).is_ok_and(|listed| listed == origin))
    }
}

/// Why a signature is not valid.
enum Doubt {
    /// The signature is wrong for this card.
    Wrong(String),
    /// It may be right, but nobody can tell.
    Unverified(String),
}
