//! Prompts and resources of MCP servers on the aggregate. Every call takes the guarded way, as it does at the server's own
//! endpoint; whoever may not use a server is answered as if there was none.

use std::collections::BTreeMap;

use openfang_mcp::McpError;
use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::host::{Call, ChangeFilter, Changes, Completing, CompletionOf, Outcome, ResourcePage};
use openfang_mcp::listing::{Entry, Listing};
use openfang_runtime::context::CallContext;
use openfang_runtime::server_call::{ServerPrompt, ServerResource};
use openfang_types::call::Arguments;
use serde_json::value::RawValue;

use super::host::KernelHost;
use super::{tasks, updates};
use crate::Caller;
use crate::doors::Doors;
use crate::doors::gateway::{complete, refusal, traits_of_whole};
use crate::execute_tool::can_ever_call;
use crate::peers::upstreams::{ConnectedServer, Offered, ServerOffer};

/// What the guards know the prompts of a server as.
const PROMPTS: &str = "prompts_get";
/// What the guards know the resources of a server as.
const RESOURCES: &str = "resources_read";

/// What MCP servers have besides tools, for callers who may use it.
#[derive(Clone, Copy)]
pub(super) struct ServerContents<'a>(pub(super) &'a Doors);

impl ServerContents<'_> {
    /// The entries that servers have for a caller.
    fn entries_of<I>(&self, caller: &Caller, what: &str, entries: impl Fn(&Offered, &ServerOffer) -> I) -> Vec<Entry>
    where
        I: IntoIterator<Item = Entry>,
    {
        let (cx, offered) = (self.0.inner.context(caller), self.0.inner.upstreams.offerings().current());
        let allowed = offered.allowed(|server| may_use(&cx, server, what));
        allowed.into_iter().flat_map(|offer| entries(&offered, offer)).collect()
    }

    pub(super) fn prompts(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, PROMPTS, |offered, offer| offered.prompts_of(offer).collect::<Vec<_>>())
    }

    pub(super) fn resources(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, RESOURCES, |offered, offer| offered.resources_of(offer).collect::<Vec<_>>())
    }

    pub(super) fn templates(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, RESOURCES, |offered, offer| offered.templates_of(offer).collect::<Vec<_>>())
    }

    pub(super) async fn prompt(
        &self,
        call: Call<'_, Caller>,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Outcome<PromptResult>, McpError> {
        let offered = self.0.inner.upstreams.offerings().current();
        let (server, own_name) = offered.prompt(name).ok_or_else(|| McpError::unknown_prompt(name))?;
        let (traits, relay) = (traits_of_whole(server, PROMPTS)?, server.relay());
        let prompt = ServerPrompt { traits, relay, name: own_name, arguments };
        let cx = self.0.context_of(&call);
        let outcome = self.0.inner.pipeline.hand_through(&cx, &prompt, Arguments::default()).await;
        outcome.map_err(|error| refusal(&error, McpError::unknown_prompt(name)))
    }

    pub(super) async fn read(&self, call: Call<'_, Caller>, uri: &str) -> Result<Outcome<ResourceContents>, McpError> {
        let offered = self.0.inner.upstreams.offerings().current();
        let server = offered.reader(uri).ok_or_else(|| McpError::unknown_resource(uri))?;
        let (traits, relay) = (traits_of_whole(server, RESOURCES)?, server.relay());
        let resource = ServerResource { traits, relay, uri };
        let cx = self.0.context_of(&call);
        let outcome = self.0.inner.pipeline.hand_through(&cx, &resource, Arguments::default()).await;
        outcome.map_err(|error| refusal(&error, McpError::unknown_resource(uri)))
    }

    pub(super) async fn complete(
        &self,
        caller: &Caller,
        asked: Completing<'_>,
    ) -> Result<Option<Completion>, McpError> {
        let offered = self.0.inner.upstreams.offerings().current();
        let (server, of) = match asked.of {
            CompletionOf::Prompt(name) => match offered.prompt(name) {
                Some((server, own_name)) => (server, CompletionOf::Prompt(own_name)),
                None => return Ok(None),
            },
            CompletionOf::Template(text) => match offered.completer(text) {
                Some(server) => (server, asked.of),
                None => return Ok(None),
            },
        };
        let cx = self.0.inner.context(caller);
        let Ok(permit) = self.0.inner.pipeline.permit(&cx, &traits_of_whole(server, PROMPTS)?) else {
            return Ok(None);
        };
        let facts = server.upstream().snapshot().facts.clone();
        if facts.is_some_and(|facts| !facts.capabilities.completions) {
            return Ok(None);
        }
        complete(server, Completing { of, ..asked }, permit).await.map(Some)
    }

    pub(super) fn changes(&self, caller: &Caller, wanted: &ChangeFilter) -> Changes {
        updates::changes(self.0, caller, wanted)
    }
}

/// What marks a cursor that leads on in the resources of servers. No other cursor has a dot.
const CURSOR: &str = "servers.";

/// A page of resources: those of servers first, and the caller's tasks behind them.
pub(super) async fn resources(
    host: &KernelHost,
    caller: &Caller,
    (listing, cursor): (&Listing, Option<&str>),
) -> Result<ResourcePage, McpError> {
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    let of_servers = cursor.map(|cursor| cursor.strip_prefix(CURSOR));
    // A cursor of the tasks leads on there.
    if of_servers == Some(None) {
        return tasks::list(host, caller, cursor).await;
    }
    let (entries, next) = listing.page_entries(of_servers.flatten())?;
    let read = |entry: &Entry| RawValue::from_string(entry.json().into_owned()).ok();
    let resources: Vec<_> = entries.iter().filter_map(read).collect();
    if let Some(next) = next {
        return Ok(ResourcePage { resources, next_cursor: Some(format!("{CURSOR}{next}")) });
    }
    let mut page = tasks::list(host, caller, None).await?;
    page.resources.splice(0..0, resources);
    Ok(page)
}

/// Whether what is no tool of a server can be used at all.
fn may_use(cx: &CallContext, server: &ConnectedServer, what: &str) -> bool {
    traits_of_whole(server, what).is_ok_and(|traits| can_ever_call(cx, &traits))
}

/// Whether the resources of a server can be read.
pub(super) fn may_read(cx: &CallContext, server: &ConnectedServer) -> bool {
    may_use(cx, server, RESOURCES)
}
