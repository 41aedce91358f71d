//! Reads push configurations.

use openfang_types::ids::TaskName;
use openfang_types::limits;
use openfang_types::secret::Secret;
use serde::Deserialize;

use super::{Object, ReadResult, filled, named, tenant, under};
use crate::error::A2aError;
use crate::operation::{PushAuthentication, PushNotificationConfig};

/// `TaskPushNotificationConfig` of 1.0 and `PushNotificationConfig` of the older versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::dialect) struct PushIn {
    tenant: Option<String>,
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    pub(in crate::dialect) id: Option<String>,
    url: Option<String>,
    token: Option<Secret>,
    authentication: Option<Object<AuthenticationIn>>,
}

/// The configuration nested in a request.
pub(in crate::dialect) fn config(config: Option<Object<PushIn>>) -> ReadResult<PushNotificationConfig> {
    let missing = || {
        let why = "`pushNotificationConfig` is missing; it must be an object with a url";
        A2aError::invalid("pushNotificationConfig", why)
    };
    config.ok_or_else(missing)?.0.read().map_err(under("pushNotificationConfig"))
}

#[derive(Deserialize)]
struct AuthenticationIn {
    scheme: Option<String>,
    schemes: Option<Vec<String>>,
    credentials: Option<Secret>,
}

impl PushIn {
    /// The agent and the task. 1.0 has them in the same object.
    pub(in crate::dialect) fn whose(&mut self) -> ReadResult<(Option<String>, Option<TaskName>)> {
        Ok((tenant(self.tenant.take())?, named("taskId", self.task_id.take())?))
    }

    pub(in crate::dialect) fn read(self) -> ReadResult<PushNotificationConfig> {
        let url = filled(self.url)
            .ok_or_else(|| A2aError::invalid("url", "`url` is missing; it says where pushes are sent to"))?;
        if url.len() > limits::URL_MAX_BYTES {
            return Err(A2aError::invalid("url", "`url` is too long"));
        }
        Ok(PushNotificationConfig {
            // Ids of configurations follow the same rule as ids of tasks.
            id: named::<TaskName>("id", self.id)?.map(|id| id.as_str().to_owned()),
            url,
            token: secret("token", self.token)?,
            authentication: self.authentication.and_then(|Object(given)| given.read().transpose()).transpose()?,
        })
    }
}

impl AuthenticationIn {
    /// None if it is empty.
    fn read(self) -> ReadResult<Option<PushAuthentication>> {
        let credentials = secret("authentication.credentials", self.credentials)?;
        let scheme =
            filled(self.scheme).or_else(|| self.schemes.unwrap_or_default().into_iter().find(|s| !s.is_empty()));
        match (scheme, credentials) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(A2aError::invalid(
                "authentication.scheme",
                "`authentication` has credentials but no scheme; name one, such as Bearer",
            )),
            (Some(scheme), credentials) => {
                let fits =
                    scheme.len() <= limits::PEER_ID_MAX_BYTES && scheme.bytes().all(|byte| byte.is_ascii_graphic());
                if !fits {
                    let why = "the scheme of `authentication` must be a word, such as Bearer";
                    return Err(A2aError::invalid("authentication.scheme", why));
                }
                Ok(Some(PushAuthentication { scheme, credentials }))
            }
        }
    }
}

/// A secret that will become part of a header.
fn secret(field: &str, secret: Option<Secret>) -> ReadResult<Option<Secret>> {
    let secret = secret.filter(|secret| !secret.expose().is_empty());
    let Some(text) = secret.as_ref().map(Secret::expose) else { return Ok(None) };
    if text.len() > limits::A2A_PUSH_SECRET_MAX_BYTES {
        return Err(A2aError::invalid(field, format!("`{field}` is longer than 4 KiB")));
    }
    if text.chars().any(char::is_control) {
        return Err(A2aError::invalid(field, format!("`{field}` has control characters; it becomes part of a header")));
    }
    Ok(secret)
}
