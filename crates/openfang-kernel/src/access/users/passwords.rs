//! Hashing passwords: slowly on purpose, two at a time, on threads that come after all others. An unknown name costs what a
//! wrong password costs. `turns.rs` says who is next.

use std::thread;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use openfang_types::background::lower_priority;
use openfang_types::limits::{
    PASSWORD_MAX_BYTES, PASSWORD_MEMORY_KIB, PASSWORD_MIN_CHARS, PASSWORD_NICENESS, PASSWORD_PASSES,
};
use openfang_types::secret::Secret;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::UserError;
use super::turns::{LoginPeer, Turns};

/// What a password is hashed with where there is no hash to hold it against.
const NOBODYS_SALT: [u8; 16] = *b"nobody lives her";

#[derive(Default)]
pub(crate) struct Passwords {
    turns: Turns,
}

impl Passwords {
    /// The hash of a new password.
    pub(super) async fn hash(&self, tracker: &TaskTracker, password: Secret) -> Result<Secret, UserError> {
        let text = password.expose();
        if text.chars().count() < PASSWORD_MIN_CHARS || text.len() > PASSWORD_MAX_BYTES {
            return Err(UserError::Password);
        }
        let hashed = self.in_turn(tracker, LoginPeer::OPERATOR, move || {
            let hash: Option<PasswordHash> = hasher()?.hash_password(password.expose().as_bytes()).ok();
            Some(Secret::new(hash?.to_string()))
        });
        hashed.await?.ok_or(UserError::Busy)
    }

    /// Whether the password is that of the hash; without one it is not, and that takes as long.
    pub(super) async fn is_right(
        &self,
        tracker: &TaskTracker,
        password: Secret,
        hash: Option<Secret>,
        peer: LoginPeer,
    ) -> Result<bool, UserError> {
        if password.expose().len() > PASSWORD_MAX_BYTES {
            return Ok(false);
        }
        self.in_turn(tracker, peer, move || {
            let Some(hasher) = hasher() else { return false };
            let password = password.expose().as_bytes();
            match hash.as_ref().and_then(|hash| PasswordHash::new(hash.expose()).ok()) {
                Some(hash) => hasher.verify_password(password, &hash).is_ok(),
                None => {
                    let hashed: Result<PasswordHash, _> = hasher.hash_password_with_salt(password, &NOBODYS_SALT);
                    // Work whose outcome nobody can see could be left out.
                    std::hint::black_box(hashed.is_ok());
                    false
                }
            }
        })
        .await
    }

    /// Work that takes a turn. It keeps its turn to its end, whether or not somebody waits for it.
    async fn in_turn<T: Send + 'static>(
        &self,
        tracker: &TaskTracker,
        peer: LoginPeer,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, UserError> {
        let turn = self.turns.take(peer).await?;
        let (done, outcome) = oneshot::channel();
        let tracked = tracker.token();
        // A thread for each, because a priority that was lowered cannot be raised again.
        let working = thread::Builder::new().name("password".to_owned()).spawn(move || {
            lower_priority(PASSWORD_NICENESS);
            let result = work();
            drop(turn);
            let _ = done.send(result);
            drop(tracked);
        });
        working.map_err(|_| UserError::Busy)?;
        outcome.await.map_err(|_| UserError::Busy)
    }
}

/// Argon2id as our limits say; none if they are impossible.
fn hasher() -> Option<Argon2<'static>> {
    let params = Params::new(PASSWORD_MEMORY_KIB, PASSWORD_PASSES, 1, None).ok()?;
    Some(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
#[path = "passwords_tests.rs"]
mod tests;
