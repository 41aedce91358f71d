//! Users and their keys, through the daemon or in this process. Secrets are left out of the wire trace.

use http::Method;
use openfang_kernel::users::{GrantsChange, KeyView, KeyWanted, MadeKey, UserView, UserWanted};
use openfang_types::api::{KeyList, Removal, UserList};
use openfang_types::ids::{KeyId, Owner};
use openfang_types::secret::{REDACTED, Secret};
use serde_json::json;

use super::Backend;
use crate::error::CliError;

impl Backend {
    pub(crate) async fn users(&self) -> Result<Vec<UserView>, CliError> {
        match self {
            Self::Daemon(daemon) => Ok(daemon.get::<UserList<UserView>>("/api/users").await?.users),
            Self::InProcess(here) => here.said(here.kernel.users(&here.caller).await),
        }
    }

    pub(crate) async fn add_user(&self, wanted: UserWanted) -> Result<UserView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let UserWanted { name, grants, password, again } = &wanted;
                let mut body = json!({ "name": name, "grants": grants, "again": again });
                let mut shown = body.clone();
                if let Some(password) = password {
                    body["password"] = json!(password.expose());
                    shown["password"] = json!(REDACTED);
                }
                daemon.post_in_confidence("/api/users", &body, &shown).await
            }
            Self::InProcess(here) => here.said(here.kernel.add_user(&here.caller, wanted).await),
        }
    }

    pub(crate) async fn remove_user(&self, name: &Owner) -> Result<(), CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/users/{name}");
                daemon.ask::<Removal<Owner>>(Method::DELETE, &path, None).await.map(drop)
            }
            Self::InProcess(here) => here.said(here.kernel.remove_user(&here.caller, name).await),
        }
    }

    pub(crate) async fn set_grants(&self, name: &Owner, grants: Vec<String>) -> Result<UserView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                daemon.post(&format!("/api/users/{name}/grants"), &json!({ "grants": grants })).await
            }
            Self::InProcess(here) => here.said(here.kernel.set_user_grants(&here.caller, name, grants).await),
        }
    }

    /// Adds and removes grants, as they are written.
    pub(crate) async fn adjust_grants(
        &self,
        name: &Owner,
        add: Vec<String>,
        remove: Vec<String>,
    ) -> Result<UserView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                daemon
                    .post(&format!("/api/users/{name}/grants"), &json!({ "add": add, "remove": remove }))
                    .await
            }
            Self::InProcess(here) => {
                let change = GrantsChange::Adjust { add, remove };
                here.said(here.kernel.change_user_grants(&here.caller, name, change).await)
            }
        }
    }

    pub(crate) async fn set_password(&self, name: &Owner, password: Option<Secret>) -> Result<UserView, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let path = format!("/api/users/{name}/password");
                let body = json!({ "password": password.as_ref().map(Secret::expose) });
                let shown = json!({ "password": password.as_ref().map(|_| REDACTED) });
                daemon.post_in_confidence(&path, &body, &shown).await
            }
            Self::InProcess(here) => here.said(here.kernel.set_user_password(&here.caller, name, password).await),
        }
    }

    pub(crate) async fn keys(&self, name: Option<&Owner>) -> Result<Vec<KeyView>, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let query = name.map(|name| format!("?user={name}")).unwrap_or_default();
                Ok(daemon.get::<KeyList<KeyView>>(&format!("/api/keys{query}")).await?.keys)
            }
            Self::InProcess(here) => here.said(here.kernel.user_keys(&here.caller, name).await),
        }
    }

    pub(crate) async fn create_key(&self, wanted: KeyWanted) -> Result<MadeKey, CliError> {
        match self {
            Self::Daemon(daemon) => {
                let KeyWanted { user, label, entry_label, profile, expires_at } = &wanted;
                let body = json!({
                    "user": user, "label": label, "entryLabel": entry_label, "profile": profile, "expiresAt": expires_at,
                });
                daemon.post_for_a_secret("/api/keys", &body).await
            }
            Self::InProcess(here) => here.said(here.kernel.create_user_key(&here.caller, wanted).await),
        }
    }

    pub(crate) async fn revoke_key(&self, id: &KeyId) -> Result<KeyView, CliError> {
        match self {
            Self::Daemon(daemon) => daemon.ask(Method::DELETE, &format!("/api/keys/{id}"), None).await,
            Self::InProcess(here) => here.said(here.kernel.revoke_user_key(&here.caller, id).await),
        }
    }
}
