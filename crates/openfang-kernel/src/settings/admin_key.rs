//! The admin's key as it is configured, by its digest. Another key is another value, and what is open on this one ends.

use openfang_store::SecretDigest;
use openfang_types::secret::Secret;
use tokio_util::sync::CancellationToken;

/// The admin's key, if there is one.
pub(crate) struct AdminKey {
    digest: Option<[u8; 32]>,
    revoked: CancellationToken,
}

impl AdminKey {
    /// The configured key. `strangers` fires when nobody is let in without a credential any more.
    pub(crate) fn new(api_key: Option<&Secret>, strangers: &CancellationToken) -> Self {
        let digest = api_key.map(digest);
        // Without a key the token is that of local callers, who are let in without one.
        let revoked = if digest.is_some() { CancellationToken::new() } else { strangers.child_token() };
        Self { digest, revoked }
    }

    /// Whether there is a key.
    pub(crate) const fn is_set(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether this is the key.
    pub(crate) fn is(&self, api_key: Option<&Secret>) -> bool {
        self.digest == api_key.map(digest)
    }

    /// The digest of the key. Without a key it is that of no text.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest.unwrap_or_default()
    }

    /// Fires when the key is another one.
    pub(crate) const fn revoked(&self) -> &CancellationToken {
        &self.revoked
    }

    /// Ends what is open on it.
    pub(crate) fn revoke(&self) {
        self.revoked.cancel();
    }
}

fn digest(key: &Secret) -> [u8; 32] {
    *SecretDigest::of(key.expose()).as_bytes()
}
