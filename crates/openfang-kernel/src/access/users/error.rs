//! What cannot be done to users, keys and logins, and what to do instead.

use openfang_types::ids::{KeyId, Owner};
use openfang_types::principal::GrantError;

/// Why something about users was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// There is no user of that name.
    #[error("there is no user {name}{}", did_you_mean(nearest.as_ref()))]
    Unknown {
        name: Owner,
        /// The one that was probably meant.
        nearest: Option<Owner>,
    },
    /// There is a user of that name.
    #[error("the user {0} already exists; change the grants of that user instead")]
    Exists(Owner),
    /// There was a user of that name.
    #[error(
        "a removed user was named {0}, and their data is kept; choose another name, or pass the data on by adding the user `again`"
    )]
    Former(Owner),
    /// The name means somebody already.
    #[error("{0} is a reserved name; choose another one")]
    Reserved(Owner),
    /// A grant is none.
    #[error(transparent)]
    Grant(GrantError),
    /// A grant that is to go is not there.
    #[error("the user does not have the grant {grant}; grants are removed as they are written")]
    NotGranted { grant: String },
    /// There is no key of that id.
    #[error("there is no key {0}")]
    UnknownKey(KeyId),
    /// A key's label cannot be used.
    #[error("a label has at most 80 characters and no control characters")]
    Label,
    /// A key cannot be trusted like that.
    #[error("the label of a key must be user or untrusted-agent, or absent")]
    EntryLabel,
    /// A key would open nothing.
    #[error("the key would have expired already; choose a later time")]
    Expired,
    /// The password cannot be used.
    #[error("a password has at least 10 characters and at most 1,024 bytes; choose another one")]
    Password,
    /// The name or the password is not right; which, nobody is told.
    #[error("wrong user name or password")]
    WrongLogin,
    /// As many log in as there may be at a time.
    #[error("too many concurrent logins; retry in a moment")]
    Busy,
    /// There are as many as there may be.
    #[error("the limit of {limit} {what} is reached; remove one first")]
    TooMany {
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
}

impl UserError {
    /// The word for API errors and the audit log.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_user",
            Self::Exists(_) => "user_exists",
            Self::Former(_) => "former_user",
            Self::Reserved(_) => "reserved_name",
            Self::Grant(_) => "invalid_grant",
            Self::NotGranted { .. } => "not_granted",
            Self::UnknownKey(_) => "unknown_key",
            Self::Label => "invalid_label",
            Self::EntryLabel => "invalid_entry_label",
            Self::Expired => "expired",
            Self::Password => "invalid_password",
            Self::WrongLogin => "wrong_login",
            Self::Busy => "login_busy",
            Self::TooMany { .. } => "too_many",
        }
    }
}

fn did_you_mean(nearest: Option<&Owner>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}
