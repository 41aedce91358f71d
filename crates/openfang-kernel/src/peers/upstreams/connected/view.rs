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

    /// Lists the tools that are selected and not quarantined.
    pub(super) fn list(&mut self) {
        let all = &self.manifest.tools;
        let is_listed = |tool: &str| self.selection.selects(tool) && !self.quarantined.contains(tool);
        self.tools = match all.names().all(is_listed) {
            true => Arc::clone(all),
            false => {
                let left = all.entries().filter(|entry| is_listed(entry.name())).cloned().collect();
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

    /// The tools that the operator left out.
    pub(super) fn unselected(&self) -> Vec<String> {
        let names = self.manifest.tools.names();
        names.filter(|tool| !self.selection.selects(tool)).map(str::to_owned).collect()
    }
}
