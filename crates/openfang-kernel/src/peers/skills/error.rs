//! Why something about skills was not done, with the next step.

use openfang_types::ids::{ServerName, SkillName};
use openfang_types::limits::{SKILL_PROJECTS_MAX, SKILLS_KNOWN_MAX};

/// Why something about skills was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    #[error("there is no skill {name}{}",
        nearest.as_ref().map(|known| format!(" (did you mean {known}?)")).unwrap_or_default())]
    Unknown {
        name: SkillName,
        /// The one that was probably meant.
        nearest: Option<SkillName>,
    },
    #[error("the skill cannot be used: {0}")]
    Unusable(String),
    #[error("the skill {0} is not trusted")]
    NotTrusted(SkillName),
    #[error("the files of the skill are not those that were shown: their digest is {now}; look at it again")]
    OtherDigest { now: String },
    #[error("there is a skill {name} already, from {source_text}; remove it first")]
    Exists { name: SkillName, source_text: String },
    #[error(
        "version {new} of the skill {name} is older than the installed version {installed}; remove the skill first"
    )]
    Older { name: SkillName, new: String, installed: String },
    #[error("the limit of {SKILLS_KNOWN_MAX} skills is reached; remove one first")]
    TooMany,
    #[error("the limit of {SKILL_PROJECTS_MAX} trusted project directories is reached; remove one first")]
    TooManyProjects,
    #[error("{0}")]
    Source(String),
    #[error("the MCP server {server} did not give the skill: {why}")]
    Server { server: ServerName, why: String },
    #[error("{path} cannot be used: {cause}; skills are off until it is repaired or removed")]
    Ledger { path: String, cause: String },
    #[error("the skill could not be stored: {0}")]
    Storage(String),
}

impl SkillError {
    /// The word for API errors.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_skill",
            Self::Unusable(_) => "skill_unusable",
            Self::NotTrusted(_) => "skill_not_trusted",
            Self::OtherDigest { .. } => "skill_changed",
            Self::Exists { .. } => "skill_exists",
            Self::Older { .. } => "skill_older",
            Self::TooMany | Self::TooManyProjects => "too_many_skills",
            Self::Source(_) => "skill_source",
            Self::Server { .. } => "skill_server",
            Self::Ledger { .. } => "skill_ledger",
            Self::Storage(_) => "skill_storage",
        }
    }
}
