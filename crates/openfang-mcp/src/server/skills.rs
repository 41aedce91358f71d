//! The extension for skills (SEP-2640): `skills/list`, `skills/get` and `resources/directory/read`. Skills are listed like
//! everything else, and their files are resources.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::respond::{Frame, Kind, members};
use super::{Request, Server};
use crate::error::McpError;
use crate::host::Host;

#[derive(Serialize)]
struct FoundSkill<'a> {
    skill: &'a RawValue,
}

impl<H: Host> Server<H> {
    /// One skill, by the URI of its instructions.
    pub(super) async fn skills_get(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let uri = uri_of(request, "skills/get")?;
        let skills = self.inner.host.skills(&request.caller).await?;
        let entry = skills.get(uri).ok_or_else(|| McpError::unknown_skill(uri))?;
        let json: Cow<'_, str> = entry.json();
        let skill: &RawValue = serde_json::from_str(&json).map_err(|_| McpError::Internal)?;
        let found = members(&FoundSkill { skill });
        Ok(self.signature().respond(&request.id, request.revision, &found, Kind::Kept))
    }

    /// A page of what lies directly in a directory.
    pub(super) async fn directory_read(&self, request: &Request<H::Caller>) -> Result<Frame, McpError> {
        let uri = uri_of(request, "resources/directory/read")?;
        self.list(request, self.inner.host.directory(&request.caller, uri)).await
    }
}

fn uri_of<'a, C>(request: &'a Request<C>, method: &str) -> Result<&'a str, McpError> {
    let wrong = || McpError::InvalidParams(format!("{method} takes a uri"));
    request.named.uri.as_deref().ok_or_else(wrong)
}
