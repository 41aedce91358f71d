//! Push configurations as everything before 1.0 writes them.

use openfang_types::secret::Secret;
use serde::Serialize;

use crate::answer::Push;
use crate::operation::NewPush;

/// `PushNotificationConfig`.
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
    /// With its name: there may be several.
    pub(in crate::dialect) fn named(push: &'a Push) -> Self {
        Self { id: Some(&push.id), ..Self::nameless(&push.config) }
    }

    /// As it is asked for: the peer names it, unless we do.
    pub(in crate::dialect) fn of(config: &'a NewPush) -> Self {
        Self { id: config.id.as_deref(), ..Self::nameless(config) }
    }

    /// The only one of its task: 0.1.
    pub(in crate::dialect) fn nameless(config: &'a NewPush) -> Self {
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
