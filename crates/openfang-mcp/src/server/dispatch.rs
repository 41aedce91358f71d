//! Which method is answered by whom, in which era. A method of the other era is unknown, and so is one of something that
//! the host does not offer.

use openfang_types::jsonrpc::{Id, encode_result};
use serde_json::json;

use super::respond::{Frame, Kind};
use super::{Request, Server};
use crate::error::McpError;
use crate::host::{Host, Offers};
use crate::revision::Changes;

impl<H: Host> Server<H> {
    /// The whole response to a request, unless it is an error.
    pub(super) async fn result(&self, request: &Request<H::Caller>) -> Result<Frame, McpError> {
        let (id, revision) = (&request.id, request.revision);
        let (host, signature) = (&self.inner.host, self.signature());
        if !is_offered(&request.method, host.offers(&request.caller)) {
            return Err(McpError::UnknownMethod(request.method.clone()));
        }
        let facts = revision.facts();
        match request.method.as_str() {
            "tools/list" => self.list(request, host.tools(&request.caller)).await,
            "tools/call" => self.tools_call(request).await.map(Frame::from),
            "prompts/list" => self.list(request, host.prompts(&request.caller)).await,
            "prompts/get" => self.prompts_get(request).await.map(Frame::from),
            "resources/list" => self.resources_list(request).await.map(Frame::from),
            "resources/templates/list" => self.list(request, host.templates(&request.caller)).await,
            "resources/read" => self.resources_read(request).await.map(Frame::from),
            "skills/list" => self.list(request, host.skills(&request.caller)).await,
            "skills/get" => self.skills_get(request).await.map(Frame::from),
            "resources/directory/read" => self.directory_read(request).await,
            "completion/complete" => self.complete(request).await.map(Frame::from),
            "server/discover" if !facts.handshake => {
                let members = self.discovered(&request.caller, revision);
                Ok(signature.respond(id, revision, &members, Kind::Kept).into())
            }
            "subscriptions/listen" if facts.changes == Changes::Listened => self.listen(request).await.map(Frame::from),
            "ping" if facts.handshake => Ok(nothing(id).into()),
            "logging/setLevel" if !facts.meta_required => self.set_level(request).map(|()| nothing(id).into()),
            "resources/subscribe" if facts.changes == Changes::Pushed => {
                self.subscribe(request).map(|()| nothing(id).into())
            }
            "resources/unsubscribe" if facts.changes == Changes::Pushed => {
                self.unsubscribe(request).map(|()| nothing(id).into())
            }
            method if method.starts_with("tasks/") => match self.tasks_method(request).await {
                Some(answer) => answer.map(Frame::from),
                None => Err(McpError::UnknownMethod(method.to_owned())),
            },
            method => Err(McpError::UnknownMethod(method.to_owned())),
        }
    }
}

/// Whether a method belongs to something that there is. What is not declared is not answered either.
fn is_offered(method: &str, offers: Offers) -> bool {
    match method.split_once('/') {
        Some(("tools", _)) => offers.tools,
        Some(("prompts", _)) => offers.prompts,
        Some(("resources", "subscribe" | "unsubscribe")) => offers.subscriptions,
        Some(("resources", "directory/read") | ("skills", _)) => offers.skills,
        Some(("resources", _)) => offers.resources,
        Some(("completion", _)) => offers.completions,
        Some(("logging", _)) => offers.logging,
        Some(("tasks", _)) => offers.tasks,
        Some(_) | None => true,
    }
}

fn nothing(id: &Id) -> Vec<u8> {
    encode_result(id, &json!({}))
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
