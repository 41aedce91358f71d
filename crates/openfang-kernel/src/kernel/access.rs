//! Who is there and who may be: the names under which the room of access is asked.

use std::sync::Arc;

use openfang_types::config::NamedProfile;
use openfang_types::ids::{KeyId, Owner, ProfileName, TraceId};
use openfang_types::principal::Principal;
use openfang_types::secret::Secret;
use tokio_util::sync::CancellationToken;

use super::Kernel;
use crate::KernelError;
use crate::access::users::{GrantsChange, KeyView, KeyWanted, LoggedIn, LoginPeer, MadeKey, Me, UserView, UserWanted};
use crate::access::{AuthError, Caller, PeerKind};

impl Kernel {
    /// Who presents this credential.
    pub fn authenticate(&self, presented: Option<&str>, peer: PeerKind) -> Result<Arc<Principal>, AuthError> {
        self.parts.access.authenticate(presented, peer)
    }

    /// Who presents the cookie of a login.
    pub fn recognise(&self, cookie: &str) -> Result<Arc<Principal>, AuthError> {
        self.parts.access.credentials().recognise(cookie)
    }

    /// The caller, narrowed by a profile of the configuration.
    pub fn narrowed(&self, caller: Caller, name: &ProfileName) -> Result<Caller, KernelError> {
        let profile = Arc::new(NamedProfile { name: name.clone(), profile: self.settings().profile(name)? });
        let principal = Arc::unwrap_or_clone(caller.principal).narrowed_by(profile);
        Ok(Caller { principal: Arc::new(principal), ..caller })
    }

    /// Fires when the caller's credential is revoked, its user is removed or is granted something else: whatever stays
    /// open on it ends then.
    pub fn revoked(&self, caller: &Caller) -> CancellationToken {
        self.parts.access.revoked(caller)
    }

    /// The token of this start; whoever can read it is the operator.
    pub fn daemon_token(&self) -> &Secret {
        self.parts.access.credentials().daemon_token()
    }

    /// Proves to a client that this server knows the daemon token.
    pub fn prove(&self, challenge: &str) -> String {
        self.parts.access.credentials().prove(challenge)
    }

    /// All users, by name.
    pub async fn users(&self, caller: &Caller) -> Result<Vec<UserView>, KernelError> {
        self.parts.access.users(caller).await
    }

    pub async fn add_user(&self, caller: &Caller, wanted: UserWanted) -> Result<UserView, KernelError> {
        self.parts.access.add_user(caller, wanted).await
    }

    /// Removes a user and revokes its keys and logins. What it made stays, and is nobody's.
    pub async fn remove_user(&self, caller: &Caller, name: &Owner) -> Result<(), KernelError> {
        self.parts.access.remove_user(caller, name).await
    }

    /// Replaces what a user is granted. What is open on the old grants ends.
    pub async fn set_user_grants(
        &self,
        caller: &Caller,
        name: &Owner,
        grants: Vec<String>,
    ) -> Result<UserView, KernelError> {
        self.change_user_grants(caller, name, GrantsChange::Set(grants)).await
    }

    /// Changes what a user is granted, as a whole or one by one.
    pub async fn change_user_grants(
        &self,
        caller: &Caller,
        name: &Owner,
        change: GrantsChange,
    ) -> Result<UserView, KernelError> {
        self.parts.access.change_user_grants(caller, name, change).await
    }

    /// The operator in the place of a user, or any caller in its own place.
    pub async fn in_place_of(&self, caller: Caller, user: Option<&Owner>) -> Result<Caller, KernelError> {
        self.parts.access.in_place_of(caller, user).await
    }

    /// Replaces a user's password, or takes it away. Logins with the old one end.
    pub async fn set_user_password(
        &self,
        caller: &Caller,
        name: &Owner,
        password: Option<Secret>,
    ) -> Result<UserView, KernelError> {
        self.parts.access.set_user_password(caller, name, password).await
    }

    /// The keys of one user or of all, also those that were revoked not long ago.
    pub async fn user_keys(&self, caller: &Caller, name: Option<&Owner>) -> Result<Vec<KeyView>, KernelError> {
        self.parts.access.user_keys(caller, name).await
    }

    /// Makes a key. This is the only time that it is shown.
    pub async fn create_user_key(&self, caller: &Caller, wanted: KeyWanted) -> Result<MadeKey, KernelError> {
        self.parts.access.create_user_key(caller, wanted).await
    }

    /// Revokes a key. What is open on it ends.
    pub async fn revoke_user_key(&self, caller: &Caller, id: &KeyId) -> Result<KeyView, KernelError> {
        self.parts.access.revoke_user_key(caller, id).await
    }

    /// Lets a user in who knows their password. `peer` says whose turn comes first when many try.
    pub async fn log_in(
        &self,
        trace: TraceId,
        name: &str,
        password: Secret,
        peer: LoginPeer,
    ) -> Result<LoggedIn, KernelError> {
        self.parts.access.log_in(trace, name, password, peer).await
    }

    /// Ends the login that the caller came with. Says whether there was one.
    pub async fn log_out(&self, caller: &Caller) -> Result<bool, KernelError> {
        self.parts.access.log_out(caller).await
    }

    /// Who the caller is.
    pub fn me(&self, caller: &Caller) -> Me {
        Me::new(&caller.principal)
    }
}
