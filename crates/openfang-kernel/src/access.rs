//! Who is there: credentials become principals, and the door a request came through becomes its first label.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use openfang_store::{AuditStore, SecretDigest, UserStore};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::ids::TraceId;
use openfang_types::principal::{AdminProof, Door, Principal, PrincipalKind};
use openfang_types::secret::Secret;
use openfang_types::taint::{A2A_CALLER, LOCAL_CALLER, Label, Labels};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

pub(crate) mod accounts;
pub(crate) mod answer_room;
pub(crate) mod keys;
pub mod users;
pub mod vault;

use self::accounts::Accounts;
use self::answer_room::AnswerRoom;
use self::keys::Keys;
use self::users::Passwords;
use self::vault::Vault;
use crate::change::ChangeRecorder;
use crate::drain::Life;
use crate::settings::{AdminKey, LiveSettings};

/// A principal, with the request it makes.
#[derive(Debug, Clone)]
pub struct Caller {
    pub principal: Arc<Principal>,
    pub door: Door,
    pub trace: TraceId,
    /// How many agents called agents until this request was made.
    pub hops: u8,
    /// Where its large answers are counted; none if nobody counts them.
    pub room: Option<Arc<dyn AnswerRoom>>,
}

impl Caller {
    /// Whether a person speaks, as far as the door and the credential say.
    pub fn is_person(&self) -> bool {
        let labels = self.entry_labels();
        (labels.contains(Label::User) || labels.contains(Label::Operator)) && !labels.iter().any(Label::is_foreign)
    }

    /// What the request brings with it: the label of its door, then of its credential.
    pub fn entry_labels(&self) -> Labels {
        if let (Door::Cli | Door::Rest | Door::Mcp | Door::A2a, Some(label)) = (self.door, self.principal.entry_label())
        {
            return Labels::one(label, "a key that says so");
        }
        match (self.door, self.principal.standing()) {
            (Door::Agent, _) => Labels::none(), // the labels of the calling run travel instead
            (Door::Cli, PrincipalKind::Admin(_)) => Labels::one(Label::Operator, "the command line"),
            (Door::A2a, _) => Labels::one(Label::UntrustedAgent, A2A_CALLER),
            (Door::Cli | Door::Rest | Door::Mcp, PrincipalKind::Admin(_) | PrincipalKind::User(_)) => {
                Labels::one(Label::User, "a caller with a credential")
            }
            (Door::Cli | Door::Rest | Door::Mcp, PrincipalKind::Local) => {
                Labels::one(Label::UntrustedAgent, LOCAL_CALLER)
            }
        }
    }
}

/// Who may do what, and how callers prove who they are. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Access {
    inner: Arc<Inner>,
}

struct Inner {
    credentials: Credentials,
    keys: Keys,
    vault: Arc<Vault>,
    passwords: Passwords,
    settings: Arc<LiveSettings>,
    users: Arc<dyn UserStore>,
    audit: Arc<dyn AuditStore>,
    changes: ChangeRecorder,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    life: Life,
}

/// What the room of access is made with.
pub(crate) struct AccessParts {
    pub(crate) credentials: Credentials,
    pub(crate) keys: Keys,
    pub(crate) vault: Arc<Vault>,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) users: Arc<dyn UserStore>,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) changes: ChangeRecorder,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) life: Life,
}

impl Access {
    pub(crate) fn new(parts: AccessParts) -> Self {
        let AccessParts { credentials, keys, vault, settings, users, audit, changes, clock, ids, life } = parts;
        let passwords = Passwords::default();
        let inner = Inner { credentials, keys, vault, passwords, settings, users, audit, changes, clock, ids, life };
        Self { inner: Arc::new(inner) }
    }

    /// The secrets that the home stores.
    pub(crate) fn vault(&self) -> &Arc<Vault> {
        &self.inner.vault
    }

    /// What callers can prove to know.
    pub(crate) fn credentials(&self) -> &Credentials {
        &self.inner.credentials
    }

    /// The keys of this home, for what it seals and signs.
    pub(crate) fn keys(&self) -> &Keys {
        &self.inner.keys
    }

    /// Who presents this credential.
    pub(crate) fn authenticate(&self, presented: Option<&str>, peer: PeerKind) -> Result<Arc<Principal>, AuthError> {
        let settings = self.inner.settings.current();
        let principal = self.inner.credentials.authenticate(settings.admin_key(), presented, peer)?;
        match principal.key_profile() {
            Some(name) => Ok(Arc::new(settings.narrowed_to(Principal::clone(&principal), name))),
            None => Ok(principal),
        }
    }

    /// Fires when the caller's credential is revoked, its user is removed or is granted something else: whatever stays
    /// open on it ends then.
    pub(crate) fn revoked(&self, caller: &Caller) -> CancellationToken {
        let settings = self.inner.settings.current();
        self.inner.credentials.revoked(settings.admin_key(), &caller.principal)
    }

    /// Whether anybody has a credential that was given to them.
    pub(crate) fn is_guarded(&self) -> bool {
        self.inner.credentials.is_configured(self.inner.settings.current().admin_key())
    }

    /// Whether there is any user.
    pub(crate) fn has_users(&self) -> bool {
        self.inner.credentials.accounts().has_users()
    }
}

/// Why a caller was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No credential was given, and one is needed.
    #[error(
        "a credential is required: send the header `Authorization: Bearer <key>` with the api_key or the key of a user"
    )]
    Missing,
    /// The cookie is of a login that has ended.
    #[error("the login has ended: log in again")]
    Ended,
    /// The credential is not one of ours.
    #[error("the credential is not valid")]
    Invalid,
}

/// Where a request came from, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerKind {
    Loopback,
    Remote,
}

/// What callers can prove to know.
pub(crate) struct Credentials {
    daemon_token: Secret,
    daemon_digest: [u8; 32],
    /// Who callers turn out to be; made once, because every request is somebody's.
    local: Arc<Principal>,
    daemon: Arc<Principal>,
    admin: Arc<Principal>,
    accounts: Arc<Accounts>,
}

impl Credentials {
    /// The users, and a fresh token for this start.
    pub(crate) fn new(accounts: Arc<Accounts>) -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            daemon_digest: digest(&token),
            daemon_token: Secret::new(token),
            local: Arc::new(Principal::local()),
            daemon: Arc::new(Principal::admin(AdminProof::DaemonToken)),
            admin: Arc::new(Principal::admin(AdminProof::ApiKey)),
            accounts,
        })
    }

    /// The admin's key, as it is configured.
    pub(crate) fn admin_key(&self, api_key: Option<&Secret>) -> Arc<AdminKey> {
        Arc::new(AdminKey::new(api_key, &self.accounts.closing_for_strangers()))
    }

    pub(crate) const fn daemon_token(&self) -> &Secret {
        &self.daemon_token
    }

    /// The users, and what proves to be them.
    pub(crate) const fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    /// Whether anybody has a credential that was given to them.
    pub(crate) fn is_configured(&self, key: &AdminKey) -> bool {
        key.is_set() || self.accounts.has_seen_users()
    }

    /// Digests are compared, all of them and in constant time: a wrong key takes the path of a right one. Users' keys are
    /// found by their digests, which nobody can choose.
    pub(crate) fn authenticate(
        &self,
        key: &AdminKey,
        presented: Option<&str>,
        peer: PeerKind,
    ) -> Result<Arc<Principal>, AuthError> {
        let Some(presented) = presented else {
            return match (self.is_configured(key), peer) {
                (false, PeerKind::Loopback) => Ok(Arc::clone(&self.local)),
                (true, _) | (false, PeerKind::Remote) => Err(AuthError::Missing),
            };
        };
        let digest = SecretDigest::of(presented);
        let is_daemon = digest.as_bytes().ct_eq(&self.daemon_digest);
        let is_key = digest.as_bytes().ct_eq(&key.digest());
        match (bool::from(is_daemon), bool::from(is_key) && key.is_set()) {
            // The token lies in a file of this machine; elsewhere it proves no more than a key does.
            (true, _) if peer == PeerKind::Remote => Ok(Arc::clone(&self.admin)),
            (true, _) => Ok(Arc::clone(&self.daemon)),
            (false, true) => Ok(Arc::clone(&self.admin)),
            (false, false) => self.accounts.by_key(&digest).ok_or(AuthError::Invalid),
        }
    }

    /// Who the cookie of a login belongs to.
    pub(crate) fn recognise(&self, cookie: &str) -> Result<Arc<Principal>, AuthError> {
        self.accounts.by_login(&SecretDigest::of(cookie)).ok_or(AuthError::Ended)
    }

    /// Fires when this principal's credential is worth nothing any more; for what stays open.
    pub(crate) fn revoked(&self, key: &AdminKey, principal: &Principal) -> CancellationToken {
        match principal.standing() {
            PrincipalKind::Admin(AdminProof::ApiKey) if key.is_set() => key.revoked().clone(),
            PrincipalKind::Admin(_) => CancellationToken::new(),
            PrincipalKind::Local if !key.is_set() => key.revoked().clone(),
            // A key was set while the request was on its way.
            PrincipalKind::Local => {
                let fired = CancellationToken::new();
                fired.cancel();
                fired
            }
            PrincipalKind::User(_) => principal
                .credential()
                .map_or_else(CancellationToken::new, |credential| self.accounts.revoked(credential)),
        }
    }

    /// Proves to a client that we know the daemon token, without showing it.
    pub(crate) fn prove(&self, challenge: &str) -> String {
        prove(self.daemon_token.expose(), challenge)
    }
}

/// The proof that a server knows `token`.
fn prove(token: &str, challenge: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(token.as_bytes()) else { return String::new() };
    mac.update(b"openfang daemon proof\0");
    mac.update(challenge.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn digest(text: &str) -> [u8; 32] {
    *SecretDigest::of(text).as_bytes()
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
