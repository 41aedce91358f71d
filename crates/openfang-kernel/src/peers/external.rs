//! The A2A agents of other servers that the configuration names: each found in the background, its card kept and compared,
//! each a tool.
//!
//! ```text
//! configured ──> discovering ──> ready <──> stale          (the card cannot be fetched again)
//!                     └──> failed, tried again
//! ready ──> quarantined (another origin or key, or other words) ──> accepted by the operator
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use openfang_a2a::client::{Discovery, RemoteAgent, RemoteSettings};
use openfang_egress::http::HttpDoor;
use openfang_runtime::answerer::remote::ExternalAgents;
use openfang_runtime::external_call::GuardedAgent;
use openfang_runtime::foreign_agents::ForeignAgents;
use openfang_runtime::pipeline::Pipeline;
use openfang_runtime::tool_source::ToolSource;
use openfang_types::config::{Config, ExternalAgent};
use openfang_types::ids::AgentName;
use openfang_types::limits::{EXTERNAL_DISCOVERIES, EXTERNAL_RETRY_FIRST, EXTERNAL_RETRY_MAX};
use openfang_types::redact::Redactor;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lending::Lending;
use crate::settings::LiveSettings;
use crate::settings::home::Home;

pub use kept::CardChange;
pub(crate) use known::KnownAgent;

mod kept;
mod known;
mod place;
mod skills;
mod words;

/// How long what is under way gets to end when the house closes.
const PARTING: Duration = Duration::from_secs(2);

/// What the external agents are reached with. The agents in force and the tools of the pipeline lead back to them: owning
/// either would keep everything open for ever.
pub(crate) struct ExternalReach {
    settings: Weak<LiveSettings>,
    pipeline: Weak<Pipeline>,
    home: Home,
    /// The stored secrets that their entries name.
    lending: Arc<Lending>,
}

impl ExternalReach {
    pub(crate) fn new(
        settings: &Arc<LiveSettings>,
        pipeline: &Arc<Pipeline>,
        home: Home,
        lending: Arc<Lending>,
    ) -> Self {
        Self { settings: Arc::downgrade(settings), pipeline: Arc::downgrade(pipeline), home, lending }
    }

    /// Takes the secrets of this server out of what agents say.
    fn redactor(&self) -> Result<Redactor, String> {
        let pipeline = self.pipeline.upgrade().ok_or_else(|| "the server is stopping".to_owned())?;
        Ok(pipeline.sensitive().redactor().clone())
    }

    /// The way to URLs, as it is configured now.
    fn http(&self) -> Result<HttpDoor, String> {
        let settings = self.settings.upgrade().ok_or_else(|| "the server is stopping".to_owned())?;
        Ok(settings.current().http().clone())
    }
}

/// The external agents, by name.
pub(crate) struct ExternalPeers {
    /// Set once the rest of the house is there.
    reach: OnceLock<ExternalReach>,
    agents: RwLock<BTreeMap<AgentName, Arc<KnownAgent>>>,
    /// Held by whoever brings the tools to the catalogue: the last one must have seen everything.
    listing: Mutex<()>,
    /// How many more may be looked for at the same time.
    slots: Semaphore,
    /// Whether agents are looked for as soon as they are known; else when they are first used.
    is_eager: AtomicBool,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Default for ExternalPeers {
    fn default() -> Self {
        Self {
            reach: OnceLock::new(),
            agents: RwLock::default(),
            listing: Mutex::default(),
            slots: Semaphore::new(EXTERNAL_DISCOVERIES),
            is_eager: AtomicBool::new(false),
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }
}

impl ExternalPeers {
    /// Begins with the agents of the configuration in force.
    pub(crate) fn open(self: &Arc<Self>, reach: ExternalReach, config: &Config) {
        // The house is put together once.
        let _ = self.reach.set(reach);
        for entry in &config.a2a.external_agents {
            self.insert(entry.clone());
        }
        self.list_tools();
    }

    /// Looks for all of them, in the background and at the same time, and goes on looking after them.
    pub(crate) fn discover_all(self: &Arc<Self>) {
        if !self.is_eager.swap(true, Ordering::SeqCst) {
            self.all().into_iter().for_each(|agent| self.look_after(agent));
        }
    }

    /// Takes over another list of agents. Those whose entries are the same stay as they are, unless the way out changed.
    pub(crate) fn follow(self: &Arc<Self>, after: &[ExternalAgent], is_way_new: bool) {
        for gone in self
            .all()
            .iter()
            .filter(|known| !after.iter().any(|entry| entry.name == known.entry().name))
        {
            self.remove(&gone.entry().name.clone());
        }
        for entry in after {
            let is_same = self.get(&entry.name).is_some_and(|known| known.entry() == entry && !is_way_new);
            if !is_same {
                self.insert(entry.clone());
            }
        }
        self.list_tools();
    }

    /// Finds the way anew to agents that use something that changed.
    pub(crate) fn renew<'a>(self: &Arc<Self>, entries: impl Iterator<Item = &'a ExternalAgent>) {
        entries.for_each(|entry| self.insert(entry.clone()));
        self.list_tools();
    }

    pub(crate) fn get(&self, name: &AgentName) -> Option<Arc<KnownAgent>> {
        self.agents.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, by name.
    pub(crate) fn all(&self) -> Vec<Arc<KnownAgent>> {
        self.agents.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Fetches the card of an agent now, and says how the agent stands then.
    pub(crate) async fn refresh(&self, agent: &Arc<KnownAgent>) {
        let Some(way) = agent.way() else { return };
        agent.begin();
        let outcome = way.refresh().await;
        self.noted(agent, outcome.map_err(|error| error.to_string()).as_deref());
    }

    /// Takes the card of an agent as it is now. Whether there was something to accept.
    pub(crate) fn accept(&self, agent: &Arc<KnownAgent>) -> bool {
        let is_changed = agent.accept();
        self.write_down(agent);
        self.list_tools();
        is_changed
    }

    /// Forgets an agent and its card.
    pub(crate) fn remove(&self, name: &AgentName) {
        let removed = self.agents.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let (Some(removed), Some(reach)) = (removed, self.reach.get()) {
            removed.retire();
            kept::forget(&reach.home.external_agents(), name);
        }
    }

    /// Gives every agent that may be used its tool.
    pub(crate) fn list_tools(&self) {
        let _alone = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reach) = self.reach.get() else { return };
        let Some(pipeline) = reach.pipeline.upgrade() else { return };
        let usable = self.all().into_iter().filter(|agent| agent.is_usable());
        let Some(settings) = reach.settings.upgrade() else { return };
        let longest = settings.current().config().limits.max_tool_name;
        let sources = usable.map(|agent| agent.source(longest) as Arc<dyn ToolSource>);
        pipeline.catalog().replace(|origin| origin.external_agent().is_some(), sources.collect());
    }

    /// Stops looking after them.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tracker.close();
        // What has not ended by then ends with this process.
        let _ = tokio::time::timeout(PARTING, self.tracker.wait()).await;
    }

    fn insert(self: &Arc<Self>, entry: ExternalAgent) {
        let Some(reach) = self.reach.get() else { return };
        let agent = Arc::new(KnownAgent::new(entry, reach, self.stop.child_token()));
        let name = agent.entry().name.clone();
        let before = self
            .agents
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, Arc::clone(&agent));
        if let Some(before) = before {
            before.retire();
        }
        if self.is_eager.load(Ordering::SeqCst) {
            self.look_after(agent);
        }
    }

    fn look_after(self: &Arc<Self>, agent: Arc<KnownAgent>) {
        let (this, stop) = (Arc::clone(self), agent.stop().clone());
        self.tracker.spawn(async move { stop.run_until_cancelled(this.keep_known(&agent)).await });
    }

    /// Fetches the card whenever it is not fresh any more, and an agent that cannot be found less and less often.
    async fn keep_known(&self, agent: &Arc<KnownAgent>) {
        let Some(way) = agent.way() else { return };
        let mut pause = EXTERNAL_RETRY_FIRST;
        loop {
            let found = {
                // Closed by nobody: an agent that waits for its turn waits on.
                let _slot = self.slots.acquire().await;
                agent.begin();
                way.refresh().await
            };
            let next = match &found {
                Ok(discovery) => {
                    pause = EXTERNAL_RETRY_FIRST;
                    discovery.max_age
                }
                Err(_) => {
                    let next = pause;
                    pause = (pause * 2).min(EXTERNAL_RETRY_MAX);
                    next
                }
            };
            self.noted(agent, found.map_err(|error| error.to_string()).as_deref());
            tokio::time::sleep(next).await;
        }
    }

    /// Remembers what came of a look at an agent.
    fn noted(&self, agent: &Arc<KnownAgent>, outcome: Result<&Discovery, &String>) {
        match outcome {
            Ok(discovery) => {
                if agent.found(discovery) {
                    self.write_down(agent);
                    self.list_tools();
                }
            }
            Err(why) => agent.not_found(why),
        }
    }

    fn write_down(&self, agent: &Arc<KnownAgent>) {
        let Some(reach) = self.reach.get() else { return };
        let (directory, agent) = (reach.home.external_agents(), Arc::clone(agent));
        let write = move || agent.write_down(&directory);
        match tokio::runtime::Handle::try_current() {
            Ok(_) => drop(self.tracker.spawn_blocking(write)),
            Err(_) => write(),
        }
    }
}

impl ExternalAgents for ExternalPeers {
    fn way_to(&self, agent: &AgentName) -> Result<Arc<GuardedAgent>, String> {
        self.get(agent).ok_or_else(|| "it is not configured any more".to_owned())?.usable_way()
    }
}

impl ForeignAgents for ExternalPeers {
    fn connect(&self, settings: RemoteSettings) -> Result<RemoteAgent, String> {
        let reach = self.reach.get().ok_or_else(|| "the server is still starting".to_owned())?;
        let redactor = reach.redactor()?;
        RemoteAgent::new(reach.http()?, RemoteSettings { redactor, ..settings }).map_err(|error| error.to_string())
    }
}
