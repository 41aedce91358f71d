//! Conversations of MCP clients: some say in `_meta` which of theirs a call belongs to. Calls of one of them go on with one
//! conversation of the agent, without a word of the model.

use std::collections::BTreeMap;

use openfang_runtime::context::CallContext;
use openfang_types::ids::{AgentName, ContextId};
use openfang_types::limits::CLIENT_CONVERSATION_CHARS;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// How clients name their conversations.
const CONVERSATION: &str = "vscode.conversationId";

/// The conversation with an agent that a call belongs to, if its client says so. The same client, agent and name lead to the
/// same one, also after a restart; whoever else gives the name has another.
pub(super) fn conversation_of(cx: &CallContext, agent: &AgentName) -> Option<ContextId> {
    if !cx.config.mcp.conversations {
        return None;
    }
    let meta: BTreeMap<String, Value> = serde_json::from_str(cx.back.meta.as_ref()?.get()).ok()?;
    let name = meta.get(CONVERSATION)?.as_str()?;
    if name.is_empty() || name.chars().count() > CLIENT_CONVERSATION_CHARS {
        return None;
    }
    let principal = &cx.principal;
    let label = format!("{:?}", principal.entry_label());
    let mut digest = Sha256::new();
    for word in [principal.owner().as_str(), &principal.scope(), &label, agent.as_str(), name] {
        digest.update(word.len().to_be_bytes());
        digest.update(word);
    }
    let bytes: [u8; 16] = digest.finalize().first_chunk().copied()?;
    Uuid::from_bytes(bytes).to_string().parse().ok()
}
