//! Stored secrets, through the daemon or in this process. Values are left out of the wire trace.

use http::Method;
use openfang_kernel::vault::{SecretUser, SecretView};
use openfang_types::ids::SecretName;
use openfang_types::secret::{REDACTED, Secret};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::Backend;
use crate::error::CliError;

#[derive(Deserialize)]
struct SecretsResponse {
    secrets: Vec<SecretView>,
}

impl Backend {
    pub(crate) async fn secrets(&self) -> Result<Vec<SecretView>, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.get::<SecretsResponse>("/api/secrets").await?.secrets),
            Self::InProcess(here) => here.said(here.kernel.secrets(&here.caller).await),
        }
    }

    pub(crate) async fn set_secret(&self, name: &SecretName, value: Secret) -> Result<SecretView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let body = json!({ "name": name, "value": value.expose() });
                let shown = json!({ "name": name, "value": REDACTED });
                daemon.post_in_confidence("/api/secrets", &body, &shown).await
            }
            Self::InProcess(here) => here.said(here.kernel.set_secret(&here.caller, name, value).await),
        }
    }

    pub(crate) async fn remove_secret(&self, name: &SecretName) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/secrets/{name}");
                daemon.ask::<IgnoredAny>(Method::DELETE, &path, None).await.map(drop)
            }
            Self::InProcess(here) => here.said(here.kernel.remove_secret(&here.caller, name).await),
        }
    }

    pub(crate) async fn allow_secret(&self, name: &SecretName, user: SecretUser) -> Result<SecretView, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.post(&format!("/api/secrets/{name}/allow"), &json!({ "user": user })).await,
            Self::InProcess(here) => here.said(here.kernel.allow_secret(&here.caller, name, user).await),
        }
    }
}
