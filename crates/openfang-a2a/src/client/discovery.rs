//! What is known about an external agent: its card, the interface that is used, and how far the card can be trusted.

use std::sync::Arc;
use std::time::Duration;

use openfang_egress::url::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::card::PeerCard;
use super::interface::{Binding, Interface, Repair};
use crate::card::TOOLS_EXTENSION;
use crate::dialect::Dialect;

/// What is known about an external agent.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// The card. None for an agent that is only an endpoint.
    pub card: Option<Arc<PeerCard>>,
    /// Where the card came from.
    pub card_url: Option<String>,
    /// Where and how the agent is asked.
    pub interface: Interface,
    /// The corrections of the card's addresses.
    pub repairs: Vec<Repair>,
    /// The state of the card's signature.
    pub signature: SignatureState,
    /// What became of the card for authenticated callers.
    pub extended: ExtendedCard,
    /// The answers of the card's server that allow to ask for a newer one only.
    pub validators: Validators,
    /// How long the card is fresh.
    pub max_age: Duration,
    /// When the card was fetched. None after a restart.
    pub(super) fetched: Option<Instant>,
}

/// The state of a card's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum SignatureState {
    /// Signatures are not checked.
    Unchecked,
    Unsigned,
    /// Signed by a known key.
    Valid {
        /// The thumbprint of the key (RFC 7638).
        key: String,
    },
    /// Signed, but no key is available that could confirm it.
    Unverified {
        reason: String,
    },
}

/// What became of the card for authenticated callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum ExtendedCard {
    NotOffered,
    /// Offered, but there is no credential to ask with.
    NoCredential,
    /// The card is the extended one.
    Used,
    /// It could not be fetched; the public card is used.
    Failed {
        reason: String,
    },
}

/// The validators of a cached card.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl Discovery {
    /// Whether the card does not have to be fetched again yet.
    pub fn is_fresh(&self) -> bool {
        self.fetched.is_some_and(|at| at.elapsed() < self.max_age)
    }

    /// Whether messages are answered with a stream of events.
    pub fn streams(&self) -> bool {
        let is_stated = self.card.as_ref().and_then(|card| card.streaming);
        match self.interface.dialect {
            // Without a statement, 0.x means no. An endpoint without a card is polled.
            Dialect::V10 | Dialect::V03 | Dialect::V03Proto | Dialect::V01 => is_stated.unwrap_or(false),
            Dialect::OpenFang => false,
        }
    }

    /// Marks of the card that tell whether it changed in a way that matters.
    pub fn pin(&self) -> CardPin {
        let digest = |text: &str| hex(&Sha256::digest(text.as_bytes()));
        let words = self.card.as_ref().map(|card| {
            let skills: Vec<_> = card
                .skills
                .iter()
                .map(|one| (&one.id, &one.name, &one.description, &one.tags, &one.examples))
                .collect();
            let words =
                (&card.name, &card.description, &card.provider, skills, &card.schemes, card.requires_credential);
            let mut text = serde_json::to_string(&words).unwrap_or_default();
            // What skills take is part of what models are shown.
            if let Some(params) = card.extension(TOOLS_EXTENSION).and_then(|tools| tools.params.as_ref()) {
                text.push_str(&params.to_string());
            }
            digest(&text)
        });
        let origin = url::Url::parse(&self.interface.url).map(|url| url.origin().ascii_serialization());
        let key = match &self.signature {
            SignatureState::Valid { key } => Some(key.clone()),
            SignatureState::Unchecked | SignatureState::Unsigned | SignatureState::Unverified { .. } => None,
        };
        CardPin {
            words: words.unwrap_or_default(),
            endpoint: digest(&self.interface.url),
            origin: origin.unwrap_or_default(),
            key,
        }
    }

    /// The form that can be kept on disk.
    pub fn to_record(&self) -> DiscoveryRecord {
        DiscoveryRecord {
            card: self.card.as_ref().map(|card| card.document.clone()),
            card_url: self.card_url.clone(),
            url: self.interface.url.clone(),
            binding: self.interface.binding,
            dialect: DialectName::from(self.interface.dialect),
            tenant: self.interface.tenant.clone(),
            repairs: self.repairs.clone(),
            signature: self.signature.clone(),
            extended: self.extended.clone(),
            validators: self.validators.clone(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Marks of a card, to compare it with a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardPin {
    /// The hash of everything that is shown to models and people.
    pub words: String,
    /// The hash of the endpoint that is used.
    pub endpoint: String,
    /// The origin of the endpoint that is used.
    pub origin: String,
    /// The thumbprint of the key that signed the card.
    pub key: Option<String>,
}

/// A [`Discovery`] as it is kept on disk. It is checked again when it is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiscoveryRecord {
    pub card: Option<Box<RawValue>>,
    pub card_url: Option<String>,
    /// The URL of the interface.
    pub url: String,
    pub binding: Binding,
    pub dialect: DialectName,
    #[serde(default)]
    pub tenant: Option<String>,
    #[serde(default)]
    pub repairs: Vec<Repair>,
    pub signature: SignatureState,
    pub extended: ExtendedCard,
    #[serde(default)]
    pub validators: Validators,
}

/// The name of a dialect in records. The names never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DialectName {
    #[serde(rename = "1.0")]
    V10,
    #[serde(rename = "0.3")]
    V03,
    #[serde(rename = "0.3-http")]
    V03Proto,
    #[serde(rename = "0.1")]
    V01,
    #[serde(rename = "openfang")]
    OpenFang,
}

impl From<Dialect> for DialectName {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::V10 => Self::V10,
            Dialect::V03 => Self::V03,
            Dialect::V03Proto => Self::V03Proto,
            Dialect::V01 => Self::V01,
            Dialect::OpenFang => Self::OpenFang,
        }
    }
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::V10 => Self::V10,
            DialectName::V03 => Self::V03,
            DialectName::V03Proto => Self::V03Proto,
            DialectName::V01 => Self::V01,
            DialectName::OpenFang => Self::OpenFang,
        }
    }
}

/// Why an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// There is no card, and the URL does not speak A2A.
    #[error("there is no agent at {origin}: no card ({card}), and the URL does not speak A2A ({endpoint})")]
    NoAgent {
        origin: String,
        /// The result of the search for a card.
        card: String,
        /// The result of the probes.
        endpoint: String,
    },
    /// The card is only shown to callers with a credential.
    #[error("{origin} demands a credential for its card (HTTP {status}); set one in headers")]
    Unauthorized { origin: String, status: u16 },
    /// Several agents share the URL.
    #[error("there are {} agents at this URL; use the URL of one of them: {}", .0.len(), shown(.0))]
    Several(Vec<ListedAgent>),
    /// The card leads to an origin that is not allowed.
    #[error("the card leads to {origin}; allow it with origins = [\"{origin}\"], or set endpoint")]
    OtherOrigin { origin: Origin },
    /// The address in the card cannot be used.
    #[error("the card names the address {stated:?}, which cannot be used: {why}; set endpoint")]
    Address { stated: String, why: String },
    /// The card has no interface that this client speaks.
    #[error("the card offers no interface that can be used{}", offered_text(.offered))]
    NoInterface {
        /// The interfaces that cannot be used.
        offered: Vec<String>,
    },
    /// None of the versions is spoken there.
    #[error("the version of A2A that {origin} speaks is not known: {why}")]
    UnknownVersion { origin: String, why: String },
    /// The agent refuses clients without an extension.
    #[error("the agent demands the extension {0}; add it to extensions if it is supported")]
    Extension(String),
    /// The signature of the card is wrong or missing.
    #[error("the signature of the card: {0}")]
    Signature(String),
    /// A record of an earlier discovery does not fit the settings any more.
    #[error("the kept card cannot be used: {0}")]
    Record(String),
    /// The agent's server cannot be reached.
    #[error("{0}")]
    Unreachable(String),
}

/// One of several agents at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedAgent {
    pub name: String,
    pub url: Option<String>,
}

fn shown(agents: &[ListedAgent]) -> String {
    let named = agents.iter().take(10).map(|agent| match &agent.url {
        Some(url) => format!("{} ({url})", agent.name),
        None => agent.name.clone(),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn offered_text(offered: &[String]) -> String {
    if offered.is_empty() { String::new() } else { format!("; it offers {}", offered.join(", ")) }
}
