//! Where skills are looked for, under `[skills]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigProblem;

/// Where skills are looked for, under `[skills]`. A skill that is found is not used before it is trusted and enabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillsConfig {
    /// Directories with skills, besides `skills/` of the home. Absolute paths, or relative to the home.
    pub paths: Vec<PathBuf>,
    /// Whether skills are looked for in `~/.agents/skills` and `~/.claude/skills` too. They are only read.
    pub user: bool,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { paths: Vec::new(), user: true }
    }
}

pub(super) fn problems(skills: &SkillsConfig) -> Vec<ConfigProblem> {
    let is_empty = skills.paths.iter().any(|path| path.as_os_str().is_empty());
    let why = || "a path is empty; write the directory that has the skills".to_owned();
    is_empty
        .then(|| ConfigProblem { key: "skills.paths".to_owned(), why: why() })
        .into_iter()
        .collect()
}
