//! Reads the cards of other agents, in every version and leniently: members that cannot be read are left out. Lists and
//! texts are bounded. Everything in a card is the agent's own claim.

use openfang_types::limits::{
    A2A_CARD_ENTRIES, A2A_CARD_INTERFACES, A2A_CARD_SIGNATURES, A2A_CARD_SKILLS, A2A_CARD_TEXT_MAX_CHARS,
};
use openfang_types::scan::scan_text;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::card::{AgentCapabilities, AgentCard, AgentSkill, CardSignature, SecurityScheme, TOOLS_EXTENSION};

/// The card of another agent.
#[derive(Debug, Clone)]
pub struct PeerCard {
    pub name: String,
    pub description: String,
    /// The version of the agent itself.
    pub version: String,
    /// The organization behind the agent.
    pub provider: Option<String>,
    /// The addresses of the agent, in the order of the card.
    pub interfaces: Vec<PeerInterface>,
    /// Whether the agent streams. None where the card does not say.
    pub streaming: Option<bool>,
    /// Whether the agent pushes events to a URL.
    pub push_notifications: bool,
    /// Whether authenticated callers get another card.
    pub extended_card: bool,
    pub extensions: Vec<PeerExtension>,
    pub skills: Vec<AgentSkill>,
    /// The media types it reads.
    pub input_modes: Vec<String>,
    /// The media types it writes.
    pub output_modes: Vec<String>,
    /// The security schemes, such as `bearer (http Bearer)`.
    pub schemes: Vec<String>,
    /// Whether the card demands one of the schemes.
    pub requires_credential: bool,
    pub signatures: Vec<CardSignature>,
    /// The whole card as received, without our own secrets.
    pub document: Box<RawValue>,
}

/// An address of an agent, as its card states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerInterface {
    pub url: String,
    /// The binding in the words of the card. Empty where the card does not say.
    pub binding: String,
    /// The version in the words of the card.
    pub version: Option<String>,
    /// The agent's name for itself at a shared address.
    pub tenant: Option<String>,
}

/// An extension of the protocol that an agent uses.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerExtension {
    pub uri: String,
    /// Whether the agent refuses clients that do not support it.
    pub required: bool,
    /// The settings of the extension.
    pub params: Option<Value>,
}

impl PeerCard {
    /// Reads a card. None unless it is a JSON object with a name and something that only cards have.
    pub fn read(document: &[u8]) -> Option<Self> {
        let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document).trim_ascii();
        let text = scan_text(document).ok()?;
        let Value::Object(members) = serde_json::from_str(text).ok()? else { return None };
        Self::of(&members, serde_json::from_str::<&RawValue>(text).ok()?)
    }

    /// Reads a card that is already parsed.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        let document = serde_json::value::to_raw_value(value).ok()?;
        Self::of(value.as_object()?, &document)
    }

    fn of(members: &Map<String, Value>, document: &RawValue) -> Option<Self> {
        let name = text(members, "name").filter(|name| !name.trim().is_empty())?;
        let is_card = ["supportedInterfaces", "url", "skills", "capabilities", "additionalInterfaces"];
        is_card.iter().find(|member| members.contains_key(**member))?;
        let empty = Map::new();
        let capabilities = members.get("capabilities").and_then(Value::as_object).unwrap_or(&empty);
        let extended = ["supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard"];
        Some(Self {
            name,
            description: text(members, "description").unwrap_or_default(),
            version: text(members, "version").unwrap_or_default(),
            provider: members
                .get("provider")
                .and_then(Value::as_object)
                .and_then(|held| text(held, "organization")),
            interfaces: interfaces(members),
            streaming: capabilities.get("streaming").and_then(Value::as_bool),
            push_notifications: flag(capabilities, "pushNotifications"),
            extended_card: flag(capabilities, "extendedAgentCard") || extended.iter().any(|one| flag(members, one)),
            extensions: extensions(capabilities),
            skills: skills(members),
            input_modes: texts(members.get("defaultInputModes")),
            output_modes: texts(members.get("defaultOutputModes")),
            schemes: schemes(members),
            requires_credential: requires_credential(members),
            signatures: signatures(members),
            document: document.to_owned(),
        })
    }

    /// The extensions that a client must support.
    pub fn required_extensions(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().filter(|one| one.required).map(|one| one.uri.as_str())
    }

    /// The parameters of an extension, if the agent has it.
    pub fn extension(&self, uri: &str) -> Option<&PeerExtension> {
        self.extensions.iter().find(|one| one.uri == uri)
    }
}

impl From<&PeerCard> for AgentCard {
    /// The card in the model of our own cards. Addresses are the agent's claims.
    fn from(card: &PeerCard) -> Self {
        let at = |binding: &str| {
            let found = card.interfaces.iter().find(|one| one.binding.eq_ignore_ascii_case(binding));
            found.map(|one| one.url.clone())
        };
        let tools = card.extension(TOOLS_EXTENSION).and_then(|tools| tools.params.clone());
        let tools = tools.and_then(|tools| serde_json::from_value(tools).ok()).unwrap_or_default();
        let url = at("JSONRPC").or_else(|| card.interfaces.first().map(|one| one.url.clone()));
        let has_bearer =
            card.requires_credential && card.schemes.iter().any(|one| one.to_lowercase().contains("bearer"));
        Self {
            name: card.name.clone(),
            description: card.description.clone(),
            http_json_url: at("HTTP+JSON").unwrap_or_default(),
            url: url.unwrap_or_default(),
            version: card.version.clone(),
            capabilities: AgentCapabilities {
                streaming: card.streaming.unwrap_or_default(),
                push_notifications: card.push_notifications,
                state_transition_history: false,
                extended_agent_card: card.extended_card,
                required_extensions: card.required_extensions().map(str::to_owned).collect(),
                tools,
            },
            skills: card.skills.clone(),
            default_input_modes: card.input_modes.clone(),
            default_output_modes: card.output_modes.clone(),
            security: if has_bearer { vec![SecurityScheme::Bearer] } else { Vec::new() },
            signatures: card.signatures.clone(),
        }
    }
}

/// The interfaces of 1.0; otherwise those of 0.x, the preferred one first.
fn interfaces(members: &Map<String, Value>) -> Vec<PeerInterface> {
    let objects = |name: &str| {
        members
            .get(name)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
    };
    let supported: Vec<_> = objects("supportedInterfaces").filter_map(interface).take(A2A_CARD_INTERFACES).collect();
    if !supported.is_empty() {
        return supported;
    }
    let version = text(members, "protocolVersion");
    let preferred = text(members, "url").map(|url| PeerInterface {
        url,
        binding: text(members, "preferredTransport").unwrap_or_else(|| "JSONRPC".to_owned()),
        version: version.clone(),
        tenant: None,
    });
    let mut found: Vec<PeerInterface> = preferred.into_iter().collect();
    for other in objects("additionalInterfaces").take(A2A_CARD_INTERFACES) {
        if let Some(other) = interface(other) {
            let other = PeerInterface { version: other.version.or_else(|| version.clone()), ..other };
            if !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found
}

fn interface(members: &Map<String, Value>) -> Option<PeerInterface> {
    let tenant = text(members, "tenant").filter(|tenant| !tenant.is_empty());
    Some(PeerInterface {
        url: text(members, "url")?,
        binding: text(members, "protocolBinding")
            .or_else(|| text(members, "transport"))
            .unwrap_or_default(),
        version: text(members, "protocolVersion").filter(|version| !version.is_empty()),
        tenant,
    })
}

fn extensions(capabilities: &Map<String, Value>) -> Vec<PeerExtension> {
    let listed = capabilities.get("extensions").and_then(Value::as_array).into_iter().flatten();
    let read = |value: &Value| {
        let members = value.as_object()?;
        let (uri, required) = (text(members, "uri")?, flag(members, "required"));
        Some(PeerExtension { uri, required, params: members.get("params").cloned() })
    };
    listed.filter_map(read).take(A2A_CARD_ENTRIES).collect()
}

fn skills(members: &Map<String, Value>) -> Vec<AgentSkill> {
    let listed = members.get("skills").and_then(Value::as_array).into_iter().flatten();
    let read = |value: &Value| {
        let members = value.as_object()?;
        let id = text(members, "id").or_else(|| text(members, "name"))?;
        Some(AgentSkill {
            name: text(members, "name").unwrap_or_else(|| id.clone()),
            id,
            description: text(members, "description").unwrap_or_default(),
            tags: texts(members.get("tags")),
            examples: texts(members.get("examples")),
        })
    };
    listed.filter_map(read).take(A2A_CARD_SKILLS).collect()
}

/// The schemes by their names in the card, with what kind they are. In 1.0 the kind is a member around the scheme.
fn schemes(members: &Map<String, Value>) -> Vec<String> {
    let listed = members.get("securitySchemes").and_then(Value::as_object).into_iter().flatten();
    let described = |(name, value): (&String, &Value)| {
        let members = value.as_object();
        let wrapped = members.and_then(|held| held.iter().find(|(kind, _)| kind.ends_with("SecurityScheme")));
        let (kind, inner) = match wrapped {
            Some((kind, inner)) => (Some(kind.trim_end_matches("SecurityScheme").to_owned()), inner.as_object()),
            None => (members.and_then(|held| text(held, "type")), members),
        };
        let detail = inner.and_then(|held| text(held, "scheme").or_else(|| text(held, "name")));
        let words: Vec<String> = kind.into_iter().chain(detail).collect();
        clip(&if words.is_empty() { name.clone() } else { format!("{name} ({})", words.join(" ")) })
    };
    let older = members.get("authentication").and_then(|held| held.get("schemes"));
    listed.map(described).chain(texts(older)).take(A2A_CARD_ENTRIES).collect()
}

/// A requirement without a scheme is fulfilled without a credential.
fn requires_credential(members: &Map<String, Value>) -> bool {
    let demands = |value: &Value| {
        let schemes = value.get("schemes").unwrap_or(value);
        schemes.as_object().is_some_and(|schemes| !schemes.is_empty())
    };
    let listed = ["securityRequirements", "security"]
        .iter()
        .filter_map(|name| members.get(*name)?.as_array());
    let mut listed = listed.filter(|list| !list.is_empty());
    let older = members
        .get("authentication")
        .and_then(|held| held.get("schemes"))
        .and_then(Value::as_array);
    match listed.next() {
        Some(requirements) => requirements.iter().all(demands),
        None => older.is_some_and(|schemes| !schemes.is_empty()),
    }
}

fn signatures(members: &Map<String, Value>) -> Vec<CardSignature> {
    let listed = members.get("signatures").and_then(Value::as_array).into_iter().flatten();
    let read = |value: &Value| {
        let part = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(CardSignature { protected: part("protected")?, signature: part("signature")? })
    };
    listed.filter_map(read).take(A2A_CARD_SIGNATURES).collect()
}

fn text(members: &Map<String, Value>, name: &str) -> Option<String> {
    members.get(name).and_then(Value::as_str).map(clip)
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(clip).take(A2A_CARD_ENTRIES).collect()
}

fn flag(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name).and_then(Value::as_bool).unwrap_or_default()
}

fn clip(text: &str) -> String {
    text.chars().take(A2A_CARD_TEXT_MAX_CHARS).collect()
}
