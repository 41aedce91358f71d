//! What a server is and has, shown to whoever observes it.

use std::sync::Arc;

use openfang_types::mcp_status::McpServerState;
use tokio::task::spawn_blocking;

use super::upstream::Upstream;
use super::{Connection, Manifest, ServerFacts};
use crate::host::Change;
use crate::listing::Listing;

/// Shows what the server is and has from now on, and tells of what is different.
pub(super) async fn show(upstream: &Upstream, connection: &Connection, manifest: Manifest) {
    let (upstream, facts) = (upstream.clone(), Arc::new(connection.facts().clone()));
    // There may be thousands of tools, and whoever observes looks at each.
    if let Err(error) = spawn_blocking(move || show_at_once(&upstream, facts, manifest)).await {
        tracing::warn!(%error, "what a server has is not shown");
    }
}

fn show_at_once(upstream: &Upstream, facts: Arc<ServerFacts>, manifest: Manifest) {
    let before = upstream.snapshot();
    let differs = |one: &Listing, other: &Listing| {
        let (one, other) = (one.entries(), other.entries());
        one.len() != other.len() || one.zip(other).any(|(one, other)| one.json() != other.json())
    };
    let tools = differs(&manifest.tools, &before.manifest.tools);
    let prompts = differs(&manifest.prompts, &before.manifest.prompts);
    let is_same = !tools
        && !prompts
        && !differs(&manifest.templates, &before.manifest.templates)
        && manifest.left_out == before.manifest.left_out;
    // What is the same stays the same value, so that nobody looks at all of it again.
    let manifest = if is_same { Arc::clone(&before.manifest) } else { Arc::new(manifest) };
    upstream.update(|snapshot| {
        snapshot.facts = Some(facts);
        snapshot.manifest = manifest;
    });
    if tools {
        tell(upstream, Change::Tools);
    }
    if prompts {
        tell(upstream, Change::Prompts);
    }
}

/// It can be used, as far as what it has can be.
pub(super) fn settle(upstream: &Upstream) {
    upstream.update(|snapshot| {
        let left_out = &snapshot.manifest.left_out;
        let reason = left_out.first().map(|left| {
            let more = left_out.len() - 1;
            let others = if more == 0 { String::new() } else { format!(", and {more} more") };
            format!("left out: {} ({}){others}", left.name, left.why)
        });
        snapshot.state = if reason.is_none() { McpServerState::Ready } else { McpServerState::Degraded };
        snapshot.reason = reason;
        snapshot.stderr = Vec::new();
    });
}

/// Tells whoever listens what changed.
pub(super) fn tell(upstream: &Upstream, change: Change) {
    // Nobody may be listening.
    let _ = upstream.inner.changes.send(change);
}
