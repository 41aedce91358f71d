//! The lists: prepared ones by page, resources as the host has them. Both show a revision the members it has.

use std::borrow::Cow;
use std::sync::Arc;

use openfang_types::jsonrpc::Id;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::respond::{Frame, Kind, members};
use super::{Request, Server};
use crate::error::McpError;
use crate::host::{Host, HostFuture, ResourcePage};
use crate::listing::{Listing, shown_in};
use crate::revision::Revision;

#[derive(Deserialize, Default)]
struct Params {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources<'a> {
    resources: Vec<Cow<'a, RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl<'a> Resources<'a> {
    fn shown(page: &'a ResourcePage, revision: Revision) -> Self {
        let resources = page.resources.iter().map(|resource| shown_in(resource, revision)).collect();
        Self { resources, next_cursor: page.next_cursor.as_deref() }
    }
}

impl<H: Host> Server<H> {
    pub(super) async fn list(
        &self,
        request: &Request<H::Caller>,
        listing: HostFuture<'_, Arc<Listing>>,
    ) -> Result<Frame, McpError> {
        let cursor = cursor_of(request.params())?;
        let page = listing.await?.page(request.revision, cursor.as_deref())?;
        Ok(self.signature().respond_around(&request.id, request.revision, page, Kind::Kept))
    }

    pub(super) async fn resources_list(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        let cursor = cursor_of(request.params())?;
        let page = self.inner.host.resources(&request.caller, cursor.as_deref()).await?;
        Ok(self.kept(&request.id, request.revision, &members(&Resources::shown(&page, request.revision))))
    }

    fn kept(&self, id: &Id, revision: Revision, members: &[u8]) -> Vec<u8> {
        self.signature().respond(id, revision, members, Kind::Kept)
    }
}

pub(super) fn cursor_of(params: Option<&RawValue>) -> Result<Option<String>, McpError> {
    let Some(params) = params else { return Ok(None) };
    let params: Params = serde_json::from_str(params.get()).map_err(|_| McpError::BadCursor)?;
    Ok(params.cursor)
}

#[cfg(test)]
#[path = "lists_tests.rs"]
mod tests;
