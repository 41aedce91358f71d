//! Lending stored secrets to the entries that name them: to whom, for which place, and the audit row of the first time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use openfang_egress::process::Surroundings;
use openfang_egress::url::Guard;
use openfang_store::{AuditKind, AuditOutcome, AuditRow, AuditStore, AuditSubject, ChangeAction, ChangeTarget};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::config::{ExternalAgent, McpServerConfigEntry, McpTransportEntry, ProviderConfig};
use openfang_types::ids::{Owner, ProviderName, TraceId};
use openfang_types::principal::Door;
use openfang_types::secret::Secret;

use crate::access::vault::{Loan, SecretUse, SecretUser, Vault, VaultError};

/// Lends secrets to MCP servers and external agents.
pub(crate) struct Lending {
    vault: Arc<Vault>,
    audit: Arc<dyn AuditStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl Lending {
    pub(crate) fn new(
        vault: &Arc<Vault>,
        audit: &Arc<dyn AuditStore>,
        (clock, ids): (&Arc<dyn Clock>, &Arc<dyn IdSource>),
    ) -> Self {
        Self { vault: Arc::clone(vault), audit: Arc::clone(audit), clock: Arc::clone(clock), ids: Arc::clone(ids) }
    }

    /// What the templates of a server's entry are filled in with. Blocks.
    pub(crate) fn to_server(&self, entry: &McpServerConfigEntry, guard: &Guard) -> Result<Surroundings, VaultError> {
        let secrets = entry.secrets();
        self.lend(&secrets, || use_of_server(entry, guard))
    }

    /// What the templates of an external agent's entry are filled in with. Blocks.
    pub(crate) fn to_agent(&self, entry: &ExternalAgent, guard: &Guard) -> Result<Surroundings, VaultError> {
        let secrets = entry.secrets();
        self.lend(&secrets, || use_of_agent(entry, guard))
    }

    /// What the `api_key` of a provider is filled in with, for the URL that it is sent to. Blocks.
    pub(crate) fn to_provider(
        &self,
        name: &ProviderName,
        entry: &ProviderConfig,
        (url, guard): (&str, &Guard),
    ) -> Result<Surroundings, VaultError> {
        let secrets = entry.secrets();
        self.lend(&secrets, || use_of_provider(name, url, guard))
    }

    fn lend(
        &self,
        names: &BTreeSet<&str>,
        usage: impl FnOnce() -> Result<SecretUse, VaultError>,
    ) -> Result<Surroundings, VaultError> {
        let ours = Surroundings::ours();
        if names.is_empty() {
            return Ok(ours);
        }
        let usage = usage()?;
        let Loan { secrets, bound } = self.vault.lend(names, &usage)?;
        for name in bound {
            tracing::info!(secret = %name, user = %usage, "a secret is used for the first time, and belongs to its user now");
            let user = Some(usage.to_string());
            let subject =
                AuditSubject::Change { action: ChangeAction::Bind, target: ChangeTarget::Secret { name, user } };
            let row = AuditRow {
                trace: TraceId::from_uuid(self.ids.random()),
                at: self.clock.now(),
                owner: Owner::house(),
                door: Door::Cli,
                agent: None,
                run: None,
                subject,
                outcome: AuditOutcome::Succeeded,
                micros: 0,
            };
            self.audit.record(AuditKind::Deed, row);
        }
        Ok(ours.with_secrets(secrets))
    }
}

/// Who uses the secrets of a server's entry, and where they go.
pub(crate) fn use_of_server(entry: &McpServerConfigEntry, guard: &Guard) -> Result<SecretUse, VaultError> {
    let place = match &entry.transport {
        McpTransportEntry::Stdio { command, .. } => command.clone(),
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => {
            origin(url, &entry.secrets(), guard)?
        }
    };
    Ok(SecretUse { user: SecretUser::McpServer(entry.name.clone()), place })
}

/// Who uses the secrets of an external agent's entry, and where they go.
pub(crate) fn use_of_agent(entry: &ExternalAgent, guard: &Guard) -> Result<SecretUse, VaultError> {
    let secrets = entry.secrets();
    let mut places = vec![origin(&entry.url, &secrets, guard)?];
    if let Some(endpoint) = &entry.endpoint {
        places.push(origin(endpoint, &secrets, guard)?);
    }
    places.extend(entry.origins.iter().cloned());
    places.dedup();
    Ok(SecretUse { user: SecretUser::A2aAgent(entry.name.clone()), place: places.join(" ") })
}

/// Who uses the secrets of a provider's entry, and where they go.
pub(crate) fn use_of_provider(name: &ProviderName, url: &str, guard: &Guard) -> Result<SecretUse, VaultError> {
    let place = origin(url, &BTreeSet::new(), guard)?;
    Ok(SecretUse { user: SecretUser::Provider(name.clone()), place })
}

/// The origin of a URL, whatever its secrets are.
fn origin(template: &str, secrets: &BTreeSet<&str>, guard: &Guard) -> Result<String, VaultError> {
    let with = |value: &str| {
        let values = secrets.iter().map(|name| ((*name).to_owned(), Secret::new(value.to_owned())));
        let surroundings = Surroundings::ours().with_secrets(values.collect::<BTreeMap<_, _>>());
        let url = surroundings.fill_in("url", template).ok()?.into_string().ok()?;
        Some(guard.operator(&url).ok()?.origin().to_string())
    };
    match (with("a"), with("b")) {
        (Some(one), Some(other)) if one != other => Err(VaultError::InHost),
        // What is wrong with the URL is said by whoever uses it.
        (one, _) => Ok(one.unwrap_or_else(|| "no valid URL".to_owned())),
    }
}
