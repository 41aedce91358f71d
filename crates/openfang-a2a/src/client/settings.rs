//! The settings of a connection to an external agent, as a program or a configuration states them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use openfang_egress::url::{Reach, UrlRefused};
use openfang_types::limits::{A2A_CLIENT_IDLE, A2A_CLIENT_LOOK, A2A_CLIENT_TIMEOUT, A2A_CLIENT_TOTAL};
use openfang_types::redact::Redactor;

use crate::dialect::Dialect;

/// The settings of a [`RemoteAgent`](super::RemoteAgent).
#[derive(Clone)]
pub struct RemoteSettings {
    /// The base URL of the agent, the URL of its card, or its endpoint.
    pub url: String,
    /// Who named the URL: the operator, or somebody whose URLs reach public addresses only.
    pub reach: Reach,
    /// Whether redirects are followed. Whoever redirects chooses the host that is asked.
    pub redirects: bool,
    /// The endpoint to use instead of the one in the card.
    pub endpoint: Option<String>,
    /// The version to speak.
    pub protocol: Protocol,
    /// The credentials: headers that are sent to the origin of the URL, to `endpoint` and to `origins`, and nowhere
    /// else.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Other origins that the card may lead to.
    pub origins: Vec<String>,
    /// The time until the agent has to begin its answer.
    pub timeout: Duration,
    /// The time the agent may work on a message without a sign of life.
    pub idle: Duration,
    /// After this time without an event the task is looked at beside its stream.
    pub silence: Duration,
    /// The time the agent may work on a message in total.
    pub total: Duration,
    /// The extensions, by URI, that this client supports.
    pub extensions: Vec<String>,
    /// Whether the signature of the card is checked.
    pub verification: Verification,
    /// The keys that may sign the card, as a JWK set. None takes the keys that the signature names, if they are served by
    /// an allowed origin.
    pub keys: Option<String>,
    /// Further secrets to remove from everything the agent says. The values of `headers` are always removed.
    pub redactor: Redactor,
}

impl RemoteSettings {
    /// The default settings for a URL from the operator.
    pub fn operator(url: impl Into<String>) -> Self {
        Self::new(url.into(), Reach::Operator)
    }

    /// The default settings for a URL from anybody else.
    pub fn foreign(url: impl Into<String>) -> Self {
        Self::new(url.into(), Reach::Foreign)
    }

    fn new(url: String, reach: Reach) -> Self {
        Self {
            url,
            reach,
            redirects: true,
            endpoint: None,
            protocol: Protocol::Auto,
            headers: Vec::new(),
            origins: Vec::new(),
            timeout: A2A_CLIENT_TIMEOUT,
            idle: A2A_CLIENT_IDLE,
            silence: A2A_CLIENT_LOOK,
            total: A2A_CLIENT_TOTAL,
            extensions: Vec::new(),
            verification: Verification::default(),
            keys: None,
            redactor: Redactor::default(),
        }
    }
}

/// The version of A2A that is spoken with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The best version that the agent offers.
    #[default]
    Auto,
    V10,
    /// 0.3 and 0.2, which have the same messages.
    V03,
    V01,
    /// OpenFang's own REST dialect.
    OpenFang,
}

impl Protocol {
    /// Whether this dialect may be used.
    pub const fn allows(self, dialect: Dialect) -> bool {
        match self {
            Self::Auto => true,
            Self::V10 => matches!(dialect, Dialect::V10),
            Self::V03 => matches!(dialect, Dialect::V03 | Dialect::V03Proto),
            Self::V01 => matches!(dialect, Dialect::V01),
            Self::OpenFang => matches!(dialect, Dialect::OpenFang),
        }
    }
}

/// The text is not the name of a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version of A2A; use auto, 1.0, 0.3, 0.2, 0.1 or openfang")]
pub struct UnknownProtocol(String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownProtocol> {
        Ok(match text {
            "auto" => Self::Auto,
            "1.0" => Self::V10,
            "0.3" | "0.2" => Self::V03,
            "0.1" => Self::V01,
            "openfang" => Self::OpenFang,
            other => return Err(UnknownProtocol(other.chars().take(40).collect())),
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::V10 => "1.0",
            Self::V03 => "0.3",
            Self::V01 => "0.1",
            Self::OpenFang => "openfang",
        })
    }
}

/// Whether the signature of a card is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verification {
    Off,
    /// A card may be unsigned. A signature that is wrong is an error.
    #[default]
    IfSigned,
    /// Only a card with a valid signature is used.
    Required,
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// One of the URLs is refused.
    #[error("{key}: {cause}")]
    Url {
        /// The setting that has the URL.
        key: &'static str,
        #[source]
        cause: UrlRefused,
    },
    /// The header belongs to the protocol.
    #[error("headers: {0} is set automatically; remove it")]
    Header(HeaderName),
    /// The keys are not a JWK set.
    #[error("keys: {0}")]
    Keys(String),
    /// The secrets cannot be searched for.
    #[error("headers: too many or too long values")]
    Secrets,
}
