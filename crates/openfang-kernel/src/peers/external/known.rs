//! One external agent: its entry, the way to it, and what is known of it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_a2a::client::{Discovery, ExtendedCard, PeerCard, SignatureState};
use openfang_runtime::external_call::GuardedAgent;
use openfang_runtime::external_tools::{ExternalAgentSource, SkillTool};
use openfang_types::a2a_status::{ExternalAgentStatus, ExternalSkill, ExternalState};
use openfang_types::config::ExternalAgent;
use tokio_util::sync::CancellationToken;

use super::kept::{CardChange, CardMemory, Verdict};
use super::{ExternalReach, place, skills, words};

/// An external agent and what is known of it.
pub(crate) struct KnownAgent {
    entry: ExternalAgent,
    /// The way to it, or why there is none.
    way: Result<Arc<GuardedAgent>, String>,
    stop: CancellationToken,
    view: Mutex<AgentView>,
}

struct AgentView {
    state: ExternalState,
    reason: Option<String>,
    memory: CardMemory,
    /// Its tools, as they were listed last.
    source: Option<ListedTools>,
    is_retired: bool,
}

/// The tools of an agent, and what they were made of.
struct ListedTools {
    text: String,
    skills: Vec<SkillTool>,
    source: Arc<ExternalAgentSource>,
}

impl KnownAgent {
    /// An agent as its entry says, with what was kept of its card. Blocks.
    pub(super) fn new(entry: ExternalAgent, reach: &ExternalReach, stop: CancellationToken) -> Self {
        let way = place::way_to(&entry, reach).map(Arc::new);
        let memory = CardMemory::read(&reach.home.external_agents(), &entry);
        let restored = match (&way, memory.record()) {
            (Ok(way), Some(record)) => way.restore(record),
            (Ok(_) | Err(_), _) => false,
        };
        let (state, reason) = match (&way, memory.quarantined()) {
            (Err(why), _) => (ExternalState::Failed, Some(why.clone())),
            (Ok(_), Some(why)) => (ExternalState::Quarantined, Some(why.to_owned())),
            (Ok(_), None) if restored => (ExternalState::Stale, None),
            (Ok(_), None) => (ExternalState::Configured, None),
        };
        let view = AgentView { state, reason, memory, source: None, is_retired: false };
        Self { entry, way, stop, view: Mutex::new(view) }
    }

    pub(crate) const fn entry(&self) -> &ExternalAgent {
        &self.entry
    }

    pub(super) const fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// The way to it, whether or not it may be used.
    pub(crate) fn way(&self) -> Option<&Arc<GuardedAgent>> {
        self.way.as_ref().ok()
    }

    /// The way to it, or why it cannot be used.
    pub(super) fn usable_way(&self) -> Result<Arc<GuardedAgent>, String> {
        let view = self.lock();
        if let Some(why) = view.memory.quarantined() {
            let name = &self.entry.name;
            return Err(format!("{why}; review it with `openfang a2a show {name}`, then `openfang a2a accept {name}`"));
        }
        self.way.clone()
    }

    /// Whether it may be used.
    pub(super) fn is_usable(&self) -> bool {
        self.usable_way().is_ok()
    }

    /// Its card is asked for.
    pub(super) fn begin(&self) {
        let mut view = self.lock();
        if view.state == ExternalState::Configured {
            view.state = ExternalState::Discovering;
        }
    }

    /// Its card was found. Whether anything about it is new.
    pub(super) fn found(&self, discovery: &Discovery) -> bool {
        let name = &self.entry.name;
        let mut view = self.lock();
        let before = view.state;
        let verdict = view.memory.judge(&self.entry, discovery);
        match &verdict {
            Verdict::First => {
                let skills = discovery.card.as_ref().map_or(0, |card| card.skills.len());
                tracing::info!(agent = %name, url = %discovery.interface.url, skills, "an A2A agent was found");
            }
            Verdict::Same => {}
            Verdict::Changed(what) => tracing::warn!(
                agent = %name,
                "the card of an A2A agent changed: {what}; models are shown its accepted words until `openfang a2a accept {name}`"
            ),
            Verdict::Quarantined(why) => {
                tracing::error!(agent = %name, "an A2A agent is quarantined until `openfang a2a accept {name}`: {why}");
            }
        }
        let oddity = oddity(discovery);
        (view.state, view.reason) = match (&verdict, oddity) {
            (Verdict::Quarantined(why), _) => (ExternalState::Quarantined, Some(why.clone())),
            (_, Some(oddity)) => (ExternalState::Degraded, Some(oddity)),
            (_, None) => (ExternalState::Ready, None),
        };
        before != view.state || !matches!(verdict, Verdict::Same)
    }

    /// Its card could not be fetched. What is known of it stays in use.
    pub(super) fn not_found(&self, why: &str) {
        let mut view = self.lock();
        if view.state != ExternalState::Quarantined {
            let is_known = self.way().is_some_and(|way| way.known().is_some());
            let state = if is_known { ExternalState::Stale } else { ExternalState::Failed };
            if view.state != state {
                tracing::warn!(agent = %self.entry.name, "an A2A agent was not found: {why}");
            }
            view.state = state;
        }
        view.reason = view.memory.quarantined().map(str::to_owned).or_else(|| Some(why.to_owned()));
    }

    /// Takes its card as it is. Whether there was something to accept.
    pub(super) fn accept(&self) -> bool {
        let mut view = self.lock();
        let is_changed = view.memory.accept();
        if is_changed {
            (view.state, view.reason) = (ExternalState::Ready, None);
        }
        is_changed
    }

    /// The change of its card that waits for the operator.
    pub(crate) fn change(&self) -> Option<CardChange> {
        self.lock().memory.change()
    }

    /// It is configured no more, or otherwise.
    pub(super) fn retire(&self) {
        self.stop.cancel();
        self.lock().is_retired = true;
    }

    /// Writes down what is known, for the next start. Blocks.
    pub(super) fn write_down(&self, directory: &Path) {
        let view = self.lock();
        if view.is_retired {
            return;
        }
        if let Err(error) = view.memory.write(directory, &self.entry.name) {
            tracing::warn!(agent = %self.entry.name, %error, "the card of an A2A agent is not kept");
        }
    }

    /// Its tools, with names of at most so many characters. As long as the words are the same, so are the tools.
    pub(super) fn source(&self, longest_name: usize) -> Arc<ExternalAgentSource> {
        let card = self.accepted_card();
        let skills = skills::tools(&self.entry, card.as_deref(), longest_name);
        let text = words::description(&self.entry, card.as_deref(), &skills);
        let mut view = self.lock();
        if let Some(listed) = view.source.as_ref().filter(|listed| listed.text == text && listed.skills == skills) {
            return Arc::clone(&listed.source);
        }
        let source = Arc::new(ExternalAgentSource::new(self.entry.clone(), text.clone(), skills.clone()));
        view.source = Some(ListedTools { text, skills, source: Arc::clone(&source) });
        source
    }

    /// Its card as models and others are shown it: until somebody accepts other words, as it was.
    pub(crate) fn accepted_card(&self) -> Option<Arc<PeerCard>> {
        let before = self.lock().memory.card_before();
        before.unwrap_or_else(|| self.discovery()?.card.clone())
    }

    /// What is known of it.
    pub(crate) fn discovery(&self) -> Option<Arc<Discovery>> {
        self.way()?.known()
    }

    /// How it is doing.
    pub(crate) fn status(&self) -> ExternalAgentStatus {
        let (state, reason) = {
            let view = self.lock();
            (view.state, view.reason.clone())
        };
        let known = self.discovery();
        let card = known.as_ref().and_then(|known| known.card.clone());
        let skill = |skill: &openfang_a2a::AgentSkill| ExternalSkill {
            id: words::one_line(&skill.id, words::ID_CHARS),
            name: words::one_line(&skill.name, words::ID_CHARS),
            description: words::one_line(&skill.description, openfang_types::limits::EXTERNAL_DESCRIPTION_CHARS),
        };
        let described = card.as_ref().map(|card| card.description.as_str()).unwrap_or_default();
        let described = if self.entry.description.is_empty() { described } else { &self.entry.description };
        ExternalAgentStatus {
            name: self.entry.name.clone(),
            url: words::shown_url(&self.entry.url),
            description: words::one_line(described, openfang_types::limits::EXTERNAL_DESCRIPTION_CHARS),
            skills: card.iter().flat_map(|card| &card.skills).map(skill).collect(),
            version: card
                .as_ref()
                .map(|card| words::one_line(&card.version, words::ID_CHARS))
                .unwrap_or_default(),
            state,
            reason,
            tool: self.entry.tool_name(),
            card_name: card.as_ref().map(|card| words::one_line(&card.name, words::ID_CHARS)),
            protocol: known.as_ref().map(|known| known.interface.dialect.to_string()),
            endpoint: known.as_ref().map(|known| words::shown_url(&known.interface.url)),
            signature: known.as_ref().map(|known| signature(&known.signature)),
            repairs: known.iter().flat_map(|known| &known.repairs).map(ToString::to_string).collect(),
            trusted: self.entry.trusted,
            public: self.entry.public,
        }
    }

    fn lock(&self) -> MutexGuard<'_, AgentView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the operator should know about an agent that can be used.
fn oddity(discovery: &Discovery) -> Option<String> {
    match (&discovery.extended, &discovery.signature) {
        (ExtendedCard::Failed { reason }, _) => Some(format!("the card for authenticated callers: {reason}")),
        (_, SignatureState::Unverified { reason }) => Some(format!("the signature of the card: {reason}")),
        (ExtendedCard::NotOffered | ExtendedCard::NoCredential | ExtendedCard::Used, _) => None,
    }
}

fn signature(state: &SignatureState) -> String {
    match state {
        SignatureState::Unchecked => "not checked".to_owned(),
        SignatureState::Unsigned => "not signed".to_owned(),
        SignatureState::Valid { key } => format!("valid, key {key}"),
        SignatureState::Unverified { reason } => format!("not verified: {reason}"),
    }
}
