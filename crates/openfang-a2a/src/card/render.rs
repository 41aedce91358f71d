//! Writes a card as JSON, in one of two forms.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::{AgentCapabilities, AgentCard, AgentSkill, CardSignature, SecurityScheme, SkillSchemas, TOOLS_EXTENSION};

/// The form in which a card is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CardForm {
    /// One document that clients of 0.1, 0.2, 0.3 and 1.0 can all read. Readers of 1.0 drop unknown members, so a
    /// signature over the 1.0 members stays valid.
    Superset,
    /// Only the members of 1.0.
    Strict,
}

/// A card in one of its forms.
pub(super) struct RenderedCard<'a>(pub(super) &'a AgentCard, pub(super) CardForm);

/// The versions of each binding, the preferred one first.
const VERSIONS: [&str; 2] = ["1.0", "0.3"];
const JSON_RPC: &str = "JSONRPC";
const HTTP_JSON: &str = "HTTP+JSON";

impl Serialize for RenderedCard<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(card, form) = self;
        let older = match form {
            CardForm::Superset => Some(*card),
            CardForm::Strict => None,
        };
        let schemes = card.security.iter().map(|scheme| (scheme.id(), Scheme::of(scheme, *form)));
        Document {
            name: &card.name,
            description: &card.description,
            url: older.map(|card| &*card.url),
            preferred_transport: older.map(|_| JSON_RPC),
            protocol_version: older.map(|_| "0.3.0"),
            additional_interfaces: older.map(|card| {
                [(&*card.url, JSON_RPC), (&*card.http_json_url, HTTP_JSON)]
                    .map(|(url, transport)| OlderInterface { url, transport })
            }),
            supported_interfaces: interfaces(card),
            version: &card.version,
            capabilities: Capabilities::of(&card.capabilities, *form),
            // For older clients this member implies a credential. Where no credential is needed, nobody can
            // authenticate.
            supports_authenticated_extended_card: older
                .map(|card| card.capabilities.extended_agent_card && !card.security.is_empty()),
            authentication: older
                .filter(|card| !card.security.is_empty())
                .map(|card| Authentication { schemes: card.security.iter().map(SecurityScheme::id).collect() }),
            security_schemes: schemes.collect(),
            security: older
                .map(|card| card.security.iter().map(|one| BTreeMap::from([(one.id(), NO_SCOPES)])).collect()),
            security_requirements: card.security.iter().map(Requirement::of).collect(),
            default_input_modes: &card.default_input_modes,
            default_output_modes: &card.default_output_modes,
            skills: card.skills.iter().map(Skill::of).collect(),
            signatures: &card.signatures,
        }
        .serialize(to)
    }
}

impl SecurityScheme {
    /// The name of the scheme in the card.
    const fn id(&self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Cookie { .. } => "cookie",
        }
    }
}

/// Members of type `Option` belong to older versions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_transport: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_interfaces: Option<[OlderInterface<'a>; 2]>,
    supported_interfaces: Vec<Interface<'a>>,
    version: &'a str,
    capabilities: Capabilities<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supports_authenticated_extended_card: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<Authentication>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    security_schemes: BTreeMap<&'static str, Scheme<'a>>,
    #[serde(skip_serializing_if = "nothing")]
    security: Option<Vec<BTreeMap<&'static str, Scopes>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    security_requirements: Vec<Requirement>,
    default_input_modes: &'a [String],
    default_output_modes: &'a [String],
    skills: Vec<Skill<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    signatures: &'a [CardSignature],
}

fn nothing<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_none_or(Vec::is_empty)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Interface<'a> {
    url: &'a str,
    protocol_binding: &'static str,
    protocol_version: &'static str,
}

fn interfaces(card: &AgentCard) -> Vec<Interface<'_>> {
    let bindings = [(&card.url, JSON_RPC), (&card.http_json_url, HTTP_JSON)];
    let in_version = |protocol_version| {
        bindings.map(|(url, protocol_binding)| Interface { url, protocol_binding, protocol_version })
    };
    VERSIONS.into_iter().flat_map(in_version).collect()
}

#[derive(Serialize)]
struct OlderInterface<'a> {
    url: &'a str,
    transport: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities<'a> {
    streaming: bool,
    push_notifications: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_transition_history: Option<bool>,
    extended_agent_card: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Extension<'a>>,
}

#[derive(Serialize)]
struct Extension<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a BTreeMap<String, SkillSchemas>>,
}

impl<'a> Extension<'a> {
    const fn required(uri: &'a str) -> Self {
        Self { uri, description: None, required: true, params: None }
    }

    /// The tools of an agent; none if it has none.
    fn of_tools(tools: &'a BTreeMap<String, SkillSchemas>) -> Option<Self> {
        let description = Some("The schemas of skills that a data part with tool and arguments calls.");
        (!tools.is_empty()).then_some(Self { uri: TOOLS_EXTENSION, description, required: false, params: Some(tools) })
    }
}

impl<'a> Capabilities<'a> {
    fn of(capabilities: &'a AgentCapabilities, form: CardForm) -> Self {
        Self {
            streaming: capabilities.streaming,
            push_notifications: capabilities.push_notifications,
            state_transition_history: match form {
                CardForm::Superset => Some(capabilities.state_transition_history),
                CardForm::Strict => None,
            },
            extended_agent_card: capabilities.extended_agent_card,
            extensions: capabilities
                .required_extensions
                .iter()
                .map(|uri| Extension::required(uri))
                .chain(Extension::of_tools(&capabilities.tools))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct Authentication {
    schemes: Vec<&'static str>,
}

/// The scopes of a scheme, which are always empty.
type Scopes = [&'static str; 0];
const NO_SCOPES: Scopes = [];

#[derive(Serialize)]
struct Requirement {
    schemes: BTreeMap<&'static str, List>,
}

#[derive(Serialize)]
struct List {
    list: Scopes,
}

impl Requirement {
    fn of(scheme: &SecurityScheme) -> Self {
        Self { schemes: BTreeMap::from([(scheme.id(), List { list: NO_SCOPES })]) }
    }
}

/// In 1.0 a scheme is one of the first two members. Older versions have the other members side by side, as in OpenAPI.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Scheme<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    http_auth_security_scheme: Option<HttpScheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_security_scheme: Option<ApiKeyScheme<'a>>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    place: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

#[derive(Serialize)]
struct HttpScheme {
    scheme: &'static str,
}

#[derive(Serialize)]
struct ApiKeyScheme<'a> {
    location: &'static str,
    name: &'a str,
}

impl<'a> Scheme<'a> {
    fn of(scheme: &'a SecurityScheme, form: CardForm) -> Self {
        const BEARER: &str = "Bearer";
        const COOKIE: &str = "cookie";
        match (scheme, form) {
            (SecurityScheme::Bearer, CardForm::Strict) => {
                Self { http_auth_security_scheme: Some(HttpScheme { scheme: BEARER }), ..Self::default() }
            }
            (SecurityScheme::Bearer, CardForm::Superset) => {
                Self { kind: Some("http"), scheme: Some(BEARER), ..Self::of(scheme, CardForm::Strict) }
            }
            (SecurityScheme::Cookie { name }, CardForm::Strict) => {
                Self { api_key_security_scheme: Some(ApiKeyScheme { location: COOKIE, name }), ..Self::default() }
            }
            (SecurityScheme::Cookie { name }, CardForm::Superset) => Self {
                kind: Some("apiKey"),
                place: Some(COOKIE),
                name: Some(name),
                ..Self::of(scheme, CardForm::Strict)
            },
        }
    }
}

#[derive(Serialize)]
struct Skill<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    tags: &'a [String],
    examples: &'a [String],
}

impl<'a> Skill<'a> {
    fn of(skill: &'a AgentSkill) -> Self {
        let AgentSkill { id, name, description, tags, examples } = skill;
        Self { id, name, description, tags, examples }
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
