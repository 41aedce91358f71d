//! One server: its entry, the way to it, what is shown of it, and what is remembered.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openfang_mcp::client::{Relay, Upstream};
use openfang_mcp::listing::{Listed, Listing};
use openfang_runtime::catalog::Registered;
use openfang_runtime::server_call::GuardedRelay;
use openfang_runtime::server_tools::ServerTools;
use openfang_runtime::tool_source::ToolSource as _;
use openfang_types::capability::{Namespace, ServerNames};
use openfang_types::config::{McpServerConfigEntry, ToolSelection};
use openfang_types::mcp_status::{McpReview, McpServerState, McpServerStatus, McpToolReview, McpToolStatus};
use openfang_types::names::Names;
use openfang_types::tool::ToolTraits;

use super::kept::ServerMemory;
use super::log::ServerLog;

use view::ServerView;

mod changes;
mod view;

pub(crate) struct Connected {
    pub(crate) entry: McpServerConfigEntry,
    relay: Arc<GuardedRelay>,
    log: Arc<ServerLog>,
    shown: Arc<Mutex<ServerView>>,
    written: Mutex<Written>,
}

/// How what is remembered of a server stands to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// It is in the file.
    Done,
    /// It is to be.
    ChangeFilter,
    /// The file is another one's, or gone.
    Retired,
}

impl Connected {
    pub(super) fn new(entry: McpServerConfigEntry, relay: Relay, log: Arc<ServerLog>, mut kept: ServerMemory) -> Self {
        let manifest = Arc::clone(&relay.upstream().snapshot().manifest);
        let quarantined = kept.look(&entry, &manifest).quarantined;
        let shown = ServerView::new(kept, manifest, quarantined, entry.tools.clone());
        let shown = Arc::new(Mutex::new(shown));
        let admission = changes::admission(&entry, relay.upstream(), &shown);
        Self {
            entry,
            relay: Arc::new(GuardedRelay::admitting(relay, admission)),
            log,
            shown,
            written: Mutex::new(Written::Done),
        }
    }

    /// Its entry, with what is selected now.
    pub(super) fn current_entry(&self) -> McpServerConfigEntry {
        McpServerConfigEntry { tools: self.lock().selection.clone(), ..self.entry.clone() }
    }

    /// Lists these of its tools from now on.
    pub(super) fn select(&self, tools: ToolSelection) {
        let mut shown = self.lock();
        shown.selection = tools;
        shown.list();
    }

    /// The way to it.
    pub(crate) const fn relay(&self) -> &Arc<GuardedRelay> {
        &self.relay
    }

    /// Who keeps it connected.
    pub(crate) fn upstream(&self) -> &Upstream {
        self.relay.upstream()
    }

    /// Its tools that may be used.
    pub(crate) fn tools(&self) -> Arc<Listing> {
        Arc::clone(&self.lock().tools)
    }

    /// Its tools that may be used and are allowed; the list itself where that is all of them.
    pub(crate) fn tools_that(&self, allowed: impl Fn(&ToolTraits) -> bool) -> Arc<Listing> {
        let shown = self.lock();
        let is_allowed = |tool: &str| shown.traits(tool).is_some_and(|known| allowed(&known));
        if shown.tools.names().all(is_allowed) {
            return Arc::clone(&shown.tools);
        }
        let left = shown.tools.entries().filter(|entry| is_allowed(entry.name())).cloned().collect();
        Arc::new(Listing::new(Listed::Tools, left))
    }

    /// Whether any of its tools is allowed.
    pub(crate) fn has_tool_that(&self, allowed: impl Fn(&ToolTraits) -> bool) -> bool {
        let Some(named) = self.lock().named.clone() else { return false };
        named.places().any(|place| named.traits(place).is_some_and(|known| allowed(&known)))
    }

    /// A tool of the catalogue, by what the server calls it.
    pub(crate) fn tool(&self, tool: &str) -> Option<Arc<Registered>> {
        let shown = self.lock();
        let named = shown.named.as_ref()?;
        named.get(named.listing().place_of(tool)?)
    }

    /// The namespace of what it has that is no tool.
    pub(crate) fn whole(&self) -> Namespace {
        let named = self.lock().named.clone();
        Namespace::Whole(named.map(|named| Arc::clone(named.namespace())).unwrap_or_default())
    }

    /// Whether it is another OpenFang, or not known yet.
    pub(super) fn may_be_openfang(&self) -> bool {
        let snapshot = self.upstream().snapshot();
        snapshot.facts.as_ref().is_none_or(|facts| facts.instance.is_some())
    }

    /// Whether anything is known of what it has.
    pub(super) fn is_known(&self) -> bool {
        let snapshot = self.upstream().snapshot();
        snapshot.facts.is_some() || snapshot.manifest.tools.entries().len() > 0
    }

    /// How it is doing.
    pub(super) fn status(&self) -> McpServerStatus {
        let snapshot = self.upstream().snapshot();
        let shown = self.lock();
        let waiting = shown.waiting().map(|tool| (tool.as_str(), None));
        let listed = shown.named.iter().flat_map(|named| {
            let own_names = named.listing().names().enumerate();
            own_names.filter_map(|(place, tool)| Some((tool, Some(named.name(place)?))))
        });
        let mut tools: Vec<McpToolStatus> = listed
            .chain(waiting)
            .filter_map(|(tool, name)| self.tool_status(&shown, tool, name))
            .collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        McpServerStatus {
            name: self.entry.name.clone(),
            state: if self.entry.enabled { snapshot.state } else { McpServerState::Disabled },
            reason: snapshot.reason.clone(),
            stderr: snapshot.stderr.clone(),
            server: snapshot.facts.as_ref().map(|facts| format!("{} {}", facts.name, facts.version)),
            protocol: snapshot.facts.as_ref().map(|facts| facts.revision.to_string()),
            tools,
            unselected: shown.unselected(),
            left_out: snapshot.manifest.left_out.clone(),
            prompts: snapshot.manifest.prompts.entries().len(),
            templates: snapshot.manifest.templates.entries().len(),
            starts: snapshot.starts,
        }
    }

    fn tool_status(&self, shown: &ServerView, tool: &str, name: Option<&str>) -> Option<McpToolStatus> {
        #[derive(serde::Deserialize)]
        struct Described {
            #[serde(default)]
            description: Option<String>,
        }
        let entry = shown.manifest.tools.get(tool)?;
        let described: Described = serde_json::from_str(&entry.json()).ok()?;
        let plain = || openfang_mcp::naming::format_mcp_tool_name(self.entry.name.as_str(), tool);
        Some(McpToolStatus {
            name: name.map_or_else(plain, str::to_owned).parse().ok()?,
            tool: tool.to_owned(),
            description: format!("[MCP:{}] {}", self.entry.name, described.description.unwrap_or_default()),
            quarantined: name.is_none(),
        })
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    /// Notes in its log where it stands, when that is news. Another try after the same failure is none.
    pub(super) fn note_state(&self) {
        let snapshot = self.upstream().snapshot();
        let now = Some((snapshot.state, snapshot.reason.clone()));
        let mut shown = self.lock();
        let failed = Some((McpServerState::Failed, snapshot.reason.clone()));
        let is_retry = snapshot.state == McpServerState::Starting && shown.noted == failed;
        if shown.noted != now && !is_retry {
            let reason = snapshot.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            self.log.add("openfang", &format!("{}{reason}", snapshot.state.as_str()));
            shown.noted = now;
        }
    }

    /// Looks at what it has, if that is something else than before; returns the tools that are not what they were.
    pub(super) fn look_again(&self) -> Option<BTreeSet<String>> {
        let snapshot = self.upstream().snapshot();
        let mut shown = self.lock();
        let era = snapshot.facts.as_ref().map(|facts| facts.revision.era().as_str().to_owned());
        if Arc::ptr_eq(&shown.manifest, &snapshot.manifest) && (era.is_none() || era == shown.kept.era) {
            return None;
        }
        let looked = shown.kept.look(&self.entry, &snapshot.manifest);
        let had = Arc::clone(&shown.manifest);
        let waiting = looked.quarantined.iter().chain(shown.kept.unaccepted()).cloned().collect();
        shown.kept.keep_definitions(&self.entry, &had, &waiting);
        shown.kept.era = era;
        shown.manifest = Arc::clone(&snapshot.manifest);
        let news = looked.changed.difference(&shown.quarantined).cloned().collect();
        shown.quarantined = looked.quarantined;
        shown.list();
        Some(news)
    }

    /// What of it waits for the operator, and what it no longer has.
    pub(super) fn review(&self) -> McpReview {
        let (is_connected, shown) = (self.upstream().snapshot().facts.is_some(), self.lock());
        let definition = |text: &str| serde_json::from_str(text).unwrap_or_default();
        let waiting = shown.changed().filter_map(|tool| {
            let before = shown.kept.definition_before(tool).map(definition);
            let after = definition(&shown.manifest.tools.get(tool)?.json());
            Some(McpToolReview { tool: tool.clone(), before, after })
        });
        let (new, changed) = waiting.partition(|review| shown.kept.is_new(&review.tool));
        // What a server has that was never connected to is not known.
        let removed = if is_connected { shown.kept.removed(&shown.manifest) } else { Vec::new() };
        McpReview { server: self.entry.name.clone(), new, changed, removed }
    }

    /// Takes tools as they are now: one, or all that wait. Returns which.
    pub(super) fn approve(&self, tool: Option<&str>) -> Vec<String> {
        let is_connected = self.upstream().snapshot().facts.is_some();
        let mut shown = self.lock();
        let waiting: Vec<String> = shown
            .quarantined
            .iter()
            .chain(shown.kept.unaccepted())
            .filter(|name| tool.is_none_or(|tool| tool == *name))
            .cloned()
            .collect();
        let manifest = Arc::clone(&shown.manifest);
        for name in &waiting {
            shown.kept.approve(&self.entry, &manifest, name);
            shown.quarantined.remove(name);
        }
        if tool.is_none() && is_connected {
            shown.kept.forget_removed(&manifest);
        }
        shown.list();
        waiting
    }

    /// The tools of one of its lists, each under the name that stands in its place.
    pub(super) fn named(&self, list: &Arc<Listing>, names: Names, namespace: ServerNames) -> Arc<ServerTools> {
        let before = self.lock().named.clone();
        let named = ServerTools::new(&self.entry, &self.relay, list, (names, namespace), before.as_ref());
        self.lock().named = Some(Arc::clone(&named));
        named
    }

    /// There is something new to be written down.
    pub(super) fn note_news(&self) {
        let mut written = self.written();
        if *written == Written::Done {
            *written = Written::ChangeFilter;
        }
    }

    /// Writes down what is new, if that is still wanted; one at a time for all servers.
    pub(super) fn write_down(&self, directory: &Path) {
        {
            let mut written = self.written();
            if *written != Written::ChangeFilter {
                return;
            }
            *written = Written::Done;
        }
        // Calls look at what is shown, and must not wait for a disk.
        let (kept, manifest) = {
            let shown = self.lock();
            (shown.kept.clone(), Arc::clone(&shown.manifest))
        };
        if let Err(error) = kept.write(directory, &self.entry.name, &manifest) {
            tracing::warn!(server = %self.entry.name, %error, "what a server has cannot be written down");
        }
    }

    /// From now on the file is another one's, or gone.
    pub(super) fn retire(&self) {
        *self.written() = Written::Retired;
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, ServerView> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
