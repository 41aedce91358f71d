//! What a client is told when the daemon took the answer with it.

use bytes::Bytes;
use openfang_mcp::{McpError, Revision};
use openfang_types::jsonrpc::{Id, encode_error, encode_result};
use serde_json::json;

use super::running::Ask;
use crate::error::CliError;

/// The answer to a request that may have been carried out. A tool's caller is a model, which reads results, not errors.
pub(super) fn answer(ask: &Ask) -> Bytes {
    let what = "the daemon went away during the call, and its answer is lost";
    let (Some(request), Some("tools/call")) = (&ask.request, ask.method()) else {
        return refusal(ask.id(), &format!("{what}; ask again"));
    };
    let is_agent = request.name.as_deref().is_some_and(|name| name.starts_with("openfang_agent_"));
    let next = if is_agent {
        "the agent's task may go on when the daemon is back: look at the resources under openfang://tasks/ before you \
         call again"
    } else {
        "look before you call again"
    };
    let mut result = json!({ "content": [{ "type": "text", "text": format!("{what}; {next}") }], "isError": true });
    if ask.is_modern() {
        result["resultType"] = json!("complete");
    }
    encode_result(&request.id, &result).into()
}

/// The daemon is gone, and nobody can take over.
pub(super) fn nobody(id: Option<&Id>, error: &CliError) -> Bytes {
    refusal(id, &format!("the daemon went away, and nothing took its place: {error}"))
}

/// Daemons come and go faster than they answer.
pub(super) fn again_and_again(id: Option<&Id>) -> Bytes {
    refusal(id, "the daemon goes away again and again; see its log")
}

/// What was not answered in the words of the protocol.
pub(super) fn refusal(id: Option<&Id>, why: &str) -> Bytes {
    encode_error(id, &McpError::Busy(why.to_owned()).to_object(Revision::NEWEST)).into()
}
