//! Tools whose definition changed, and new ones that are held: who is told, and what is known of those that wait for the operator.

use std::sync::{Arc, Mutex, PoisonError};

use openfang_mcp::client::{Upstream, Withdrawn};
use openfang_mcp::naming::unique_names;
use openfang_runtime::mcp_tool::{claimed, traits_of};
use openfang_runtime::server_call::Admission;
use openfang_store::{AuditKind, AuditOutcome, AuditRow, AuditSubject};
use openfang_types::capability::Namespace;
use openfang_types::config::McpServerConfigEntry;
use openfang_types::ids::{Owner, ToolName, TraceId};
use openfang_types::principal::Door;
use openfang_types::taint::{Label, Labels};
use openfang_types::tool::ToolTraits;

use super::Connected;
use super::view::ServerView;
use crate::peers::upstreams::PeerParts;

/// Says of a tool whether it may be called by what its server lists at that moment.
pub(super) fn admission(
    entry: &McpServerConfigEntry,
    upstream: &Upstream,
    shown: &Arc<Mutex<ServerView>>,
) -> Admission {
    let (entry, upstream, shown) = (entry.clone(), upstream.clone(), Arc::clone(shown));
    Box::new(move |tool: &str| {
        let manifest = Arc::clone(&upstream.snapshot().manifest);
        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.quarantines(&entry, &manifest, tool) { Err(Withdrawn::Quarantined) } else { Ok(()) }
    })
}

impl Connected {
    /// What the guards need to know of its tools that are quarantined, each under a name of at most `longest` characters.
    pub(in crate::peers::upstreams) fn quarantined(&self, longest: usize) -> Vec<ToolTraits> {
        let shown = self.lock();
        let namespace = shown.named.as_ref().map(|named| Arc::clone(named.namespace())).unwrap_or_default();
        let pairs = shown.waiting().map(|tool| (self.entry.name.as_str(), tool.as_str()));
        let names = unique_names(pairs, longest);
        let traits = |(tool, (name, _)): (&String, (String, bool))| {
            let name = name.parse().ok()?;
            let claimed = claimed(shown.manifest.tools.get(tool)?);
            Some(traits_of(&self.entry, name, Namespace::Server(Arc::clone(&namespace)), claimed))
        };
        shown.waiting().zip(names).filter_map(traits).collect()
    }

    /// Those of its tools whose words nobody accepted and models are offered all the same, with what such words carry. Nothing
    /// for a trusted server.
    pub(in crate::peers::upstreams) fn with_new_words(&self) -> Vec<(ToolName, Labels)> {
        if self.entry.trusted {
            return Vec::new();
        }
        let shown = self.lock();
        let named = |tool: &String| {
            let traits = shown.traits(tool)?;
            let labels = Labels::one(Label::McpServer, traits.origin.to_string());
            Some((traits.name, labels))
        };
        shown.with_new_words().filter_map(named).collect()
    }

    /// Says that a tool is not what it was, or is new and held: in the log of the house, in the server's, and in the audit.
    pub(in crate::peers::upstreams) fn report_change(&self, parts: &PeerParts, tool: &str) {
        let (is_away, is_new) = {
            let shown = self.lock();
            (shown.quarantined.contains(tool), shown.kept.is_new(tool))
        };
        let then = match is_away {
            true => "quarantined until `openfang mcp accept`",
            false => "still offered, in its accepted words until `openfang mcp accept`",
        };
        let what = if is_new { format!("{tool} is new") } else { format!("the definition of {tool} changed") };
        tracing::warn!(server = %self.entry.name, tool, "{what}; the tool is {then}");
        self.log.add("openfang", &format!("{what}; the tool is {then}"));
        // A server may change its tools as often as it likes: beyond some rows that is counted.
        let row = AuditRow {
            trace: TraceId::from_uuid(parts.ids.random()),
            at: parts.clock.now(),
            owner: Owner::house(),
            door: Door::Mcp,
            agent: None,
            run: None,
            subject: AuditSubject::definition(self.entry.name.clone(), tool),
            outcome: if is_away { AuditOutcome::Quarantined } else { AuditOutcome::StillOffered },
            micros: 0,
        };
        parts.audit.record(AuditKind::Refusal, row);
    }
}
