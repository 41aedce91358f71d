//! How a conversation begins: `server/discover` in the modern era, `initialize` in the legacy one.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::task::TaskTracker;

use super::capabilities::{HandshakeMeta, Implementation};
use super::inbox::Inbox;
use super::outgoing::ClientInfo;
use super::wire::Wire;
use super::{ClientError, Connection, RawMembers, ServerCapabilities, ServerFacts};
use crate::capabilities::ClientCapabilities;
use crate::revision::Revision;

/// A way to a server on which nothing was said yet.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) wire: Arc<dyn Wire>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) declared: ClientCapabilities,
    pub(super) tracker: TaskTracker,
}

impl Opened {
    /// A conversation in this revision with somebody we know nothing about yet.
    fn speaking(&self, revision: Revision) -> Connection {
        self.wire.settle(revision);
        self.known(ServerFacts {
            revision,
            name: String::new(),
            title: None,
            version: String::new(),
            instructions: None,
            capabilities: ServerCapabilities::default(),
            instance: None,
        })
    }

    fn known(&self, facts: ServerFacts) -> Connection {
        let facts = facts.cut();
        let declared = facts.revision.facts().askable(self.declared);
        Connection::new(Arc::clone(&self.wire), Arc::clone(&self.inbox), facts, (declared, self.tracker.clone()))
    }

    /// Asks in the modern way.
    pub(super) async fn discover(&self, patience: Duration) -> Result<Connection, ClientError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Discovered {
            supported_versions: Vec<String>,
            #[serde(default)]
            capabilities: Option<Box<RawValue>>,
            #[serde(default)]
            instructions: Option<String>,
            #[serde(default, rename = "_meta")]
            meta: HandshakeMeta,
        }
        let speaking = self.speaking(Revision::NEWEST);
        let result = speaking.ask("server/discover", RawMembers::none(), patience).await?;
        let discovered: Discovered = read(&result)?;
        let both = discovered.supported_versions.iter().filter_map(|name| Revision::named(name));
        let revision = both.filter(|revision| !revision.facts().handshake).max();
        let revision = revision
            .ok_or_else(|| ClientError::NotMcp("it speaks no revision of the modern era that we know".to_owned()))?;
        self.wire.settle(revision);
        Ok(self.known(ServerFacts {
            revision,
            name: discovered.meta.server_info.name,
            title: discovered.meta.server_info.title,
            version: discovered.meta.server_info.version,
            instructions: discovered.instructions,
            capabilities: ServerCapabilities::read(discovered.capabilities.as_deref()),
            instance: discovered.meta.instance,
        }))
    }

    /// Asks in the legacy way.
    pub(super) async fn initialize(&self, patience: Duration) -> Result<Connection, ClientError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            protocol_version: String,
            #[serde(default)]
            capabilities: Option<Box<RawValue>>,
            #[serde(default)]
            server_info: Implementation,
            #[serde(default)]
            instructions: Option<String>,
            #[serde(default, rename = "_meta")]
            meta: HandshakeMeta,
        }
        let asked = Revision::NEWEST_LEGACY;
        let members = RawMembers::none()
            .with("protocolVersion", asked.name())
            .with("capabilities", &asked.facts().askable(self.declared).declared())
            .with("clientInfo", &ClientInfo::ours());
        let speaking = self.speaking(asked);
        let result = speaking.ask("initialize", members, patience).await?;
        let initialized: Initialized = read(&result)?;
        let revision = Revision::named(&initialized.protocol_version)
            .filter(|revision| revision.facts().handshake)
            .ok_or_else(|| ClientError::NotMcp("it speaks a revision that we do not know".to_owned()))?;
        self.wire.settle(revision);
        let connection = self.known(ServerFacts {
            revision,
            name: initialized.server_info.name,
            title: initialized.server_info.title,
            version: initialized.server_info.version,
            instructions: initialized.instructions,
            capabilities: ServerCapabilities::read(initialized.capabilities.as_deref()),
            instance: initialized.meta.instance,
        });
        connection.notify("notifications/initialized", RawMembers::none()).await?;
        Ok(connection)
    }
}

fn read<'a, T: Deserialize<'a>>(result: &'a RawValue) -> Result<T, ClientError> {
    serde_json::from_str(result.get()).map_err(|error| ClientError::NotMcp(error.to_string()))
}
