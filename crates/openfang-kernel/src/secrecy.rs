//! The values that must not travel: the `api_key`, the daemon token and the stored secrets.

use openfang_runtime::pipeline::Sensitive;
use openfang_types::config::Config;
use openfang_types::secret::Secret;

use crate::kernel::Inner;

impl Inner {
    /// Looks for the secrets of this configuration from now on. A key that was one a moment ago stays secret for a while.
    /// Blocks.
    pub(crate) fn look_for_secrets(&self, config: &Config, former_key: Option<&Secret>) {
        let stored = self.access.vault().values();
        let keys = config.api_key.iter().chain(former_key);
        let secrets = keys.chain([self.access.credentials().daemon_token()]).chain(&stored);
        match Sensitive::new(secrets, &config.pii) {
            Ok(sensitive) => self.pipeline.replace_sensitive(sensitive),
            Err(error) => tracing::error!(%error, "what must not travel is looked for as before"),
        }
    }
}
