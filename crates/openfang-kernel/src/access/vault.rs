//! The vault: secrets of the operator, each sealed under a key of the home and lent only to whom it belongs.
//!
//! A secret is bound to its first user at one place: an MCP server, an external agent or a provider of models. Whoever else names it is refused
//! until the operator allows it. So an entry that is changed to another address does not take the secret along.
//!
//! ```text
//! stored ──> bound to its first user ──> lent to that user, and to those that the operator allows
//! ```
//!
//! Everything here reads and writes a small file, and blocks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use openfang_types::clock::Clock;
use openfang_types::ids::{AgentName, ProviderName, SecretName, ServerName};
use openfang_types::limits::{SECRET_MAX_BYTES, SECRET_MIN_CHARS, SECRETS_PER_HOME};
use openfang_types::nearest::nearest;
use openfang_types::secret::Secret;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::keys::{Keys, Purpose};
use crate::settings::home::Home;

pub use error::VaultError;
use file::{SealedSecret, VaultFile};

mod error;
mod file;

/// How exactly the last use is known.
const LAST_USE: SignedDuration = SignedDuration::from_mins(1);

/// Who uses a secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretUser {
    McpServer(ServerName),
    A2aAgent(AgentName),
    /// A provider of models.
    Provider(ProviderName),
}

/// A user of a secret, and the place that the secret goes to: an origin, or a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretUse {
    pub user: SecretUser,
    /// The origin of the URL, or the program.
    pub place: String,
}

/// A secret, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub name: SecretName,
    pub created_at: Timestamp,
    /// When it was used last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// Who may use it. Whoever uses a secret first is bound to it.
    pub uses: Vec<SecretUse>,
}

/// The secrets that an entry was lent.
pub(crate) struct Loan {
    pub(crate) secrets: BTreeMap<String, Secret>,
    /// The secrets that this use is the first of.
    pub(crate) bound: Vec<SecretName>,
}

/// The stored secrets of a home.
pub(crate) struct Vault {
    file: VaultFile,
    key: RandomizedNonceKey,
    key_id: String,
    clock: Arc<dyn Clock>,
    /// Every value that this process has seen. One that was replaced or removed is still not shown.
    seen: Mutex<BTreeSet<String>>,
}

impl Vault {
    pub(crate) fn of(home: &Home, keys: &Keys, clock: Arc<dyn Clock>) -> Self {
        let key = keys.derive(Purpose::StoredSecret);
        #[expect(clippy::expect_used, reason = "a key of AES-256 has 32 bytes, and so has every derived key")]
        let key = RandomizedNonceKey::new(&AES_256_GCM, &key).expect("the derived key has 32 bytes");
        Self { file: VaultFile::of(home), key, key_id: keys.id(), clock, seen: Mutex::default() }
    }

    /// All values that are known, for whoever takes them out of texts. A secret that cannot be opened is left out.
    pub(crate) fn values(&self) -> Vec<Secret> {
        let stored = self.file.read().unwrap_or_else(|error| {
            tracing::error!(%error, "the stored secrets cannot be read");
            BTreeMap::new()
        });
        for (name, sealed) in &stored {
            // Whoever uses the secret is told why it cannot be opened.
            let _ = self.open(name, sealed);
        }
        self.seen().iter().cloned().map(Secret::new).collect()
    }

    pub(crate) fn list(&self) -> Result<Vec<SecretView>, VaultError> {
        Ok(self.file.read()?.into_iter().map(|(name, sealed)| sealed.view(name)).collect())
    }

    /// Stores a secret, in the place of one of the same name. Its users stay.
    pub(crate) fn set(&self, name: &SecretName, value: &Secret) -> Result<SecretView, VaultError> {
        check(value)?;
        let sealed = self.seal(name, value)?;
        let now = self.clock.now();
        self.file.change(|secrets| {
            if secrets.len() >= SECRETS_PER_HOME && !secrets.contains_key(name) {
                return Err(VaultError::TooMany { limit: SECRETS_PER_HOME });
            }
            let before = secrets.remove(name);
            let kept = SealedSecret {
                sealed,
                key: self.key_id.clone(),
                created_at: now,
                last_used: before.as_ref().and_then(|before| before.last_used),
                uses: before.map(|before| before.uses).unwrap_or_default(),
            };
            secrets.insert(name.clone(), kept.clone());
            Ok(kept.view(name.clone()))
        })
    }

    pub(crate) fn remove(&self, name: &SecretName) -> Result<(), VaultError> {
        self.file.change(|secrets| match secrets.remove(name) {
            Some(_) => Ok(()),
            None => Err(unknown(name, secrets)),
        })
    }

    /// Lets one more user have a secret.
    pub(crate) fn allow(&self, name: &SecretName, usage: SecretUse) -> Result<SecretView, VaultError> {
        self.file.change(|secrets| {
            let Some(secret) = secrets.get_mut(name) else { return Err(unknown(name, secrets)) };
            secret.uses.retain(|known| known.user != usage.user);
            secret.uses.push(usage);
            Ok(secret.clone().view(name.clone()))
        })
    }

    /// Lends the secrets that an entry names. A secret that is not stored is left out; whoever fills it in says so.
    pub(crate) fn lend(&self, names: &BTreeSet<&str>, usage: &SecretUse) -> Result<Loan, VaultError> {
        let mut loan = Loan { secrets: BTreeMap::new(), bound: Vec::new() };
        if names.is_empty() {
            return Ok(loan);
        }
        let now = self.clock.now();
        self.file.change(|secrets| {
            for (name, kept) in secrets.iter_mut().filter(|(name, _)| names.contains(name.as_str())) {
                let value = self.open(name, kept)?;
                if kept.uses.is_empty() {
                    kept.uses.push(usage.clone());
                    loan.bound.push(name.clone());
                } else if !kept.uses.contains(usage) {
                    return Err(VaultError::BoundElsewhere {
                        name: name.clone(),
                        to: kept.uses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
                        asked: usage.clone(),
                    });
                }
                if kept.last_used.is_none_or(|last| now.duration_since(last) >= LAST_USE) {
                    kept.last_used = Some(now);
                }
                loan.secrets.insert(name.to_string(), value);
            }
            Ok(())
        })?;
        Ok(loan)
    }

    fn seal(&self, name: &SecretName, value: &Secret) -> Result<String, VaultError> {
        let mut sealed = value.expose().as_bytes().to_vec();
        let nonce = self
            .key
            .seal_in_place_append_tag(aad(name), &mut sealed)
            .map_err(|_| VaultError::Unsealed)?;
        self.seen().insert(value.expose().to_owned());
        Ok(STANDARD.encode([&nonce.as_ref()[..], &sealed].concat()))
    }

    fn open(&self, name: &SecretName, kept: &SealedSecret) -> Result<Secret, VaultError> {
        let broken = || VaultError::Unopened { name: name.clone() };
        let bytes = STANDARD.decode(&kept.sealed).map_err(|_| broken())?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN).ok_or_else(broken)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| broken())?;
        let mut sealed = sealed.to_vec();
        let opened = self.key.open_in_place(nonce, aad(name), &mut sealed).map_err(|_| broken())?;
        let value = String::from_utf8(opened.to_vec()).map_err(|_| broken())?;
        self.seen().insert(value.clone());
        Ok(Secret::new(value))
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of the secrets that a home stores. Needs no key.
pub fn stored_secrets(home: &Home) -> Result<Vec<SecretName>, VaultError> {
    Ok(VaultFile::of(home).read()?.into_keys().collect())
}

/// A sealed value belongs to its name, so that two cannot be exchanged in the file.
fn aad(name: &SecretName) -> Aad<Vec<u8>> {
    Aad::from(format!("openfang secret {name}").into_bytes())
}

fn check(value: &Secret) -> Result<(), VaultError> {
    let text = value.expose();
    if text.chars().count() < SECRET_MIN_CHARS || text.len() > SECRET_MAX_BYTES || text.contains('\0') {
        return Err(VaultError::Value);
    }
    Ok(())
}

fn unknown(name: &SecretName, secrets: &BTreeMap<SecretName, SealedSecret>) -> VaultError {
    let nearest = nearest(name.as_str(), secrets.keys().map(SecretName::as_str));
    VaultError::Unknown { name: name.clone(), nearest: nearest.and_then(|known| known.parse().ok()) }
}

impl fmt::Display for SecretUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::McpServer(name) => write!(f, "server:{name}"),
            Self::A2aAgent(name) => write!(f, "agent:{name}"),
            Self::Provider(name) => write!(f, "provider:{name}"),
        }
    }
}

impl std::str::FromStr for SecretUser {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("server", name)) => name.parse().map(Self::McpServer).map_err(|error| format!("{error}")),
            Some(("agent", name)) => name.parse().map(Self::A2aAgent).map_err(|error| format!("{error}")),
            Some(("provider", name)) => name.parse().map(Self::Provider).map_err(|error| format!("{error}")),
            Some(_) | None => Err(format!(
                "{text:?} is not server:NAME (an MCP server), agent:NAME (an A2A agent) or provider:NAME (a provider of models)"
            )),
        }
    }
}

impl JsonSchema for SecretUser {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SecretUser".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "`server:NAME` or `agent:NAME`" })
    }
}

impl Serialize for SecretUser {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SecretUser {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for SecretUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.user, self.place)
    }
}

#[cfg(test)]
#[path = "vault_tests.rs"]
mod tests;
