//! Why the vault does not do something. No message has a value in it.

use openfang_types::ids::SecretName;
use openfang_types::limits::{SECRET_MAX_BYTES, SECRET_MIN_CHARS};

use super::SecretUse;

/// Why something about stored secrets was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error("there is no secret {name}{}", nearest.as_ref().map(|known| format!(" (did you mean {known}?)")).unwrap_or_default())]
    Unknown {
        name: SecretName,
        /// The one that was probably meant.
        nearest: Option<SecretName>,
    },
    #[error("a secret has at least {SECRET_MIN_CHARS} characters, at most {SECRET_MAX_BYTES} bytes and no NUL")]
    Value,
    #[error("the limit of {limit} secrets is reached; remove one first")]
    TooMany { limit: usize },
    /// The entry that names the secret is not the one it belongs to.
    #[error(
        "the secret {name} belongs to {to} and is not given to {asked}; allow it with `openfang secret allow {name} {}`",
        asked.user
    )]
    BoundElsewhere {
        name: SecretName,
        /// Who may use it.
        to: String,
        asked: SecretUse,
    },
    /// There is nobody of that name who could use the secret.
    #[error("{0} is not configured; add it first")]
    NoSuchUser(String),
    /// The value was sealed with another key, or was changed.
    #[error(
        "the secret {name} cannot be opened with the key of this home; store it again with `openfang secret set {name}`"
    )]
    Unopened { name: SecretName },
    #[error("the secret could not be sealed")]
    Unsealed,
    /// A secret would decide where it is sent.
    #[error(
        "a secret cannot be part of the host of a URL; write the host, and the secret in a header, the path or the query"
    )]
    InHost,
    #[error("{path} cannot be used: {cause}")]
    File { path: String, cause: String },
}

impl VaultError {
    /// The word for API errors and the audit log.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_secret",
            Self::Value => "invalid_secret",
            Self::TooMany { .. } => "too_many",
            Self::BoundElsewhere { .. } => "secret_bound",
            Self::NoSuchUser(_) => "unknown_user_of_secret",
            Self::Unopened { .. } => "secret_unopened",
            Self::Unsealed => "secret_unsealed",
            Self::InHost => "secret_in_host",
            Self::File { .. } => "secrets_unusable",
        }
    }
}
