//! What the MCP servers are given of the rest of the house. Nothing here leads back to the servers.

use std::sync::Arc;

use openfang_egress::process::{ProcessDoor, ProcessError};
use openfang_mcp::counts::Counts;
use openfang_runtime::pipeline::Pipeline;
use openfang_store::AuditStore;
use openfang_types::clock::{Clock, IdSource};
use tokio_util::task::TaskTracker;

use crate::change::ChangeRecorder;
use crate::outward::Outward;
use crate::peers::lending::Lending;
use crate::settings::home::Home;
use crate::settings::{LiveSettings, Settings};

/// What the room of the servers is made with.
pub(crate) struct PeerParts {
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) outward: Arc<Outward>,
    pub(crate) home: Home,
    pub(crate) audit: Arc<dyn AuditStore>,
    pub(crate) changes: ChangeRecorder,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// What is counted of sessions and conversations.
    pub(crate) counts: Arc<Counts>,
    /// What this OpenFang says of itself, so that it does not connect to itself.
    pub(crate) instance: String,
    /// The stored secrets that entries name.
    pub(crate) lending: Arc<Lending>,
}

/// What one server is reached with. The catalogue holds servers, so none of this may hold the catalogue.
pub(super) struct Reach {
    settings: Arc<LiveSettings>,
    outward: Arc<Outward>,
    home: Home,
    tracker: TaskTracker,
    lending: Arc<Lending>,
}

impl Reach {
    pub(super) fn new(parts: &PeerParts, tracker: TaskTracker) -> Self {
        Self {
            settings: Arc::clone(&parts.settings),
            outward: Arc::clone(&parts.outward),
            home: parts.home.clone(),
            tracker,
            lending: Arc::clone(&parts.lending),
        }
    }

    /// What is in force now.
    pub(super) fn settings(&self) -> Arc<Settings> {
        self.settings.current()
    }

    /// The door to programs.
    pub(super) fn processes(&self) -> Result<&ProcessDoor, ProcessError> {
        self.outward.processes(&self.tracker)
    }

    pub(super) const fn home(&self) -> &Home {
        &self.home
    }

    /// The way to stored secrets.
    pub(super) fn lending(&self) -> &Lending {
        &self.lending
    }
}
