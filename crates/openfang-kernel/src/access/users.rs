//! Users and their keys: who may change them, what a change is, and what is shown of them. Only the admin does any of
//! it; every change is in the audit log, and is in force when it returns.
//!
//! `grants.rs` changes what they are granted, `login.rs` lets users in by password, `passwords.rs` hashes, `turns.rs` says whose password is hashed next, `error.rs` says what cannot be done.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use openfang_store::{ChangeAction, ChangeTarget, NewKey, NewUser, SecretDigest, StoreError, UserKey};
use openfang_types::ids::{KeyId, Owner, ProfileName};
use openfang_types::limits::{GRANTS_PER_USER, KEY_ID_CHARS, KEY_LABEL_MAX_CHARS, KEY_SECRET_BYTES};
use openfang_types::nearest::nearest;
use openfang_types::principal::{Grants, PrincipalKind};
use openfang_types::secret::Secret;
use openfang_types::taint::Label;

use crate::access::Access;
use crate::change::Change;
use crate::{Caller, KernelError};

pub use error::UserError;
pub use grants::GrantsChange;
pub use login::LoggedIn;
pub(crate) use passwords::Passwords;
pub use turns::LoginPeer;
pub use view::{KeyView, MadeKey, Me, UserView};

mod error;
mod grants;
mod login;
mod passwords;
mod turns;
mod view;

/// What every key begins with.
const KEY_PREFIX: &str = "ofk";

/// A user that is wanted.
#[derive(Debug, Clone)]
pub struct UserWanted {
    pub name: Owner,
    /// What is granted, as it is written.
    pub grants: Vec<String>,
    /// The password, if they may log in.
    pub password: Option<Secret>,
    /// Whether they follow a user of the same name who was removed, and own what that one left.
    pub again: bool,
}

/// A key that is wanted.
#[derive(Debug, Clone)]
pub struct KeyWanted {
    pub user: Owner,
    /// What it is for.
    pub label: String,
    /// What its requests are labelled, if not by their door.
    pub entry_label: Option<Label>,
    /// The profile that narrows its requests.
    pub profile: Option<ProfileName>,
    /// Until when it opens anything.
    pub expires_at: Option<Timestamp>,
}

impl Access {
    /// All users, by name.
    pub(crate) async fn users(&self, caller: &Caller) -> Result<Vec<UserView>, KernelError> {
        may_administer(caller)?;
        let (users, keys) = (self.inner.users.users().await?, self.inner.users.keys(None).await?);
        Ok(users.into_iter().map(|user| UserView::new(user, &keys)).collect())
    }

    pub(crate) async fn add_user(&self, caller: &Caller, wanted: UserWanted) -> Result<UserView, KernelError> {
        let UserWanted { name, grants, password, again } = wanted;
        let allowed = may_administer(caller)
            .and_then(|()| check_name(&name))
            .and_then(|()| check_grants(&grants));
        let access = self.clone();
        self.inner
            .changes
            .make(of_user(caller, ChangeAction::Add, &name), allowed, async move {
                let password_hash = match password {
                    Some(password) => Some(access.hashed(password).await?),
                    None => None,
                };
                let created_at = access.inner.clock.now();
                let new = NewUser { name: name.clone(), grants, password_hash, created_at, follows: again };
                match access.inner.users.add_user(new).await {
                    Err(StoreError::Conflict) => return Err(access.name_is_taken(name).await?),
                    added => added.map_err(refused)?,
                }
                access.refresh_accounts().await?;
                access.user_view(&name).await
            })
            .await
    }

    /// Removes a user: its keys and logins are worth nothing from now on. What it made stays, and is nobody's.
    pub(crate) async fn remove_user(&self, caller: &Caller, name: &Owner) -> Result<(), KernelError> {
        let (access, gone) = (self.clone(), name.clone());
        let change = of_user(caller, ChangeAction::Remove, name);
        self.inner
            .changes
            .make(change, may_administer(caller), async move {
                let at = access.inner.clock.now();
                access.known(&gone, access.inner.users.remove_user(&gone, at).await).await?;
                Ok(access.refresh_accounts().await?)
            })
            .await
    }

    /// Replaces a user's password, or takes it away. Logins with the old one end.
    pub(crate) async fn set_user_password(
        &self,
        caller: &Caller,
        name: &Owner,
        password: Option<Secret>,
    ) -> Result<UserView, KernelError> {
        let change = of_user(caller, ChangeAction::SetPassword, name);
        let (access, name) = (self.clone(), name.clone());
        self.inner
            .changes
            .make(change, may_administer(caller), async move {
                let hash = match password {
                    Some(password) => Some(access.hashed(password).await?),
                    None => None,
                };
                access.known(&name, access.inner.users.set_password(&name, hash).await).await?;
                access.refresh_accounts().await?;
                access.user_view(&name).await
            })
            .await
    }

    /// The keys of one user or of all, also those that were revoked not long ago.
    pub(crate) async fn user_keys(&self, caller: &Caller, name: Option<&Owner>) -> Result<Vec<KeyView>, KernelError> {
        may_administer(caller)?;
        self.note_key_uses().await;
        let keys = self.inner.users.keys(name).await?;
        if let Some(name) = name.filter(|_| keys.is_empty()) {
            self.known(name, self.inner.users.user(name).await).await?;
        }
        Ok(keys.into_iter().map(KeyView::from).collect())
    }

    /// Makes a key. This is the only time that it is shown.
    pub(crate) async fn create_user_key(&self, caller: &Caller, wanted: KeyWanted) -> Result<MadeKey, KernelError> {
        let KeyWanted { user, label, entry_label, profile, expires_at } = wanted;
        let id = self.new_key_id();
        let allowed = may_administer(caller)
            .and_then(|()| check_label(&label))
            .and_then(|()| check_entry_label(entry_label))
            .and_then(|()| self.check_profile(profile.as_ref()))
            .and_then(|()| match expires_at {
                Some(until) if until <= self.inner.clock.now() => Err(UserError::Expired.into()),
                Some(_) | None => Ok(()),
            });
        let (access, target) = (self.clone(), ChangeTarget::Key { id: id.clone(), user: Some(user.clone()) });
        self.inner
            .changes
            .make(Change { caller, action: ChangeAction::Create, target }, allowed, async move {
                let key = Secret::new(format!("{KEY_PREFIX}_{id}_{}", random_text()?));
                let created_at = access.inner.clock.now();
                let digest = SecretDigest::of(key.expose());
                let owner = user.clone();
                let new = NewKey { id, owner, digest, label, entry_label, profile, created_at, expires_at };
                let details = KeyView::from(UserKey::from(new.clone()));
                access.known(&user, access.inner.users.add_key(new).await).await?;
                access.refresh_accounts().await?;
                Ok(MadeKey { key, details })
            })
            .await
    }

    /// Revokes a key. What is open on it ends.
    pub(crate) async fn revoke_user_key(&self, caller: &Caller, id: &KeyId) -> Result<KeyView, KernelError> {
        let target = ChangeTarget::Key { id: id.clone(), user: None };
        let change = Change { caller, action: ChangeAction::Revoke, target };
        let (access, id) = (self.clone(), id.clone());
        self.inner
            .changes
            .make(change, may_administer(caller), async move {
                let at = access.inner.clock.now();
                let revoked = match access.inner.users.revoke_key(&id, at).await {
                    Err(StoreError::NotFound) => return Err(UserError::UnknownKey(id).into()),
                    revoked => revoked?,
                };
                access.refresh_accounts().await?;
                Ok(KeyView::from(revoked))
            })
            .await
    }

    fn check_profile(&self, name: Option<&ProfileName>) -> Result<(), KernelError> {
        match name {
            Some(name) => self.inner.settings.current().profile(name).map(drop),
            None => Ok(()),
        }
    }

    async fn hashed(&self, password: Secret) -> Result<Secret, KernelError> {
        Ok(self.inner.passwords.hash(self.inner.life.tracker(), password).await?)
    }

    async fn user_view(&self, name: &Owner) -> Result<UserView, KernelError> {
        let user = self.known(name, self.inner.users.user(name).await).await?;
        Ok(UserView::new(user, &self.inner.users.keys(Some(name)).await?))
    }

    /// What the store said; if there is no such user, with the one that was probably meant.
    async fn known<T>(&self, name: &Owner, said: Result<T, StoreError>) -> Result<T, KernelError> {
        let Err(StoreError::NotFound) = said else { return said.map_err(refused) };
        let users = self.inner.users.users().await?;
        let nearest = nearest(name.as_str(), users.iter().map(|user| user.name.as_str()));
        let nearest = nearest.and_then(|held| held.parse().ok());
        Err(UserError::Unknown { name: name.clone(), nearest }.into())
    }

    async fn name_is_taken(&self, name: Owner) -> Result<KernelError, KernelError> {
        let is_former = self.inner.users.was_user(&name).await?;
        Ok(if is_former { UserError::Former(name) } else { UserError::Exists(name) }.into())
    }

    /// Long enough that two never meet; it proves nothing.
    #[expect(clippy::expect_used, reason = "a UUID begins with more than twelve hexadecimal digits")]
    fn new_key_id(&self) -> KeyId {
        let random = self.inner.ids.random().simple().to_string();
        let (id, _) = random.split_at(KEY_ID_CHARS);
        id.parse().expect("hexadecimal digits are a key id")
    }
}

fn of_user<'a>(caller: &'a Caller, action: ChangeAction, name: &Owner) -> Change<'a> {
    Change { caller, action, target: ChangeTarget::User { name: name.clone() } }
}

/// Everything that is random in a key or a cookie.
fn random_text() -> Result<String, KernelError> {
    let mut bytes = [0; KEY_SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Unavailable { why: error.to_string() })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn refused(error: StoreError) -> KernelError {
    match error {
        StoreError::TooMany { what, limit } => UserError::TooMany { what, limit }.into(),
        error => error.into(),
    }
}

fn may_administer(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) => Ok(()),
        PrincipalKind::Local | PrincipalKind::User(_) => Err(KernelError::NotPermitted(
            "only the admin can manage users and keys; send the api_key, or use the command line of the server's machine",
        )),
    }
}

fn check_name(name: &Owner) -> Result<(), KernelError> {
    if name.is_reserved() { Err(UserError::Reserved(name.clone()).into()) } else { Ok(()) }
}

fn check_grants(grants: &[String]) -> Result<(), KernelError> {
    if grants.len() > GRANTS_PER_USER {
        return Err(UserError::TooMany { what: "grants of one user", limit: GRANTS_PER_USER }.into());
    }
    let parsed = Grants::parse(grants.iter().map(String::as_str));
    parsed.map(drop).map_err(|error| UserError::Grant(error).into())
}

fn check_label(label: &str) -> Result<(), KernelError> {
    let is_fine = label.chars().count() <= KEY_LABEL_MAX_CHARS && !label.chars().any(char::is_control);
    if is_fine { Ok(()) } else { Err(UserError::Label.into()) }
}

/// A key says how far its requests are trusted, and nothing else.
fn check_entry_label(label: Option<Label>) -> Result<(), KernelError> {
    match label {
        None | Some(Label::User | Label::UntrustedAgent) => Ok(()),
        Some(
            Label::Operator
            | Label::ExternalNetwork
            | Label::McpServer
            | Label::Workspace
            | Label::Secret
            | Label::Pii
            | Label::Internal
            | Label::Private,
        ) => Err(UserError::EntryLabel.into()),
    }
}
