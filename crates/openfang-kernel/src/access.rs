//! Who is there: credentials become principals, and the door a request came through becomes its first label.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use openfang_types::ids::TraceId;
use openfang_types::principal::{AdminProof, Door, Principal, Standing};
use openfang_types::secret::Secret;
use openfang_types::taint::{Label, Labels};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A principal, with the request it makes.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who.
    pub principal: Arc<Principal>,
    /// Through which door.
    pub door: Door,
    /// In which request.
    pub trace: TraceId,
}

impl Caller {
    /// What the request brings with it: the label of its door, then of its credential.
    pub fn entry_labels(&self) -> Labels {
        match (self.door, self.principal.standing()) {
            (Door::Agent, _) => Labels::none(), // the labels of the calling run travel instead
            (Door::Cli, Standing::Admin(_)) => Labels::one(Label::Operator, "the command line"),
            (Door::A2a, _) => Labels::one(Label::UntrustedAgent, "an A2A caller"),
            (Door::Cli | Door::Rest | Door::Mcp, Standing::Admin(_) | Standing::User(_)) => {
                Labels::one(Label::User, "a caller with a credential")
            }
            (Door::Cli | Door::Rest | Door::Mcp, Standing::Local) => {
                Labels::one(Label::UntrustedAgent, "a local caller without a credential")
            }
        }
    }
}

/// Why a caller was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No credential was given, and one is needed.
    #[error("a credential is needed: send the header `Authorization: Bearer <api_key>`")]
    Missing,
    /// The credential is not one of ours.
    #[error("the credential is not valid")]
    Invalid,
}

/// Where a request came from, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerKind {
    /// This machine.
    Loopback,
    /// Anywhere else.
    Remote,
}

/// What callers can prove to know.
pub(crate) struct Credentials {
    api_key: Option<[u8; 32]>,
    daemon_token: Secret,
    daemon_digest: [u8; 32],
    /// Who callers turn out to be; made once, because every request is somebody's.
    local: Arc<Principal>,
    daemon: Arc<Principal>,
    admin: Arc<Principal>,
}

impl Credentials {
    /// The configured key and a fresh token for this start.
    pub(crate) fn new(api_key: Option<&Secret>) -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            api_key: api_key.map(|key| digest(key.expose())),
            daemon_digest: digest(&token),
            daemon_token: Secret::new(token),
            local: Arc::new(Principal::local()),
            daemon: Arc::new(Principal::admin(AdminProof::DaemonToken)),
            admin: Arc::new(Principal::admin(AdminProof::ApiKey)),
        })
    }

    pub(crate) const fn daemon_token(&self) -> &Secret {
        &self.daemon_token
    }

    /// Whether anybody has a credential that was given to them.
    pub(crate) const fn is_configured(&self) -> bool {
        self.api_key.is_some()
    }

    /// Digests are compared, all of them and in constant time: a wrong key takes the path of a right one.
    pub(crate) fn authenticate(&self, presented: Option<&str>, peer: PeerKind) -> Result<Arc<Principal>, AuthError> {
        let Some(presented) = presented else {
            return match (self.api_key, peer) {
                (None, PeerKind::Loopback) => Ok(Arc::clone(&self.local)),
                (Some(_), _) | (None, PeerKind::Remote) => Err(AuthError::Missing),
            };
        };
        let presented = digest(presented);
        let is_daemon = presented.ct_eq(&self.daemon_digest);
        let is_key = presented.ct_eq(&self.api_key.unwrap_or_default());
        match (bool::from(is_daemon), bool::from(is_key) && self.api_key.is_some()) {
            // The token lies in a file of this machine; elsewhere it proves no more than a key does.
            (true, _) if peer == PeerKind::Remote => Ok(Arc::clone(&self.admin)),
            (true, _) => Ok(Arc::clone(&self.daemon)),
            (false, true) => Ok(Arc::clone(&self.admin)),
            (false, false) => Err(AuthError::Invalid),
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
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
