//! What is shown of one server: its lists, and which of its tools are in them.

use std::collections::BTreeSet;
use std::sync::Arc;

use openfang_mcp::client::Manifest;
use openfang_mcp::listing::{Listed, Listing};
use openfang_runtime::server_tools::ServerTools;
use openfang_types::config::{McpServerConfigEntry, ToolSelection};
use openfang_types::mcp_status::McpServerState;
use openfang_types::tool::ToolTraits;

use crate::peers::upstreams::kept::ServerMemory;

/// What is shown of it.
pub(super) struct ServerView {
    pub(super) kept: ServerMemory,
    pub(super) manifest: Arc<Manifest>,
    pub(super) quarantined: BTreeSet<String>,
    /// Which of its tools the operator wants. It can change while the server is connected.
    pub(super) selection: ToolSelection,
    /// Its selected tools without the quarantined ones.
    pub(super) tools: Arc<Listing>,
    /// Those of the catalogue, once they have names.
    pub(super) named: Option<Arc<ServerTools>>,
    /// What the last note was about.
    pub(super) noted: Option<(McpServerState, Option<String>)>,
}

impl ServerView {
    pub(super) fn new(
        kept: ServerMemory,
        manifest: Arc<Manifest>,
        quarantined: BTreeSet<String>,
        selection: ToolSelection,
    ) -> Self {
        let tools = Arc::clone(&manifest.tools);
        let mut view = Self { kept, manifest, quarantined, selection, tools, named: None, noted: None };
        view.list();
        view
    }

    pub(super) fn traits(&self, tool: &str) -> Option<ToolTraits> {
        self.named.as_ref()?.traits_by_own_name(tool)
    }

    /// Lists the tools that are selected and not quarantined. One that changed is listed as it was accepted, where that is known.
    pub(super) fn list(&mut self) {
        let all = &self.manifest.tools;
        let is_listed = |tool: &str| self.selection.selects(tool) && !self.quarantined.contains(tool);
        let mut changed = self.kept.unaccepted().peekable();
        self.tools = match changed.peek().is_none() && all.names().all(is_listed) {
            true => Arc::clone(all),
            false => {
                let listed = all.entries().filter(|entry| is_listed(entry.name()));
                let left = listed
                    .map(|entry| self.kept.as_accepted(entry).unwrap_or_else(|| entry.clone()))
                    .collect();
                Arc::new(Listing::new(Listed::Tools, left))
            }
        };
    }

    /// Whether a tool must not be called by what its server lists now, which may not have been looked at yet.
    pub(super) fn quarantines(&self, entry: &McpServerConfigEntry, now: &Arc<Manifest>, tool: &str) -> bool {
        if Arc::ptr_eq(&self.manifest, now) {
            return self.quarantined.contains(tool);
        }
        self.kept.clone().look(entry, now).quarantined.contains(tool)
    }

    /// The quarantined tools that would be listed otherwise.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &String> + Clone {
        self.quarantined.iter().filter(|tool| self.selection.selects(tool))
    }

    /// The tools that wait to be accepted: the quarantined ones, and those that are used meanwhile.
    pub(super) fn changed(&self) -> impl Iterator<Item = &String> {
        self.waiting().chain(self.kept.unaccepted().filter(|tool| self.selection.selects(tool)))
    }

    /// The tools that are listed with words that nobody accepted, because the accepted ones are not known.
    pub(super) fn with_new_words(&self) -> impl Iterator<Item = &String> {
        let is_unknown = |tool: &&String| {
            let now = self.manifest.tools.get(tool);
            now.is_some_and(|now| self.kept.as_accepted(now).is_none())
        };
        self.kept.unaccepted().filter(is_unknown)
    }

    /// The tools that the operator left out.
    pub(super) fn unselected(&self) -> Vec<String> {
        let names = self.manifest.tools.names();
        names.filter(|tool| !self.selection.selects(tool)).map(str::to_owned).collect()
    }
}
