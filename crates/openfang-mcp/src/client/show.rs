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

fn show_at_once(upstream: &Upstream, facts: Arc<ServerFacts>, mut manifest: Manifest) {
    let before = upstream.snapshot();
    let tools = replaces(&mut manifest.tools, &before.manifest.tools);
    let prompts = replaces(&mut manifest.prompts, &before.manifest.prompts);
    let resources = replaces(&mut manifest.resources, &before.manifest.resources);
    let templates = replaces(&mut manifest.templates, &before.manifest.templates);
    let skills = replaces(&mut manifest.skills, &before.manifest.skills);
    let is_same =
        !(tools || prompts || resources || templates || skills) && manifest.left_out == before.manifest.left_out;
    let manifest = if is_same { Arc::clone(&before.manifest) } else { Arc::new(manifest) };
    upstream.update(|snapshot| {
        snapshot.facts = Some(facts);
        snapshot.manifest = manifest;
    });
    if tools {
        upstream.announce(Change::Tools);
    }
    if prompts {
        upstream.announce(Change::Prompts);
    }
}

/// Whether a list differs from the one before. A list that is the same stays the same value, so that nobody looks at all
/// of it again.
fn replaces(list: &mut Arc<Listing>, before: &Arc<Listing>) -> bool {
    let differs = {
        let (new, old) = (list.entries(), before.entries());
        new.len() != old.len() || new.zip(old).any(|(new, old)| new.json() != old.json())
    };
    if !differs {
        *list = Arc::clone(before);
    }
    differs
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

impl Upstream {
    /// Sends a change to everybody who listens to [`changes`](Self::changes): one of the server, or of what is listed of it.
    pub fn announce(&self, change: Change) {
        // Nobody may be listening.
        let _ = self.inner.changes.send(change);
    }
}
