//! Pushes of agents of other servers, which say that a task of theirs changed. They only wake up whoever follows the task:
//! what they say is not used, so a forged, repeated or late push does no harm.
//!
//! Id and secret are derived from the task, so a process that goes on with it after a crash is woken by the same pushes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openfang_a2a::operation::{PushAuthentication, PushNotificationConfig};
use openfang_runtime::answerer::PushHint;
use openfang_types::ids::TaskId;
use openfang_types::limits::EXTERNAL_PUSHES_PER_SEC;
use openfang_types::secret::Secret;
use subtle::ConstantTimeEq as _;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::access::keys::{Purpose, sign_with};
use crate::settings::agents::Agent;
use crate::tasks::{Inner, Tasks};

/// The length of an id in hexadecimal: 128 bits.
const ID_CHARS: usize = 32;

/// The pushes that this process waits for, by id.
#[derive(Default)]
pub(crate) struct PushHints {
    expected: Mutex<HashMap<String, ExpectedPush>>,
}

struct ExpectedPush {
    token: Secret,
    wake: Arc<Notify>,
    /// When the second began in which pushes are counted, and how many came.
    second: (Instant, u32),
    /// How many turns of the task wait for it.
    holders: usize,
}

/// Why a push is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushRefusal {
    /// Nobody waits for it.
    Unknown,
    /// It does not have the secret, or a wrong signature.
    WrongSecret,
    /// There were too many in this second.
    TooMany,
}

/// A push, as far as it proves where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct PushProof<'a> {
    /// What the header `X-A2A-Notification-Token` says.
    pub token: Option<&'a str>,
    /// What the header `Authorization` says.
    pub authorization: Option<&'a str>,
    /// The header `X-OpenFang-Signature`, which another OpenFang sends.
    pub signature: Option<&'a str>,
}

/// The expectation of pushes for one task. Nobody waits for them once it is dropped.
pub(crate) struct PushExpectation {
    hint: PushHint,
    id: String,
    hints: Arc<PushHints>,
}

impl PushExpectation {
    pub(crate) const fn hint(&self) -> &PushHint {
        &self.hint
    }
}

impl Drop for PushExpectation {
    fn drop(&mut self) {
        let mut expected = self.hints.lock();
        if let Some(push) = expected.get_mut(&self.id) {
            push.holders -= 1;
            if push.holders == 0 {
                expected.remove(&self.id);
            }
        }
    }
}

impl PushHints {
    fn expect(self: &Arc<Self>, id: String, token: Secret, url: String) -> PushExpectation {
        let wake = {
            let mut expected = self.lock();
            let push = expected.entry(id.clone()).or_insert_with(|| ExpectedPush {
                token: token.clone(),
                wake: Arc::default(),
                second: (Instant::now(), 0),
                holders: 0,
            });
            push.holders += 1;
            Arc::clone(&push.wake)
        };
        // Agents send the one or the other.
        let authentication = PushAuthentication { scheme: "Bearer".to_owned(), credentials: Some(token.clone()) };
        let config = PushNotificationConfig { id: None, url, token: Some(token), authentication: Some(authentication) };
        PushExpectation { hint: PushHint { config, wake }, id, hints: Arc::clone(self) }
    }

    /// Whether a push without its body is worth to be read.
    pub(crate) fn check(&self, id: &str, proof: PushProof<'_>) -> Result<(), PushRefusal> {
        let mut expected = self.lock();
        let push = expected.get_mut(id).ok_or(PushRefusal::Unknown)?;
        if !proof.has(&push.token) {
            return Err(PushRefusal::WrongSecret);
        }
        let now = Instant::now();
        if now.duration_since(push.second.0) >= Duration::from_secs(1) {
            push.second = (now, 0);
        }
        push.second.1 += 1;
        if push.second.1 > EXTERNAL_PUSHES_PER_SEC { Err(PushRefusal::TooMany) } else { Ok(()) }
    }

    /// Wakes up whoever follows the task of a push that was checked.
    pub(crate) fn take(&self, id: &str, proof: PushProof<'_>, body: &[u8]) -> Result<(), PushRefusal> {
        let expected = self.lock();
        let push = expected.get(id).ok_or(PushRefusal::Unknown)?;
        if !proof.signs(&push.token, body) {
            return Err(PushRefusal::WrongSecret);
        }
        push.wake.notify_one();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ExpectedPush>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PushProof<'_> {
    /// Each of the headers that is there has the secret, and at least one is there.
    fn has(&self, token: &Secret) -> bool {
        let is_equal = |said: &str| bool::from(said.as_bytes().ct_eq(token.expose().as_bytes()));
        let bearer = self.authorization.map(|said| {
            let (scheme, credentials) = said.split_once(' ').unwrap_or_default();
            scheme.eq_ignore_ascii_case("bearer") && is_equal(credentials.trim())
        });
        let checks: Vec<bool> = [self.token.map(is_equal), bearer].into_iter().flatten().collect();
        !checks.is_empty() && checks.iter().all(|is_right| *is_right)
    }

    /// Another OpenFang signs with the secret: a signature that is there must be right.
    fn signs(&self, token: &Secret, body: &[u8]) -> bool {
        let Some(signature) = self.signature else { return true };
        let member = |name: &str| {
            let mut members = signature.split(',').filter_map(|member| member.trim().split_once('='));
            members.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let (Some(at), Some(kid), Some(signed)) = (member("t"), member("kid"), member("v1")) else { return false };
        let expected = sign_with(token.expose().as_bytes(), &[at.as_bytes(), b".", body]);
        // Without a secret of ours it is signed with a key that only the sender has.
        kid != "token" || bool::from(expected.as_bytes().ct_eq(signed.as_bytes()))
    }
}

impl Inner {
    /// Expects pushes for a task of this agent, if it may be told where to push and others can reach this server.
    pub(crate) fn expect_pushes(&self, agent: &Agent, task: TaskId) -> Option<PushExpectation> {
        if !agent.answerer.takes_pushes() {
            return None;
        }
        let settings = self.settings();
        let public_url = settings.config().public_url.as_deref()?.trim_end_matches('/').to_owned();
        let listen_path = &settings.config().a2a()?.listen_path;
        let derived = |what: &[u8]| {
            let task = task.as_uuid();
            self.access.keys().sign(Purpose::PushReceiver, &[what, task.as_bytes()])
        };
        let id: String = derived(b"id").chars().take(ID_CHARS).collect();
        let url = format!("{public_url}{listen_path}/push/{id}");
        Some(self.push_hints.expect(id, Secret::new(derived(b"token")), url))
    }
}

impl Tasks {
    /// Whether somebody waits for this push, and it may come now.
    pub(crate) fn check_push(&self, id: &str, proof: PushProof<'_>) -> Result<(), PushRefusal> {
        self.inner.push_hints.check(id, proof)
    }

    /// Takes a push that was checked.
    pub(crate) fn take_push(&self, id: &str, proof: PushProof<'_>, body: &[u8]) -> Result<(), PushRefusal> {
        self.inner.push_hints.take(id, proof, body)
    }
}

#[cfg(test)]
#[path = "push_hints_tests.rs"]
mod tests;
