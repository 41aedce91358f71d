//! The kernel: the handle everybody holds, and what stands behind it. All fields are private to this crate.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use openfang_runtime::agents::AgentSummary;
use openfang_runtime::context::{CallContext, Run};
use openfang_runtime::files::Files;
use openfang_runtime::pipeline::Pipeline;
use openfang_store::{Node, Stores};
use openfang_types::agent::AgentManifest;
use openfang_types::clock::{Clock, IdSource};
use openfang_types::config::{Config, ConfigProblem, NamedProfile, Profile};
use openfang_types::ids::{AgentName, ProfileName, TraceId};
use openfang_types::nearest::nearest;
use openfang_types::principal::Principal;
use openfang_types::secret::Secret;
use openfang_types::taint::Labels;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::KernelError;
use crate::access::{Access, AuthError, Caller, PeerKind};
use crate::doors::Doors;
use crate::drain::Life;
use crate::execute_tool::Way;
use crate::integrity::Integrity;
use crate::outward::Outward;
use crate::peers::external::ExternalPeers;
use crate::peers::upstreams::Upstreams;
use crate::settings::agents::Agent;
use crate::settings::home::Home;
use crate::settings::home::record::HomeMemory;
use crate::settings::{LiveSettings, Settings};
use crate::tasks::Tasks;

/// A handle to the kernel. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: LiveSettings,
    pub(crate) access: Access,
    pub(crate) tasks: Tasks,
    /// The MCP servers it is connected to.
    pub(crate) upstreams: Arc<Upstreams>,
    /// The A2A agents of other servers.
    pub(crate) external: Arc<ExternalPeers>,
    pub(crate) doors: Doors,
    pub(crate) life: Life,
    pub(crate) stores: Stores,
    pub(crate) files: Files,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// Held for as long as this process lives; none for a home that no other process shares.
    pub(crate) node: Option<Node>,
    /// What the home remembers; none where the stores are not the home's own.
    pub(crate) memory: Option<Arc<HomeMemory>>,
    pub(crate) integrity: Integrity,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) outward: Arc<Outward>,
    pub(crate) home: Home,
    pub(crate) front: Front,
}

/// What only the handle needs.
pub(crate) struct Front {
    metrics: Mutex<Registry>,
    /// Where the server of this process listens, once it does.
    address: OnceLock<SocketAddr>,
}

impl Front {
    pub(crate) const fn new(metrics: Registry) -> Self {
        Self { metrics: Mutex::new(metrics), address: OnceLock::new() }
    }
}

impl Kernel {
    /// The configuration in force. Whoever asks twice may get two.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(self.inner.settings().config())
    }

    /// Whether this is the configuration in force.
    pub fn is_in_force(&self, config: &Arc<Config>) -> bool {
        self.inner.settings.look(|settings| Arc::ptr_eq(settings.config(), config))
    }

    /// Waits until another configuration than this is in force.
    pub async fn config_after(&self, known: &Arc<Config>) -> Arc<Config> {
        let mut changes = self.inner.settings.changes();
        match changes.wait_for(|settings| !Arc::ptr_eq(settings.config(), known)).await {
            Ok(settings) => Arc::clone(settings.config()),
            Err(_closed) => std::future::pending().await,
        }
    }

    /// Says where the server of this process listens; the port may be known only now.
    pub fn listens_on(&self, address: SocketAddr) {
        // Who listens twice is still reached at the first.
        let _ = self.inner.front.address.set(address);
    }

    /// The address under which others reach this server, without a slash at its end.
    pub fn base_url(&self) -> String {
        let config = self.config();
        let address = self.inner.front.address.get().copied().unwrap_or(config.api_listen);
        match &config.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        }
    }

    /// A fresh trace id, for a request that begins.
    pub fn trace(&self) -> TraceId {
        TraceId::from_uuid(self.inner.ids.random())
    }

    /// Who presents this credential.
    pub fn authenticate(&self, presented: Option<&str>, peer: PeerKind) -> Result<Arc<Principal>, AuthError> {
        let settings = self.inner.settings();
        let principal = self.inner.access.credentials().authenticate(settings.admin_key(), presented, peer)?;
        match principal.key_profile() {
            Some(name) => Ok(Arc::new(narrowed_to(Principal::clone(&principal), name, &settings))),
            None => Ok(principal),
        }
    }

    /// Who presents the cookie of a login.
    pub fn recognise(&self, cookie: &str) -> Result<Arc<Principal>, AuthError> {
        self.inner.access.credentials().recognise(cookie)
    }

    /// The caller, narrowed by a profile of the configuration.
    pub fn narrowed(&self, caller: Caller, name: &ProfileName) -> Result<Caller, KernelError> {
        let profile = Arc::new(NamedProfile { name: name.clone(), profile: self.profile(name)? });
        let principal = Arc::unwrap_or_clone(caller.principal).narrowed_by(profile);
        Ok(Caller { principal: Arc::new(principal), ..caller })
    }

    /// A profile of the configuration.
    pub(crate) fn profile(&self, name: &ProfileName) -> Result<Profile, KernelError> {
        let settings = self.inner.settings();
        let profiles = &settings.config().profiles;
        profiles.get(name).cloned().ok_or_else(|| {
            let nearest = nearest(name.as_str(), profiles.keys().map(ProfileName::as_str));
            KernelError::UnknownProfile { name: name.clone(), nearest: nearest.and_then(|known| known.parse().ok()) }
        })
    }

    /// Fires when the caller's credential is revoked, its user is removed or is granted something else: whatever stays
    /// open on it ends then.
    pub fn revoked(&self, caller: &Caller) -> CancellationToken {
        self.inner
            .access
            .credentials()
            .revoked(self.inner.settings().admin_key(), &caller.principal)
    }

    /// Why this configuration must not be listened on with the users there are.
    pub fn exposure(&self) -> Option<ConfigProblem> {
        self.config()
            .exposure()
            .filter(|_| !self.inner.access.credentials().accounts().has_users())
    }

    /// The token of this start; whoever can read it is the operator.
    pub fn daemon_token(&self) -> &Secret {
        self.inner.access.credentials().daemon_token()
    }

    /// Proves to a client that this server knows the daemon token.
    pub fn prove(&self, challenge: &str) -> String {
        self.inner.access.credentials().prove(challenge)
    }

    /// The agents this principal may talk to, by name.
    pub fn agents(&self, principal: &Principal) -> Vec<AgentSummary> {
        let settings = self.inner.settings();
        let visible = settings.agents().values().filter(|agent| is_visible(agent, principal));
        let summary = |agent: &Arc<Agent>| AgentSummary {
            name: agent.manifest.name.clone(),
            description: agent.manifest.description.clone(),
            is_external: agent.is_external(),
        };
        visible.map(summary).collect()
    }

    /// One agent, as its manifest describes it.
    pub fn agent(&self, principal: &Principal, name: &AgentName) -> Result<Arc<AgentManifest>, KernelError> {
        self.inner.agent(principal, name).map(|agent| Arc::clone(&agent.manifest))
    }

    /// Adds counters of another crate to what [`Kernel::metrics`] shows.
    pub fn register_metrics<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        register(&mut self.inner.front.metrics.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What has been counted, as Prometheus reads it.
    pub fn metrics(&self) -> String {
        let registry = self.inner.front.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
        text
    }
}

/// A principal, narrowed by a profile that it cannot do without. If the profile is gone, nothing is left.
pub(crate) fn narrowed_to(principal: Principal, name: &ProfileName, settings: &Settings) -> Principal {
    let profile = settings.config().profiles.get(name).cloned().unwrap_or_else(Profile::nothing);
    principal.narrowed_by(Arc::new(NamedProfile { name: name.clone(), profile }))
}

impl Inner {
    /// What is in force now. A request takes it once and keeps it.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings.current()
    }

    pub(crate) fn agent(&self, principal: &Principal, name: &AgentName) -> Result<Arc<Agent>, KernelError> {
        let settings = self.settings();
        let agent = settings.agents().get(name).filter(|agent| is_visible(agent, principal));
        agent.cloned().ok_or_else(|| KernelError::UnknownAgent(name.clone()))
    }

    /// The agent of that name, whoever may talk to it.
    pub(crate) fn any_agent(&self, name: &AgentName) -> Result<Arc<Agent>, KernelError> {
        self.settings()
            .agents()
            .get(name)
            .cloned()
            .ok_or_else(|| KernelError::UnknownAgent(name.clone()))
    }

    /// The context of a direct call that nobody waits for on the way.
    pub(crate) fn context(&self, caller: &Caller) -> CallContext {
        self.context_with(caller, Way::default())
    }

    /// The context of a direct call.
    pub(crate) fn context_with(&self, caller: &Caller, way: Way) -> CallContext {
        CallContext {
            principal: Arc::clone(&caller.principal),
            door: caller.door,
            agent: None,
            run: None,
            trace: caller.trace,
            hops: caller.hops,
            deadline: None,
            cancel: way.cancel,
            labels: caller.entry_labels(),
            config: Arc::clone(self.settings().config()),
            back: way.back,
            granted: None,
        }
    }

    /// The context of a call through an agent: in a run, or as it would be in one.
    pub(crate) fn agent_context(&self, caller: &Caller, agent: &Agent, run: Option<(Arc<Run>, Way)>) -> CallContext {
        let agent = Some(Arc::clone(&agent.manifest));
        match run {
            // What has entered is known to the run.
            Some((run, way)) => {
                CallContext { agent, run: Some(run), labels: Labels::none(), ..self.context_with(caller, way) }
            }
            None => CallContext { agent, ..self.context(caller) },
        }
    }
}

/// Whether an agent exists as far as a principal is concerned. Whoever may use the tool of an external agent may talk to it.
pub(crate) fn is_visible(agent: &Agent, principal: &Principal) -> bool {
    principal.may_talk_to(&agent.manifest.name)
        || agent.external_traits().is_some_and(|traits| principal.may_use(&traits, None))
}
