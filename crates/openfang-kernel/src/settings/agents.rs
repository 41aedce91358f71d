//! The agents of the home: read from `agents/<name>/agent.toml`, each checked before it answers anybody. One that cannot
//! be used does not hold up the others; if it could be used before, it goes on as it was.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_runtime::answerer::Answerer;
use openfang_runtime::answerer::direct::Direct;
use openfang_runtime::answerer::model::ModelAnswerer;
use openfang_runtime::answerer::remote::{ExternalAgents, Remote};
use openfang_runtime::answerer::script::{self, ScriptError, Scripted};
use openfang_runtime::catalog::Catalog;
use openfang_runtime::external_call::traits_of_external;
use openfang_runtime::models::ModelSource;
use openfang_types::agent::{AgentManifest, ManifestProblem, ModelConfig, Provider};
use openfang_types::config::{Config, ExternalAgent};
use openfang_types::ids::AgentName;
use openfang_types::principal::Principal;
use openfang_types::settings_status::{FailedAgent, NameChanges};
use openfang_types::tool::ToolTraits;
use sha2::{Digest as _, Sha256};

use super::strict_toml::{self, Document, Faults};

mod faults;
mod model_files;

/// An agent, ready to answer.
pub(crate) struct Agent {
    pub(crate) manifest: Arc<AgentManifest>,
    pub(crate) answerer: Box<dyn Answerer>,
    /// The digest of what it was read from: an agent that is written as before is the same agent.
    source: [u8; 32],
}

impl Agent {
    /// Whether it is an agent of another server.
    pub(crate) fn is_external(&self) -> bool {
        self.manifest.model.provider == Provider::External
    }

    /// What the guards know the tool of an external agent as.
    pub(crate) fn external_traits(&self) -> Option<ToolTraits> {
        let name = &self.manifest.name;
        self.is_external()
            .then(|| traits_of_external(&ExternalAgent::new(name.clone(), String::new())))
    }

    /// Whether it exists as far as a principal is concerned. Whoever may use the tool of an external agent may talk to it.
    pub(crate) fn is_visible_to(&self, principal: &Principal) -> bool {
        principal.may_talk_to(&self.manifest.name)
            || self.external_traits().is_some_and(|traits| principal.may_use(&traits, None))
    }
}

#[cfg(test)]
impl Agent {
    /// An agent that is written nowhere.
    pub(crate) const fn of(manifest: Arc<AgentManifest>, answerer: Box<dyn Answerer>) -> Self {
        Self { manifest, answerer, source: [0; 32] }
    }
}

/// What agents are checked against and made with.
#[derive(Clone, Copy)]
pub(crate) struct AgentSurroundings<'a> {
    pub(crate) catalog: &'a Catalog,
    /// The configuration that they will run with.
    pub(crate) config: &'a Config,
    /// The way to models.
    pub(crate) models: &'a Arc<dyn ModelSource>,
}

/// The agents there are, by name.
pub(crate) type Agents = BTreeMap<AgentName, Arc<Agent>>;

/// What reading the agents led to.
#[derive(Default)]
pub(crate) struct LoadedAgents {
    /// Those that can be used.
    pub(crate) agents: Agents,
    /// Those that cannot be used as they are written.
    pub(crate) failed: Vec<FailedAgent>,
}

/// Why the agents cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// A file or directory cannot be read.
    #[error("{path} cannot be read: {cause}", path = path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    /// A manifest says something that cannot be used.
    #[error(transparent)]
    Faulty(#[from] Faults),
    /// A script cannot be played.
    #[error("{path}: {cause}", path = path.display())]
    Script {
        path: PathBuf,
        #[source]
        cause: ScriptError,
    },
    /// Two names become one tool name.
    #[error("the agents {0} and {1} would have the same tool name; rename one of them")]
    SameToolName(AgentName, AgentName),
}

const MANIFEST: &str = "agent.toml";
pub(crate) const SCRIPT: &str = "script.toml";

/// Reads every agent below `directory`, in order of name. `before` are those in force.
pub(crate) fn load(
    directory: &Path,
    around: &AgentSurroundings<'_>,
    before: &Agents,
) -> Result<LoadedAgents, AgentsError> {
    let mut loaded = LoadedAgents::default();
    let mut folded: HashMap<String, AgentName> = HashMap::new();
    for place in subdirectories(directory)? {
        let directory = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = directory.parse().ok().and_then(|name: AgentName| before.get(&name));
        let agent = match load_one(&place, around, known) {
            Ok(agent) => agent,
            Err(error) => {
                let failed = FailedAgent { name: directory, reason: error.to_string(), is_in_force: known.is_some() };
                loaded.failed.push(failed);
                let Some(known) = known else { continue };
                Arc::clone(known)
            }
        };
        let name = agent.manifest.name.clone();
        match folded.get(&name.folded()) {
            Some(other) => {
                let reason = AgentsError::SameToolName(other.clone(), name.clone()).to_string();
                loaded.failed.push(FailedAgent { name: name.to_string(), reason, is_in_force: false });
            }
            None => {
                folded.insert(name.folded(), name.clone());
                loaded.agents.insert(name, agent);
            }
        }
    }
    Ok(loaded)
}

/// Adds the external agents of the configuration. The name of a local agent stays that agent's.
pub(crate) fn add_external(
    loaded: &mut LoadedAgents,
    external: &[ExternalAgent],
    peers: &Arc<dyn ExternalAgents>,
    before: &Agents,
) {
    let folded: HashMap<String, AgentName> = loaded.agents.keys().map(|name| (name.folded(), name.clone())).collect();
    for entry in external {
        if let Some(local) = folded.get(&entry.name.folded()) {
            let reason =
                format!("the external agent {} has the name of the local agent {local}; rename one", entry.name);
            loaded
                .failed
                .push(FailedAgent { name: entry.name.to_string(), reason, is_in_force: false });
            continue;
        }
        let source = digest_of(entry);
        let known = before.get(&entry.name).filter(|known| known.source == source);
        let agent = known.map_or_else(|| Arc::new(external_agent(entry, peers, source)), Arc::clone);
        loaded.agents.insert(entry.name.clone(), agent);
    }
}

fn external_agent(entry: &ExternalAgent, peers: &Arc<dyn ExternalAgents>, source: [u8; 32]) -> Agent {
    let description = match entry.description.as_str() {
        "" => format!("The external A2A agent {}", entry.name),
        written => written.to_owned(),
    };
    let mut manifest = AgentManifest::new(entry.name.clone(), description, ModelConfig::of(Provider::External));
    // Its only tool is itself: the message is sent as a call of it.
    manifest.capabilities.tools = entry.tool_name().as_str().parse().into_iter().collect();
    let answerer = Box::new(Remote::new(entry.name.clone(), Arc::clone(peers)));
    Agent { manifest: Arc::new(manifest), answerer, source }
}

/// The digest of an entry, with its secrets.
fn digest_of(entry: &ExternalAgent) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(serde_json::to_vec(entry).unwrap_or_default());
    for (name, value) in &entry.headers {
        digest.update(name.len().to_be_bytes());
        digest.update(name.as_bytes());
        digest.update(value.expose().len().to_be_bytes());
        digest.update(value.expose().as_bytes());
    }
    digest.finalize().into()
}

/// Which agents came, changed or went.
pub(crate) fn changes(before: &Agents, after: &Agents) -> NameChanges {
    let is_same = |name: &AgentName, agent: &Arc<Agent>| before.get(name).map(|known| Arc::ptr_eq(known, agent));
    let those = |state: Option<bool>| {
        let found = after.iter().filter(move |(name, agent)| is_same(name, agent) == state);
        found.map(|(name, _)| name.to_string()).collect()
    };
    let removed = before.keys().filter(|name| !after.contains_key(*name)).map(ToString::to_string).collect();
    NameChanges { added: those(None), changed: those(Some(false)), removed }
}

/// The directories that hold a manifest; whatever else lies around is not an agent.
fn subdirectories(directory: &Path) -> Result<Vec<PathBuf>, AgentsError> {
    let unreadable = |cause| AgentsError::Unreadable { path: directory.to_owned(), cause };
    let mut places = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let place = entry.map_err(unreadable)?.path();
        if place.join(MANIFEST).exists() {
            places.push(place);
        }
    }
    places.sort();
    Ok(places)
}

fn load_one(
    place: &Path,
    around: &AgentSurroundings<'_>,
    known: Option<&Arc<Agent>>,
) -> Result<Arc<Agent>, AgentsError> {
    let path = place.join(MANIFEST);
    let text = read_file(&path)?;
    let manifest: AgentManifest = strict_toml::read(&path, &text)?;
    let faulty = |(key, why): ManifestProblem| -> AgentsError {
        match Document::parse(&path, &text, &strict_toml::schema_of::<AgentManifest>()) {
            Ok(document) => Faults(vec![document.fault(&key, why)]).into(),
            Err(faults) => faults.into(),
        }
    };
    if let Some(fault) = faults::of(&manifest, place, around) {
        return Err(faulty(fault));
    }
    let mut digest = Sha256::new();
    digest.update(&text);
    let same = |digest: Sha256| {
        let source: [u8; 32] = digest.finalize().into();
        (source, known.filter(|known| known.source == source).map(Arc::clone))
    };
    let (source, answerer): (_, Box<dyn Answerer>) = match manifest.model.provider {
        // External agents have no manifest that is read.
        Provider::Direct | Provider::External => match same(digest) {
            (_, Some(known)) => return Ok(known),
            (source, None) => (source, Box::new(Direct)),
        },
        Provider::Script => {
            let path = place.join(manifest.model.script.as_deref().unwrap_or(SCRIPT));
            let text = read_file(&path)?;
            digest.update("\0");
            digest.update(&text);
            match same(digest) {
                (_, Some(known)) => return Ok(known),
                (source, None) => {
                    let script = script::parse(&text).map_err(|cause| AgentsError::Script { path, cause })?;
                    (source, Box::new(Scripted::new(script)))
                }
            }
        }
        Provider::Auto | Provider::Named(_) => {
            let agent =
                model_files::read(&manifest, place, &mut digest).map_err(|(key, why)| faulty((key.to_owned(), why)))?;
            match same(digest) {
                (_, Some(known)) => return Ok(known),
                (source, None) => (source, Box::new(ModelAnswerer::new(agent, Arc::clone(around.models), &manifest))),
            }
        }
    };
    Ok(Arc::new(Agent { manifest: Arc::new(manifest), answerer, source }))
}

fn read_file(path: &Path) -> Result<String, AgentsError> {
    std::fs::read_to_string(path).map_err(|cause| AgentsError::Unreadable { path: path.to_owned(), cause })
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
