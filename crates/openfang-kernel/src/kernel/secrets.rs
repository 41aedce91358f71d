//! The stored secrets, and the values that must not travel: these, the `api_key` and the daemon token. Only who is on this
//! machine may change or list secrets: the daemon token or the process itself. Whoever uses a secret that changes is connected
//! to anew.

use openfang_runtime::pipeline::Sensitive;
use openfang_store::{ChangeAction, ChangeTarget};
use openfang_types::config::Config;
use openfang_types::ids::SecretName;
use openfang_types::principal::{AdminProof, PrincipalKind};
use openfang_types::secret::Secret;

use super::{Kernel, KernelParts};
use crate::access::vault::{SecretUse, SecretUser, SecretView, Vault, VaultError};
use crate::change::Change;
use crate::peers::lending::{use_of_agent, use_of_provider, use_of_server};
use crate::peers::models::keys::known_values;
use crate::settings::providers;
use crate::web::search_keys;
use crate::{Caller, KernelError};

impl Kernel {
    /// The stored secrets, without their values.
    pub async fn secrets(&self, caller: &Caller) -> Result<Vec<SecretView>, KernelError> {
        may_manage(caller)?;
        self.in_vault(Vault::list).await
    }

    /// Stores a secret. What is wrong with an entry because the secret was missing is tried again.
    pub async fn set_secret(
        &self,
        caller: &Caller,
        name: &SecretName,
        value: Secret,
    ) -> Result<SecretView, KernelError> {
        let (kernel, stored) = (self.clone(), name.clone());
        self.parts
            .changes
            .make(of_secret(caller, ChangeAction::Set, name, None), may_manage(caller), async move {
                let made = stored.clone();
                let view = kernel.in_vault(move |vault| vault.set(&made, &value)).await?;
                kernel.secret_changed(&stored).await;
                Ok(view)
            })
            .await
    }

    pub async fn remove_secret(&self, caller: &Caller, name: &SecretName) -> Result<(), KernelError> {
        let (kernel, gone) = (self.clone(), name.clone());
        self.parts
            .changes
            .make(of_secret(caller, ChangeAction::Remove, name, None), may_manage(caller), async move {
                let removed = gone.clone();
                kernel.in_vault(move |vault| vault.remove(&removed)).await?;
                kernel.secret_changed(&gone).await;
                Ok(())
            })
            .await
    }

    /// Gives a secret to one more user, at the place that its entry names now.
    pub async fn allow_secret(
        &self,
        caller: &Caller,
        name: &SecretName,
        user: SecretUser,
    ) -> Result<SecretView, KernelError> {
        let usage = may_manage(caller).and_then(|()| self.use_of(&user));
        let shown = Some(usage.as_ref().map_or_else(|_| user.to_string(), ToString::to_string));
        let (allowed, usage) = match usage {
            Ok(usage) => (Ok(()), Some(usage)),
            Err(error) => (Err(error), None),
        };
        let (kernel, given) = (self.clone(), name.clone());
        self.parts
            .changes
            .make(of_secret(caller, ChangeAction::Allow, name, shown), allowed, async move {
                let usage = usage.ok_or_else(|| VaultError::NoSuchUser(user.to_string()))?;
                let allowed = given.clone();
                let view = kernel.in_vault(move |vault| vault.allow(&allowed, usage)).await?;
                kernel.secret_changed(&given).await;
                Ok(view)
            })
            .await
    }

    fn use_of(&self, user: &SecretUser) -> Result<SecretUse, KernelError> {
        let settings = self.settings();
        let guard = settings.http().guard();
        let usage = match user {
            SecretUser::McpServer(name) => {
                let entries = self.parts.upstreams.entries();
                entries.iter().find(|entry| entry.name == *name).map(|entry| use_of_server(entry, guard))
            }
            SecretUser::A2aAgent(name) => {
                let agents = &settings.config().a2a.external_agents;
                agents.iter().find(|entry| entry.name == *name).map(|entry| use_of_agent(entry, guard))
            }
            SecretUser::Provider(name) => {
                let url = providers::url_of(settings.config(), name);
                url.map(|url| use_of_provider(name, &url, guard))
            }
        };
        Ok(usage.ok_or_else(|| VaultError::NoSuchUser(user.to_string()))??)
    }

    /// Looks for the values that are stored now, and connects anew to whoever uses the one that changed.
    async fn secret_changed(&self, name: &SecretName) {
        let kernel = self.clone();
        let look = move || kernel.parts.look_for_secrets(kernel.settings().config(), None);
        if tokio::task::spawn_blocking(look).await.is_err() {
            tracing::error!("what must not travel is looked for as before");
        }
        for entry in self.parts.upstreams.entries() {
            if entry.secrets().contains(name.as_str()) {
                self.parts.upstreams.renew(entry);
            }
        }
        let settings = self.settings();
        let agents = &settings.config().a2a.external_agents;
        self.parts
            .external
            .peers()
            .renew(agents.iter().filter(|entry| entry.secrets().contains(name.as_str())));
    }

    /// Does something with the vault, which blocks.
    async fn in_vault<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Vault) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, KernelError> {
        let vault = self.parts.access.vault().clone();
        let done = tokio::task::spawn_blocking(move || work(&vault)).await;
        Ok(done.unwrap_or(Err(VaultError::Unsealed))?)
    }
}

impl KernelParts {
    /// Looks for the secrets of this configuration from now on. A key that was one a moment ago stays secret for a while.
    /// Blocks.
    pub(super) fn look_for_secrets(&self, config: &Config, former_key: Option<&Secret>) {
        let (stored, searches) = (self.access.vault().values(), search_keys());
        let keys = config.api_key.iter().chain(former_key);
        let settings = self.settings.current();
        let models = known_values(config, settings.agents().values().map(|agent| &*agent.manifest));
        let secrets = keys.chain([self.access.credentials().daemon_token()]).chain(&stored);
        let secrets = secrets.chain(&searches).chain(&models);
        match Sensitive::new(secrets, &config.pii) {
            Ok(sensitive) => self.pipeline.replace_sensitive(sensitive),
            Err(error) => tracing::error!(%error, "what must not travel is looked for as before"),
        }
    }
}

fn of_secret<'a>(caller: &'a Caller, action: ChangeAction, name: &SecretName, user: Option<String>) -> Change<'a> {
    Change { caller, action, target: ChangeTarget::Secret { name: name.clone(), user } }
}

fn may_manage(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => Ok(()),
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => {
            Err(KernelError::NotPermitted("secrets can be managed on the command line of the server's machine only"))
        }
    }
}
