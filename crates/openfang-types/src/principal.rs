//! Who is calling, through which door, and what they were granted.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capability::{Glob, any_covers};
use crate::config::NamedProfile;
use crate::ids::{AgentName, KeyId, LoginId, Owner, ProfileName, SkillName};
use crate::skills::SkillPattern;
use crate::taint::Label;
use crate::tool::ToolTraits;

/// A caller whose credential was checked. Everything a caller leaves behind belongs to [`Principal::owner`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    owner: Owner,
    standing: PrincipalKind,
    credential: Option<Credential>,
    entry_label: Option<Label>,
    /// The profile of the credential, which is looked up when a request begins.
    key_profile: Option<ProfileName>,
    profiles: Vec<Arc<NamedProfile>>,
}

/// Which of a user's credentials was shown. What is open on it ends when it is revoked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Credential {
    Key(KeyId),
    Login(LoginId),
}

/// On what ground a principal stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrincipalKind {
    /// Proved to be the operator.
    Admin(AdminProof),
    /// Came over loopback while no credential is configured: the same owner as admin, but any process could be it.
    Local,
    /// A user, with what was granted to them.
    User(Grants),
}

/// How an admin was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminProof {
    /// `api_key` of the config.
    ApiKey,
    /// The per-boot token of `daemon.json`.
    DaemonToken,
    /// The kernel runs in the caller's own process.
    InProcess,
}

impl Principal {
    pub fn admin(proof: AdminProof) -> Self {
        Self::new(Owner::admin(), PrincipalKind::Admin(proof))
    }

    /// Whoever comes over loopback while no credential is configured.
    pub fn local() -> Self {
        Self::new(Owner::admin(), PrincipalKind::Local)
    }

    /// A user with grants.
    pub const fn user(name: Owner, grants: Grants) -> Self {
        Self::new(name, PrincipalKind::User(grants))
    }

    const fn new(owner: Owner, standing: PrincipalKind) -> Self {
        Self { owner, standing, credential: None, entry_label: None, key_profile: None, profiles: Vec::new() }
    }

    /// The same, recognised by this credential.
    #[must_use]
    pub fn shown_by(self, credential: Credential) -> Self {
        Self { credential: Some(credential), ..self }
    }

    /// How it was recognised, and the label that it brings: two that differ in these are not the same speaker, though they
    /// may be the same owner.
    pub fn shown(&self) -> String {
        let standing = match &self.standing {
            PrincipalKind::Admin(proof) => format!("{proof:?}"),
            PrincipalKind::Local => "Local".to_owned(),
            PrincipalKind::User(_) => String::new(),
        };
        format!("{} {standing} {:?} {:?} {}", self.owner, self.credential, self.entry_label, self.scope())
    }

    /// The same, narrowed by a profile. Profiles add up: what one of them leaves out stays left out.
    #[must_use]
    pub fn narrowed_by(mut self, profile: Arc<NamedProfile>) -> Self {
        self.profiles.push(profile);
        self
    }

    /// The names of the profiles that narrow it; empty if there are none.
    pub fn scope(&self) -> String {
        let names: Vec<&str> = self.profiles.iter().map(|profile| profile.name.as_str()).collect();
        names.join(" ")
    }

    /// What narrows it, and the label of its requests: what was begun so is shown to nobody who is narrowed otherwise. Empty
    /// for a whole principal.
    pub fn begun_as(&self) -> String {
        match self.entry_label {
            Some(label) => format!("{}={label}", self.scope()),
            None => self.scope(),
        }
    }

    /// Whether a profile lets it search for tools instead of listing them.
    pub fn searches_tools(&self) -> bool {
        self.profiles.iter().any(|narrowing| narrowing.profile.searches_tools())
    }

    /// Principals with the same audience are shown the same.
    pub fn audience(&self) -> String {
        format!("{:?} {:?}", self.standing, self.profiles)
    }

    /// The same, whose requests bring this label, whichever door they come through.
    #[must_use]
    pub fn bringing(self, label: Option<Label>) -> Self {
        Self { entry_label: label, ..self }
    }

    /// The same, with a credential that has this profile.
    #[must_use]
    pub fn with_key_profile(self, name: Option<ProfileName>) -> Self {
        Self { key_profile: name, ..self }
    }

    /// The profile of the credential.
    pub const fn key_profile(&self) -> Option<&ProfileName> {
        self.key_profile.as_ref()
    }

    /// Whose tasks, memory and streams these are.
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// On what ground this principal stands.
    pub const fn standing(&self) -> &PrincipalKind {
        &self.standing
    }

    /// The credential that was shown, if it can be revoked.
    pub const fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// The label of its requests, if the credential says so.
    pub const fn entry_label(&self) -> Option<Label> {
        self.entry_label
    }

    /// Whether this agent exists as far as the principal is concerned.
    pub fn may_talk_to(&self, agent: &AgentName) -> bool {
        let is_granted = match &self.standing {
            PrincipalKind::Admin(_) | PrincipalKind::Local => true,
            PrincipalKind::User(grants) => grants.agent(agent).is_some(),
        };
        is_granted && self.profiles.iter().all(|narrowing| narrowing.profile.has_agent(agent))
    }

    /// Whether the principal's own grants cover a tool: directly, or through the agent whose tools were all granted. Whoever
    /// may talk to an external agent may use its tool.
    pub fn may_use(&self, tool: &ToolTraits, through: Option<&AgentName>) -> bool {
        let is_granted = match &self.standing {
            PrincipalKind::Admin(_) | PrincipalKind::Local => true,
            PrincipalKind::User(grants) => {
                any_covers(&grants.tools, tool)
                    || through.is_some_and(|agent| grants.agent(agent) == Some(AgentGrant::AllItsTools))
                    || tool.origin.external_agent().is_some_and(|agent| grants.agent(agent).is_some())
                    || tool.origin.skill().is_some_and(|skill| through.is_some() || grants.skill(skill))
            }
        };
        is_granted && self.profiles.iter().all(|narrowing| narrowing.profile.has_tool(tool))
    }
}

/// What a user was granted: tool patterns, `server:NAME` (everything of an MCP server), `agent:NAME` (talk to it),
/// `agent:NAME/*` (and use all its tools) and `skill:NAME` (read a skill).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    tools: Vec<Glob>,
    agents: Vec<(AgentName, AgentGrant)>,
    skills: Vec<SkillPattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgentGrant {
    Talk,
    AllItsTools,
}

/// A text that is no grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a grant: use a tool pattern, server:NAME, agent:NAME, agent:NAME/* or skill:NAME")]
pub struct GrantError(String);

impl Grants {
    /// Reads grants as they are written in config and tables.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, GrantError> {
        let mut grants = Self::default();
        for text in texts {
            let wrong = || GrantError(text.chars().take(80).collect());
            if let Some(skill) = text.strip_prefix("skill:") {
                grants.skills.push(skill.parse().map_err(|_| wrong())?);
                continue;
            }
            match text.strip_prefix("agent:") {
                Some(agent) => {
                    let (name, grant) = match agent.strip_suffix("/*") {
                        Some(name) => (name, AgentGrant::AllItsTools),
                        None => (agent, AgentGrant::Talk),
                    };
                    grants.agents.push((AgentName::from_str(name).map_err(|_| wrong())?, grant));
                }
                None => grants.tools.push(text.parse().map_err(|_| wrong())?),
            }
        }
        Ok(grants)
    }

    /// Whether everything of other grants is among these.
    pub fn cover(&self, others: &Self) -> bool {
        let tools = || others.tools.iter().all(|tool| self.tools.contains(tool));
        let agents = || {
            others.agents.iter().all(|(agent, _)| match others.agent(agent) {
                Some(AgentGrant::AllItsTools) => self.agent(agent) == Some(AgentGrant::AllItsTools),
                Some(AgentGrant::Talk) | None => self.agent(agent).is_some(),
            })
        };
        let skills = || others.skills.iter().all(|skill| self.skills.contains(skill));
        self == others || (tools() && agents() && skills())
    }

    /// The grants as they are written.
    pub fn texts(&self) -> Vec<String> {
        let tools = self.tools.iter().map(ToString::to_string);
        let agents = self.agents.iter().map(|(name, grant)| match grant {
            AgentGrant::Talk => format!("agent:{name}"),
            AgentGrant::AllItsTools => format!("agent:{name}/*"),
        });
        tools
            .chain(agents)
            .chain(self.skills.iter().map(|skill| format!("skill:{skill}")))
            .collect()
    }

    fn skill(&self, skill: &SkillName) -> bool {
        self.skills.iter().any(|pattern| pattern.covers(skill))
    }

    fn agent(&self, agent: &AgentName) -> Option<AgentGrant> {
        let mut held = self.agents.iter().filter(|(name, _)| name == agent).map(|(_, grant)| *grant);
        let first = held.next()?;
        let all = first == AgentGrant::AllItsTools || held.any(|grant| grant == AgentGrant::AllItsTools);
        Some(if all { AgentGrant::AllItsTools } else { AgentGrant::Talk })
    }
}

/// The door a request came through: its first label depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// The command line, in process or with the daemon token.
    Cli,
    Rest,
    /// An MCP client, over HTTP or stdio.
    Mcp,
    A2a,
    /// One agent called another.
    Agent,
}

impl Door {
    const ALL: [Self; 5] = [Self::Cli, Self::Rest, Self::Mcp, Self::A2a, Self::Agent];

    /// The door with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.as_str() == word)
    }

    /// The word for logs, metrics and audit rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Rest => "rest",
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::Agent => "agent",
        }
    }
}
