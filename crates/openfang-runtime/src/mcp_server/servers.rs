//! Prompts and resources of MCP servers, beside what the house has of its own.

use std::collections::BTreeMap;

use openfang_mcp::McpError;
use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::host::{Call, Changes, Completing, HostFuture, Outcome, ResourcePage, Wanted};
use openfang_mcp::listing::{Entry, Listing};
use serde_json::value::RawValue;

use super::House;
use super::tasks;

/// What MCP servers have besides tools, for callers who may use it.
pub trait ServerContents<C>: Send + Sync {
    /// The prompts of all servers.
    fn prompts(&self, caller: &C) -> Vec<Entry>;

    /// The resources of all servers.
    fn resources(&self, caller: &C) -> Vec<Entry>;

    /// The resource templates of all servers.
    fn templates(&self, caller: &C) -> Vec<Entry>;

    /// Fills a prompt in.
    fn prompt<'a>(
        &'a self,
        call: Call<'a, C>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>>;

    /// Reads a resource.
    fn read<'a>(&'a self, call: Call<'a, C>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>>;

    /// Completes an argument; none where no server has what the argument belongs to.
    fn complete<'a>(&'a self, caller: &'a C, asked: Completing<'a>) -> HostFuture<'a, Option<Completion>>;

    /// Tells of changed prompts and resources.
    fn changes(&self, caller: &C, wanted: &Wanted) -> Changes;
}

/// What marks a cursor that leads on in the resources of servers. No other cursor has a dot.
const CURSOR: &str = "servers.";

/// A page of resources: those of servers first, and the caller's tasks behind them.
pub(super) async fn resources<T: House>(
    house: &T,
    caller: &T::Caller,
    (listing, cursor): (&Listing, Option<&str>),
) -> Result<ResourcePage, McpError> {
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let of_servers = cursor.map(|cursor| cursor.strip_prefix(CURSOR));
    // A cursor of the tasks leads on there.
    if of_servers == Some(None) {
        return tasks::list(house, caller, cursor).await;
    }
    let (entries, next) = listing.page_entries(of_servers.flatten())?;
    let read = |entry: &Entry| RawValue::from_string(entry.json().into_owned()).ok();
    let resources: Vec<_> = entries.iter().filter_map(read).collect();
    if let Some(next) = next {
        return Ok(ResourcePage { resources, next_cursor: Some(format!("{CURSOR}{next}")) });
    }
    let mut page = tasks::list(house, caller, None).await?;
    page.resources.splice(0..0, resources);
    Ok(page)
}
