//! What is shown of users and keys: everything but what would let somebody in.

use jiff::Timestamp;
use openfang_store::{User, UserKey};
use openfang_types::ids::{KeyId, Owner, ProfileName};
use openfang_types::principal::{Principal, PrincipalKind};
use openfang_types::secret::Secret;
use openfang_types::taint::Label;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A user, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub name: Owner,
    pub grants: Vec<String>,
    /// Whether they may log in.
    pub has_password: bool,
    /// How many keys they have that are not revoked.
    pub keys: usize,
    pub created_at: Timestamp,
}

/// A key, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// How it is called.
    pub id: KeyId,
    pub user: Owner,
    /// What it is for.
    pub label: String,
    /// What its requests are labelled, if not by their door.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_label: Option<Label>,
    /// The profile that narrows its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    pub created_at: Timestamp,
    /// Until when it opens anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was used last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// Since when it opens nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MadeKey {
    /// The key itself, this once.
    #[serde(serialize_with = "shown_this_once")]
    pub key: Secret,
    /// What will be shown of it.
    pub details: KeyView,
}

/// Who a caller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// Whose things the caller sees.
    pub user: Owner,
    /// `admin`, `local` or `user`.
    pub standing: String,
    /// What a user is granted; others may do everything that their standing allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
}

impl UserView {
    pub(super) fn new(user: User, keys: &[UserKey]) -> Self {
        let keys = keys.iter().filter(|key| key.owner == user.name && key.revoked_at.is_none()).count();
        let User { name, grants, password_hash, created_at } = user;
        Self { name, grants, has_password: password_hash.is_some(), keys, created_at }
    }
}

impl From<UserKey> for KeyView {
    fn from(key: UserKey) -> Self {
        let UserKey {
            id,
            owner,
            digest: _,
            label,
            entry_label,
            profile,
            created_at,
            expires_at,
            last_used,
            revoked_at,
        } = key;
        Self { id, user: owner, label, entry_label, profile, created_at, expires_at, last_used, revoked_at }
    }
}

impl Me {
    pub(crate) fn new(principal: &Principal) -> Self {
        let (standing, grants) = match principal.standing() {
            PrincipalKind::Admin(_) => ("admin", Vec::new()),
            PrincipalKind::Local => ("local", Vec::new()),
            PrincipalKind::User(grants) => ("user", grants.texts()),
        };
        Self { user: principal.owner().clone(), standing: standing.to_owned(), grants }
    }
}

fn shown_this_once<S: Serializer>(key: &Secret, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(key.expose())
}
