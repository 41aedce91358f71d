//! The cards of this house: who is shown which agents and skills. Cards are made once per kind of viewer and kept until
//! the tools change; serving one neither builds nor signs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_a2a::card::{
    AgentCapabilities, AgentCard, CardDocument, CardForm, CardKey, CatalogueAgent, CatalogueHost, Endpoint,
    SecurityScheme, SkillSchemas, build_agent_card, catalogue, placeholder_card,
};
use openfang_types::agent::Provider;
use openfang_types::capability::any_covers;
use openfang_types::config::{A2aConfig, Config, ConfigProblem};
use openfang_types::ids::{AgentName, ToolName, TraceId};
use openfang_types::limits::{SKILL_SCHEMAS_BYTES, SKILL_TOOLS};
use openfang_types::principal::{AdminProof, Door, Principal};
use openfang_types::tool::{ToolDefinition, ToolTraits};
use serde_json::Value;

use crate::Caller;
use crate::doors::Doors;
use crate::settings::agents::Agent;
use crate::settings::{Settings, card_key};

pub(crate) use kept::{CardCache, CardRequest, DocumentKind};

mod kept;
mod skills;

/// Where the public half of the key is published, below the house's address.
const KEYS_PATH: &str = "/.well-known/jwks.json";
/// Where the card of an agent is, below its own path.
const CARD_PATH: &str = "/.well-known/agent-card.json";
/// Where agents and tools are served over MCP.
const MCP_PATH: &str = "/mcp";

/// What cards are made with, and those that are made.
pub(crate) struct Cards {
    key: Option<CardKey>,
    kept: CardCache,
}

impl Cards {
    /// Reads the key, if one is configured.
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigProblem> {
        Ok(Self { key: card_key::read(config)?, kept: CardCache::default() })
    }
}

impl Doors {
    /// What an agent says about itself, to this viewer; without one it is the public card. Without an agent it is the card
    /// of the one that answers where none is named, or a placeholder. None: A2A is off, or there is no such agent as far
    /// as the viewer is concerned.
    pub(crate) fn card(
        &self,
        who: Option<&Principal>,
        agent: Option<&AgentName>,
        form: CardForm,
    ) -> Option<Arc<CardDocument>> {
        // The version first: what is made of older settings must not pass for what is made of newer ones.
        let version = self.inner.pipeline.catalog().version();
        let settings = self.inner.settings();
        settings.config().a2a()?;
        let asked = CardRequest {
            viewer: who.map(|principal| principal.audience()),
            agent: agent.cloned(),
            form,
            document: DocumentKind::Card,
            base: self.base_url(),
            guarded: self.inner.access.is_guarded(),
        };
        let kept = &self.inner.cards.kept;
        if let Some(card) = kept.fresh(&asked, version) {
            return Some(card);
        }
        let card = self.make_card(&settings, who, agent)?;
        let now = self.inner.clock.now();
        let unsigned = CardDocument::new(&card, form, now);
        if let Some(card) = kept.same(&asked, version, &unsigned.etag) {
            return Some(card);
        }
        let content = unsigned.etag.clone();
        let document = self.signed(card).map_or(unsigned, |card| CardDocument::new(&card, form, now));
        Some(kept.keep(asked, version, content, document))
    }

    /// The cards of all agents that this principal may talk to, by name, for clients of every version.
    pub(crate) fn cards(&self, who: &Principal) -> Vec<Arc<CardDocument>> {
        let settings = self.inner.settings();
        let names = settings.agents().keys();
        names.filter_map(|name| self.card(Some(who), Some(name), CardForm::Superset)).collect()
    }

    /// The agents that this viewer is shown, as a catalogue; without a viewer those that strangers are shown. None: A2A is
    /// off.
    pub(crate) fn catalogue(&self, who: Option<&Principal>) -> Option<Arc<CardDocument>> {
        let version = self.inner.pipeline.catalog().version();
        let settings = self.inner.settings();
        let listen_path = &settings.config().a2a()?.listen_path;
        let base = self.base_url();
        let is_guarded = self.inner.access.is_guarded();
        let asked = CardRequest {
            viewer: who.map(|principal| principal.audience()),
            agent: None,
            form: CardForm::Strict,
            document: DocumentKind::Catalogue,
            base: base.clone(),
            guarded: is_guarded,
        };
        let kept = &self.inner.cards.kept;
        if let Some(catalogue) = kept.fresh(&asked, version) {
            return Some(catalogue);
        }
        let agents: Vec<CatalogueAgent> = settings
            .agents()
            .keys()
            .filter_map(|name| {
                let card = self.card(who, Some(name), CardForm::Strict)?;
                let card_url = format!("{base}{listen_path}/agents/{name}{CARD_PATH}");
                Some(CatalogueAgent { name: name.to_string(), card_url, card })
            })
            .collect();
        // Whoever needs a credential and has none cannot use it.
        let mcp = (who.is_some() || !is_guarded).then(|| MCP_PATH.to_owned());
        let host = CatalogueHost { base, version: env!("CARGO_PKG_VERSION").to_owned(), mcp };
        let made = catalogue(&host, &agents, self.inner.clock.now());
        let content = made.etag.clone();
        Some(kept.keep(asked, version, content, made))
    }

    /// The keys that signatures of cards are checked with; none: cards are not signed.
    pub(crate) fn card_jwks(&self) -> Option<Arc<CardDocument>> {
        let key = self.inner.cards.key.as_ref()?;
        Some(self.inner.cards.kept.keys(|| key.jwks(self.inner.clock.now())))
    }

    /// The agent that answers where none is named: the configured one, else the first by name, among those that are there
    /// for this viewer.
    pub(crate) fn default_agent(&self, who: Option<&Principal>) -> Option<AgentName> {
        default_agent(&self.inner.settings(), who)
    }

    fn make_card(&self, settings: &Settings, who: Option<&Principal>, named: Option<&AgentName>) -> Option<AgentCard> {
        let a2a = settings.config().a2a()?;
        let base = self.base_url();
        let shared = || self.offered(settings, Endpoint::shared(&base, &a2a.listen_path));
        let Some(name) = named.cloned().or_else(|| default_agent(settings, who)) else {
            return Some(placeholder_card(shared()));
        };
        let agent = shown_agent(settings, who, &name)?;
        // Strangers may be shown another agent than the one that answers at the shared endpoint.
        let is_default = named.is_none() && (who.is_some() || house_default(settings) == Some(&name));
        let endpoint = match is_default {
            true => shared(),
            false => self.offered(settings, Endpoint::of(&name, &base, &a2a.listen_path)),
        };
        let shown = self.skills(a2a, who, &name);
        let mut card = build_agent_card(&agent.manifest, &described(&shown), endpoint);
        card.skills.extend(self.activated_skills(who, agent));
        if agent.manifest.model.provider == Provider::Direct {
            card.capabilities.tools = schemas(shown);
        }
        Some(card)
    }

    /// The tools that are skills to this viewer. To strangers these are public ones, of those that somebody could use
    /// through this agent over A2A: what nobody can call is no skill.
    fn skills(&self, a2a: &A2aConfig, who: Option<&Principal>, agent: &AgentName) -> Vec<ShownSkill> {
        let principal = who.cloned().unwrap_or_else(|| Principal::admin(AdminProof::InProcess));
        let caller = Caller {
            principal: Arc::new(principal),
            door: Door::A2a,
            trace: TraceId::from_uuid(self.inner.ids.random()),
            hops: 0,
            room: None,
        };
        let Ok(tools) = self.inner.calls.usable_tools(&caller, Some(agent)) else { return Vec::new() };
        // Strangers are shown an external agent only if it is public, and its only tool is itself.
        let is_itself = |tool: &ToolTraits| tool.origin.external_agent() == Some(agent);
        let is_shown = |tool: &ToolTraits| who.is_some() || is_itself(tool) || any_covers(&a2a.public_skills, tool);
        tools
            .filter_map(|tool| tool.traits().map(|traits| (traits, tool)))
            .filter(|(traits, _)| is_shown(traits))
            .map(|(traits, tool)| (traits.name, tool.definition()))
            .collect()
    }

    /// The endpoint with what config offers there.
    fn offered(&self, settings: &Settings, endpoint: Endpoint) -> Endpoint {
        let a2a = &settings.config().a2a;
        let capabilities = AgentCapabilities {
            streaming: a2a.streaming,
            push_notifications: a2a.push_notifications,
            extended_agent_card: a2a.extended_card,
            required_extensions: a2a.required_extensions.clone(),
            ..AgentCapabilities::default()
        };
        Endpoint { security: self.security(settings), capabilities, ..endpoint }
    }

    /// The ways to be let in: none where everybody is.
    fn security(&self, settings: &Settings) -> Vec<SecurityScheme> {
        if !self.inner.access.is_guarded() {
            return Vec::new();
        }
        let name = settings.config().login_cookie().to_owned();
        vec![SecurityScheme::Bearer, SecurityScheme::Cookie { name }]
    }

    /// The card with a signature, if there is a key. A placeholder is nobody's word.
    fn signed(&self, mut card: AgentCard) -> Option<AgentCard> {
        let key = self.inner.cards.key.as_ref().filter(|_| !card.skills.is_empty())?;
        match key.sign(&card, &format!("{}{KEYS_PATH}", self.base_url())) {
            Ok(signature) => card.signatures.push(signature),
            Err(error) => {
                tracing::error!(agent = card.name, %error, "a card is shown unsigned");
                return None;
            }
        }
        Some(card)
    }
}

/// A tool that a viewer is shown as a skill.
type ShownSkill = (ToolName, Option<ToolDefinition>);

fn described(shown: &[ShownSkill]) -> Vec<(ToolName, Option<String>)> {
    let description = |definition: &ToolDefinition| definition.description.clone();
    shown
        .iter()
        .map(|(name, definition)| (name.clone(), definition.as_ref().map(description)))
        .collect()
}

/// The schemas of the first skills, as many as fit into a card.
fn schemas(shown: Vec<ShownSkill>) -> BTreeMap<String, SkillSchemas> {
    let mut bytes = 0;
    let skills = shown.into_iter().filter_map(|(name, definition)| {
        let ToolDefinition { input_schema, output_schema, .. } = definition?;
        let size = |schema: &Value| schema.to_string().len();
        bytes += size(&input_schema) + output_schema.as_ref().map_or(0, size);
        Some((bytes, (name.to_string(), SkillSchemas { input_schema, output_schema })))
    });
    let fits = |(bytes, _): &(usize, _)| *bytes <= SKILL_SCHEMAS_BYTES;
    skills.take(SKILL_TOOLS).take_while(fits).map(|(_, skill)| skill).collect()
}

fn default_agent(settings: &Settings, who: Option<&Principal>) -> Option<AgentName> {
    let configured = settings.config().default_agent.as_ref();
    let mut names = configured.into_iter().chain(by_default(settings));
    names.find(|name| shown_agent(settings, who, name).is_some()).cloned()
}

/// The agent of that name, if it is there for this viewer.
fn shown_agent<'s>(settings: &'s Settings, who: Option<&Principal>, name: &AgentName) -> Option<&'s Arc<Agent>> {
    let agent = settings.agents().get(name)?;
    let is_shown = match who {
        Some(principal) => agent.is_visible_to(principal),
        None => {
            let a2a = settings.config().a2a()?;
            let entry = a2a.external_agents.iter().find(|entry| entry.name == *name);
            let is_public = !agent.is_external() || entry.is_some_and(|entry| entry.public);
            is_public && a2a.public_agents.iter().any(|glob| glob.matches_agent(name))
        }
    };
    is_shown.then_some(agent)
}

/// The agent that answers whoever may talk to all of them.
fn house_default(settings: &Settings) -> Option<&AgentName> {
    settings.config().default_agent.as_ref().or_else(|| by_default(settings).next())
}

/// The agents in the order in which they answer where none is named: local ones first.
fn by_default(settings: &Settings) -> impl Iterator<Item = &AgentName> {
    let names = |is_external: bool| {
        let agents = settings.agents().iter().filter(move |(_, agent)| agent.is_external() == is_external);
        agents.map(|(name, _)| name)
    };
    names(false).chain(names(true))
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
