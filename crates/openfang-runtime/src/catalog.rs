//! The tools there are, by name, whatever they come from: sources that stay, and sources that come and go.
//!
//! A name belongs to the first source that has it, and those that stay are first. Tools of servers are made and validators
//! are compiled on first use.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use openfang_mcp::listing::{Entry, Late};
use openfang_types::ids::ToolName;
use openfang_types::tool::{Origin, ToolDefinition, ToolTraits};
use tokio::sync::watch;

use crate::mcp_server::listed_json;
use crate::quarantine::Quarantine;
use crate::schema_check::{CompiledSchema, SchemaChecks};
use crate::skills::SkillSet;
use crate::tool_source::ToolSource;
use crate::tools::Tool;

/// The tools there are.
#[derive(Default)]
pub struct Catalog {
    /// The sources that stay; looked at without a lock.
    lasting: Merged,
    changing: RwLock<Arc<Merged>>,
    /// Held by whoever replaces sources.
    replacing: Mutex<()>,
    /// Counts how often sources were replaced.
    version: watch::Sender<u64>,
    quarantine: Quarantine,
    /// The skills that agents and clients may use, as that changes.
    skills: watch::Sender<Arc<SkillSet>>,
}

/// The tools of several sources.
#[derive(Default)]
struct Merged {
    sources: Vec<Arc<Source>>,
    /// Which source and which of its tools, in the order of their names.
    order: Vec<(u32, u32)>,
}

/// A source, as the catalogue and its lists hold it.
struct Source(Arc<dyn ToolSource>);

/// A tool that there is, by its place at its source. It is not made for being looked at.
#[derive(Clone)]
pub struct CatalogEntry {
    source: Arc<Source>,
    place: usize,
}

/// A tool with what it says about itself.
pub struct Registered {
    /// What the guards need to know of it.
    pub traits: ToolTraits,
    /// What a tool of the house says about itself; the others are asked each time.
    definition: Option<Arc<ToolDefinition>>,
    pub(crate) tool: Box<dyn Tool>,
    /// Boxed: most tools of MCP servers are never called.
    schema: OnceLock<Result<Box<CompiledSchema>, String>>,
    /// Where checks run that take longer.
    checks: Arc<SchemaChecks>,
}

/// Why a tool did not enter the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The name is taken.
    #[error("there is a tool {0} already")]
    NameTaken(ToolName),
    /// The schema is beyond what we are willing to compile or check.
    #[error("the tool {tool} is refused: {why}")]
    Schema { tool: ToolName, why: &'static str },
}

impl Catalog {
    /// The tools of sources that stay.
    pub fn new(lasting: Vec<Arc<dyn ToolSource>>) -> Self {
        Self { lasting: Merged::of(lasting.into_iter().map(Source::shared).collect(), None), ..Self::default() }
    }

    /// From now on these are the sources of one kind of origin; those of other kinds stay. A name that a source has which
    /// stays for good remains that source's. The same sources are no news: everybody who listens would list them again.
    pub fn replace(&self, is_replaced: impl Fn(&Origin) -> bool, sources: Vec<Arc<dyn ToolSource>>) {
        let _alone = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.changing();
        let (replaced, kept): (Vec<_>, Vec<_>) =
            known.sources.iter().partition(|source| is_replaced(source.0.origin()));
        if replaced.len() == sources.len() && replaced.iter().zip(&sources).all(|(old, new)| Arc::ptr_eq(&old.0, new)) {
            return;
        }
        let sources = kept.into_iter().cloned().chain(sources.into_iter().map(Source::shared)).collect();
        let merged = Arc::new(Merged::of(sources, Some(&self.lasting)));
        *self.changing.write().unwrap_or_else(PoisonError::into_inner) = merged;
        self.version.send_modify(|version| *version += 1);
    }

    /// Says that lists of tools are to be made anew, though no source was replaced: an agent came or went.
    pub fn announce(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// The tool of that name.
    pub fn get(&self, name: &ToolName) -> Option<Arc<Registered>> {
        let name = name.as_str();
        self.lasting.get(name).or_else(|| self.changing().get(name))
    }

    /// All tools, by name.
    pub fn sorted(&self) -> Vec<CatalogEntry> {
        let mut all = self.entries();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        all
    }

    /// The tool of that name, without making it.
    pub(crate) fn find(&self, name: &str) -> Option<CatalogEntry> {
        self.lasting.find(name).or_else(|| self.changing().find(name))
    }

    /// All tools, by source.
    pub(crate) fn entries(&self) -> Vec<CatalogEntry> {
        self.lasting.all().chain(self.changing().all()).collect()
    }

    /// The tools that wait because their definition changed.
    pub const fn quarantine(&self) -> &Quarantine {
        &self.quarantine
    }

    /// The skills that are in force.
    pub fn skills(&self) -> Arc<SkillSet> {
        Arc::clone(&self.skills.borrow())
    }

    /// From now on these are the skills. Lists are made anew.
    pub fn replace_skills(&self, skills: SkillSet) {
        self.skills.send_replace(Arc::new(skills));
        self.announce();
    }

    /// Tells when there are other skills.
    pub fn skill_changes(&self) -> watch::Receiver<Arc<SkillSet>> {
        self.skills.subscribe()
    }

    /// How often lists of tools had to be made anew.
    pub fn version(&self) -> u64 {
        *self.version.borrow()
    }

    /// Tells when lists of tools are to be made anew.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn changing(&self) -> Arc<Merged> {
        Arc::clone(&self.changing.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Merged {
    /// Puts sources together. A name that is taken elsewhere, or by a source before, is not theirs.
    fn of(sources: Vec<Arc<Source>>, elsewhere: Option<&Self>) -> Self {
        let mut order = Vec::with_capacity(sources.iter().map(|source| source.0.names().len()).sum());
        let taken: HashSet<&str> = elsewhere.into_iter().flat_map(Self::names).collect();
        for (number, source) in (0..).zip(&sources) {
            let places = source.0.names().iter().enumerate();
            let free = places.filter(|(_, name)| !name.is_empty() && !taken.contains(name));
            order.extend(free.filter_map(|(place, _)| Some((number, u32::try_from(place).ok()?))));
        }
        let mut merged = Self { sources, order: Vec::new() };
        // The order of places within equal names is that of their sources: the first one has the name.
        order.sort_by(|a, b| merged.name(*a).cmp(merged.name(*b)));
        order.dedup_by(|a, b| merged.name(*a) == merged.name(*b));
        merged.order = order;
        merged
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|at| self.name(*at))
    }

    fn all(&self) -> impl Iterator<Item = CatalogEntry> {
        self.order.iter().filter_map(|(source, place)| {
            Some(CatalogEntry { source: Arc::clone(self.sources.get(*source as usize)?), place: *place as usize })
        })
    }

    fn name(&self, (source, place): (u32, u32)) -> &str {
        let source = self.sources.get(source as usize);
        source.and_then(|source| source.0.names().get(place as usize)).unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<Arc<Registered>> {
        let (source, place) = self.place_of(name)?;
        source.0.get(place)
    }

    fn find(&self, name: &str) -> Option<CatalogEntry> {
        let (source, place) = self.place_of(name)?;
        Some(CatalogEntry { source: Arc::clone(source), place })
    }

    fn place_of(&self, name: &str) -> Option<(&Arc<Source>, usize)> {
        let found = self.order.binary_search_by(|at| self.name(*at).cmp(name)).ok()?;
        let (source, place) = self.order.get(found)?;
        Some((self.sources.get(*source as usize)?, *place as usize))
    }
}

impl Source {
    fn shared(source: Arc<dyn ToolSource>) -> Arc<Self> {
        Arc::new(Self(source))
    }
}

impl Late for Source {
    fn name(&self, place: usize) -> &str {
        self.0.names().get(place).unwrap_or_default()
    }

    fn json(&self, place: usize) -> Cow<'_, str> {
        self.0
            .definition(place)
            .map_or(Cow::Borrowed("null"), |tool| Cow::Owned(listed_json(&tool)))
    }
}

impl CatalogEntry {
    pub fn name(&self) -> &str {
        self.source.name(self.place)
    }

    /// What the guards need to know of it.
    pub fn traits(&self) -> Option<ToolTraits> {
        self.source.0.traits(self.place)
    }

    /// What it says about itself.
    pub fn definition(&self) -> Option<ToolDefinition> {
        self.source.0.definition(self.place)
    }

    /// The tool as an entry of a list, to be written when somebody wants to read it.
    pub fn entry(self) -> Entry {
        Entry::late(self.source, self.place)
    }
}

impl Registered {
    /// A tool of our own, which says the same about itself each time.
    pub(crate) fn of_our_own(tool: Box<dyn Tool>, definition: ToolDefinition) -> Self {
        Self { definition: Some(Arc::new(definition)), ..Self::new(tool, Arc::default()) }
    }

    /// A tool whose definition is asked for when it is needed.
    pub(crate) fn new(tool: Box<dyn Tool>, checks: Arc<SchemaChecks>) -> Self {
        Self { traits: tool.traits(), definition: None, tool, schema: OnceLock::new(), checks }
    }

    /// What it says about itself.
    pub fn definition(&self) -> Arc<ToolDefinition> {
        self.definition.clone().unwrap_or_else(|| Arc::new(self.tool.definition()))
    }

    /// The compiled schema or why it cannot be compiled, once that is known. What we wrote ourselves is compiled here.
    pub(crate) fn known_schema(&self) -> Option<Result<&CompiledSchema, &str>> {
        if self.definition.is_some() {
            return Some(self.schema());
        }
        self.schema
            .get()
            .map(|compiled| compiled.as_ref().map(AsRef::as_ref).map_err(String::as_str))
    }

    /// The compiled schema, or why it cannot be compiled. Compiling what others wrote may take long.
    pub(crate) fn schema(&self) -> Result<&CompiledSchema, &str> {
        let compiled = self.schema.get_or_init(|| {
            let compiled = CompiledSchema::of(&self.definition().input_schema)?;
            Ok(Box::new(if self.definition.is_some() { compiled.by_us() } else { compiled }))
        });
        compiled.as_ref().map(AsRef::as_ref).map_err(String::as_str)
    }

    /// Where checks run that take longer.
    pub(crate) fn checks(&self) -> &SchemaChecks {
        &self.checks
    }
}
