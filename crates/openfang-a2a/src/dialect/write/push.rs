//! Writes push configurations for versions before 1.0.

use openfang_types::secret::Secret;
use serde::Serialize;

use crate::answer::TaskPushConfig;
use crate::operation::PushNotificationConfig;

#[derive(Serialize)]
pub(in crate::dialect) struct PushConfigOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<AuthenticationOut<'a>>,
}

#[derive(Serialize)]
struct AuthenticationOut<'a> {
    schemes: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

impl<'a> PushConfigOut<'a> {
    /// With its id, because a task may have several.
    pub(in crate::dialect) fn named(push: &'a TaskPushConfig) -> Self {
        Self { id: Some(&push.id), ..Self::nameless(&push.config) }
    }

    /// As a request. Without an id the peer chooses one.
    pub(in crate::dialect) fn of(config: &'a PushNotificationConfig) -> Self {
        Self { id: config.id.as_deref(), ..Self::nameless(config) }
    }

    /// Without an id: 0.1 has one configuration for each task.
    pub(in crate::dialect) fn nameless(config: &'a PushNotificationConfig) -> Self {
        Self {
            id: None,
            url: &config.url,
            token: config.token.as_ref().map(Secret::expose),
            authentication: config.authentication.as_ref().map(|given| AuthenticationOut {
                schemes: [&given.scheme],
                credentials: given.credentials.as_ref().map(Secret::expose),
            }),
        }
    }
}
