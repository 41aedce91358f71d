//! Whether a server is this OpenFang: it would list its own tools again and again.

use std::sync::Arc;

use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Connecting, Locator as _, connect};
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry};
use openfang_types::limits::MCP_SELF_CHECK;

use super::log::ServerLog;
use super::place::EntryPlace;
use super::secrets::ServerSecrets;
use super::{Upstreams, only_era};

impl Upstreams {
    /// Whether what is at a URL is this OpenFang itself. Whoever does not say so in time is somebody else; so is who cannot be
    /// reached, and a connection that comes about later is looked at again.
    pub(crate) async fn is_ourselves(&self, entry: &McpServerConfigEntry) -> bool {
        if matches!(entry.transport, McpTransportEntry::Stdio { .. }) {
            return false;
        }
        let secrets = Arc::new(ServerSecrets::new(self.parts.pipeline.sensitive().redactor(), entry));
        let log = Arc::new(ServerLog::new(Arc::clone(&self.parts.clock), Arc::clone(&secrets)));
        let place = EntryPlace::new(entry.clone(), Arc::clone(&self.reach), log, secrets);
        let Ok(endpoint) = place.endpoint() else { return false };
        let connecting = Connecting {
            endpoint,
            redactor: place.redactor(),
            only: only_era(entry),
            known: None,
            declared: ClientCapabilities::NONE,
            patience: MCP_SELF_CHECK,
            tracker: self.tracker.clone(),
            counts: Arc::clone(&self.parts.counts),
        };
        let Ok(connection) = connect(connecting).await else { return false };
        let is_ourselves = connection.facts().is_instance(Some(&self.parts.instance));
        connection.close("it was asked who it is");
        is_ourselves
    }
}
