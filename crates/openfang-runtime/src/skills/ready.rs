//! The skills that agents and clients may use: trusted or marked as somebody else's, enabled, and with a private copy.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openfang_types::capability::Namespace;
use openfang_types::ids::{SkillName, ToolName};
use openfang_types::skills::SkillFile;
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{Origin, Recorded, ToolAnnotations, ToolKind, ToolTraits};
use serde_json::{Map, Value};

use super::package::{SkillFault, SkillPackage};
use super::store::SkillStore;
use crate::context::CallContext;
use crate::pipeline::capability;

/// A skill in force.
#[derive(Debug)]
pub struct ReadySkill {
    pub name: SkillName,
    pub description: String,
    pub frontmatter: Map<String, Value>,
    pub files: Vec<SkillFile>,
    pub digest: String,
    /// What the content brings into a run.
    pub labels: Labels,
    /// The tools that it expects, where the operator trusts it. A call of one still needs a capability.
    pub expects: Vec<ToolName>,
    /// The words that describe it to other agents.
    pub tags: Vec<String>,
    /// Messages that show what it is for.
    pub examples: Vec<String>,
    store: SkillStore,
    /// A file was not what it had been.
    is_broken: AtomicBool,
}

/// The skills in force, by name.
#[derive(Debug, Default)]
pub struct SkillSet {
    skills: BTreeMap<SkillName, Arc<ReadySkill>>,
}

impl ReadySkill {
    /// A skill whose copy is in this store. Only a trusted skill expects tools.
    pub fn new(package: &SkillPackage, store: SkillStore, (labels, is_trusted): (Labels, bool)) -> Self {
        let expects = if is_trusted { exact_tools(package) } else { Vec::new() };
        let tags = package.metadata("tags").map(|tags| words_in(&tags)).unwrap_or_default();
        let examples = package.metadata("examples").map(|text| lines_in(&text)).unwrap_or_default();
        Self {
            name: package.name.clone(),
            description: package.description.clone(),
            frontmatter: package.frontmatter.clone(),
            files: package.files.clone(),
            digest: package.digest.clone(),
            labels,
            expects,
            tags,
            examples,
            store,
            is_broken: AtomicBool::new(false),
        }
    }

    /// The bytes of a file. A skill with a file that is not what it was is not used any more. Blocks.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, SkillFault> {
        let file = self.files.iter().find(|file| file.path == path);
        let file = file.ok_or_else(|| SkillFault::NoSuchFile(path.chars().take(200).collect()))?;
        let read = self.store.read(&self.digest, file);
        if let Err(fault) = &read {
            tracing::error!(skill = %self.name, %fault, "a skill is not used any more; trust it again");
            self.is_broken.store(true, Ordering::Relaxed);
        }
        read
    }

    /// What the guards know a call as that reads it.
    pub fn traits(&self, tool: ToolName) -> ToolTraits {
        ToolTraits {
            name: tool,
            annotations: ToolAnnotations::READ_ONLY,
            sink: SinkKind::Reads,
            kind: ToolKind::Plain,
            origin: Origin::Skill(self.name.clone()),
            namespace: Namespace::Own,
            recorded: Recorded::After,
        }
    }

    fn is_whole(&self) -> bool {
        !self.is_broken.load(Ordering::Relaxed)
    }
}

impl SkillSet {
    pub fn new(skills: impl IntoIterator<Item = ReadySkill>) -> Self {
        Self { skills: skills.into_iter().map(|skill| (skill.name.clone(), Arc::new(skill))).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// The skill of that name.
    pub fn get(&self, name: &SkillName) -> Option<&Arc<ReadySkill>> {
        self.skills.get(name).filter(|skill| skill.is_whole())
    }

    /// The skills, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ReadySkill>> {
        self.skills.values().filter(|skill| skill.is_whole())
    }

    /// The skills that a caller may use, directly or through the agent of the call.
    pub fn usable<'a>(&'a self, cx: &'a CallContext) -> impl Iterator<Item = &'a Arc<ReadySkill>> {
        self.iter().filter(|skill| {
            super::activation::read_tool().is_some_and(|tool| capability::allows(cx, &skill.traits(tool)))
        })
    }
}

/// The names of tools among what a skill expects. A pattern, or what another program calls its tools, is none of them.
fn exact_tools(package: &SkillPackage) -> Vec<ToolName> {
    package.allowed_tools().iter().filter_map(|tool| tool.parse().ok()).collect()
}

fn words_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    words.map(|word| word.chars().take(40).collect()).take(16).collect()
}

fn lines_in(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.chars().take(200).collect()).take(8).collect()
}
