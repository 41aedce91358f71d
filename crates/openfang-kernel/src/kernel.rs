//! The kernel: the handle that everybody holds. It holds the rooms, and hands each request to the room that it is for.
//!
//! `access.rs`, `tasks.rs`, `calls.rs`, `peers.rs` and `doors.rs` are the names under which the rooms are asked. What concerns
//! several rooms is done here: `reload.rs` puts settings into force, `background.rs` is what goes on beside the requests,
//! `protection.rs` is what the home remembers of its protection.

use std::sync::{Arc, Mutex, PoisonError};

use openfang_egress::http::HttpDoor;
use openfang_egress::process::{ProcessDoor, ProcessError};
use openfang_runtime::files::Files;
use openfang_runtime::pipeline::Pipeline;
use openfang_store::Stores;
use openfang_types::agent::{AgentManifest, AgentSummary};
use openfang_types::clock::{Clock, IdSource};
use openfang_types::config::{Config, ConfigProblem};
use openfang_types::ids::{AgentName, TraceId};
use openfang_types::principal::{Door, Principal};
use prometheus_client::registry::Registry;

use crate::access::Access;
use crate::approvals::Approvals;
use crate::chain::Arrival;
use crate::change::ChangeRecorder;
use crate::doors::Doors;
use crate::drain::Life;
use crate::events::Events;
use crate::execute_tool::DirectCalls;
use crate::integrity::{DatabaseCheck, Integrity};
use crate::outward::Outward;
use crate::peers::external_control::ExternalControl;
use crate::peers::models::Models;
use crate::peers::skill_control::SkillControl;
use crate::peers::upstreams::Upstreams;
use crate::schedules::Schedules;
use crate::settings::home::Home;
use crate::settings::home::record::HomeMemory;
use crate::settings::{LiveSettings, Settings};
use crate::tasks::Tasks;
use crate::{Caller, KernelError};

mod access;
mod approvals;
mod background;
mod calls;
mod doors;
mod events;
mod models;
mod peers;
mod protection;
mod reload;
mod schedules;
mod secrets;
mod skills;
mod tasks;

pub use models::UsageWanted;

/// A handle to the kernel. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    parts: Arc<KernelParts>,
}

/// What a kernel is put together from.
pub(crate) struct KernelParts {
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) access: Access,
    pub(crate) tasks: Tasks,
    pub(crate) schedules: Schedules,
    pub(crate) events: Events,
    /// The MCP servers it is connected to.
    pub(crate) upstreams: Arc<Upstreams>,
    /// The A2A agents of other servers.
    pub(crate) external: ExternalControl,
    /// The models that answer for agents.
    pub(crate) models: Arc<Models>,
    /// The skills, and who may change them.
    pub(crate) skills: SkillControl,
    pub(crate) doors: Doors,
    pub(crate) calls: DirectCalls,
    pub(crate) approvals: Approvals,
    pub(crate) changes: ChangeRecorder,
    pub(crate) life: Life,
    pub(crate) stores: Stores,
    pub(crate) files: Files,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// What the home remembers; none where the stores are not the home's own.
    pub(crate) memory: Option<Arc<HomeMemory>>,
    pub(crate) integrity: Integrity,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) outward: Arc<Outward>,
    pub(crate) home: Home,
    pub(crate) metrics: Mutex<Registry>,
}

impl Kernel {
    pub(crate) fn new(parts: KernelParts) -> Self {
        Self { parts: Arc::new(parts) }
    }

    /// The configuration in force. Whoever asks twice may get two.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(self.settings().config())
    }

    /// Whether this is the configuration in force.
    pub fn is_in_force(&self, config: &Arc<Config>) -> bool {
        self.parts.settings.look(|settings| Arc::ptr_eq(settings.config(), config))
    }

    /// Waits until another configuration than this is in force.
    pub async fn config_after(&self, known: &Arc<Config>) -> Arc<Config> {
        let mut changes = self.parts.settings.changes();
        match changes.wait_for(|settings| !Arc::ptr_eq(settings.config(), known)).await {
            Ok(settings) => Arc::clone(settings.config()),
            Err(_closed) => std::future::pending().await,
        }
    }

    /// A fresh trace id, for a request that begins.
    pub fn trace(&self) -> TraceId {
        TraceId::from_uuid(self.parts.ids.random())
    }

    /// The place of a request in its trace: the one that its `traceparent` names, or a new one.
    pub fn arrival(&self, traceparent: Option<&str>, tracestate: Option<&str>) -> Arrival {
        Arrival::of(traceparent, tracestate, || self.trace())
    }

    /// Whoever makes a request that arrived so.
    pub fn arrived(&self, principal: Arc<Principal>, door: Door, arrival: Arrival) -> Caller {
        arrival.caller(self.parts.pipeline.outward_calls(), principal, door)
    }

    /// Why this configuration must not be listened on with the users there are.
    pub fn exposure(&self) -> Option<ConfigProblem> {
        self.config().exposure().filter(|_| !self.parts.access.has_users())
    }

    /// The agents this principal may talk to, by name.
    pub fn agents(&self, principal: &Principal) -> Vec<AgentSummary> {
        self.settings().visible_agents(principal)
    }

    /// One agent, as its manifest describes it.
    pub fn agent(&self, principal: &Principal, name: &AgentName) -> Result<Arc<AgentManifest>, KernelError> {
        self.settings().agent(principal, name).map(|agent| Arc::clone(&agent.manifest))
    }

    /// The door to URLs.
    pub fn http(&self) -> HttpDoor {
        self.settings().http().clone()
    }

    /// The door to programs. Whatever it starts ends with this process.
    pub fn processes(&self) -> Result<&ProcessDoor, ProcessError> {
        self.parts.outward.processes(self.parts.upstreams.tracker())
    }

    /// How the check of the whole database stands, if there was a reason for one.
    pub fn database_check(&self) -> Option<DatabaseCheck> {
        self.parts.integrity.check()
    }

    /// Why the store cannot be written or read, if it cannot.
    pub fn store_failure(&self) -> Option<String> {
        self.parts.integrity.failure()
    }

    /// Streams that nothing works for end from now on, and background work stops. Requests that were let in still run.
    pub fn begin_drain(&self) {
        self.parts.life.begin_drain();
    }

    /// Waits until nothing runs.
    pub async fn idle(&self) {
        self.parts.life.idle().await;
    }

    /// Interrupts what still runs, now and whenever something more begins; the tasks say so.
    pub async fn interrupt(&self) {
        self.parts.life.interrupt().await;
    }

    /// Adds counters of another crate to what [`Kernel::metrics`] shows.
    pub fn register_metrics<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        register(&mut self.parts.metrics.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What has been counted, as Prometheus reads it.
    pub fn metrics(&self) -> String {
        let registry = self.parts.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }

    /// What is in force now. A request takes it once and keeps it.
    fn settings(&self) -> Arc<Settings> {
        self.parts.settings.current()
    }
}
