//! Prompts and resources of MCP servers on the aggregate. Every call takes the guarded way, as it does at the server's own
//! endpoint; whoever may not use a server is answered as if there was none.

use std::collections::BTreeMap;

use openfang_mcp::McpError;
use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::host::{Call, Changes, Completing, CompletionOf, HostFuture, Outcome, Wanted};
use openfang_mcp::listing::Entry;
use openfang_runtime::context::CallContext;
use openfang_runtime::mcp_server::ServerContents;
use openfang_runtime::server_call::{ServerPrompt, ServerResource};
use openfang_types::call::Arguments;

use super::updates;
use crate::doors::gateway::{complete, refusal, traits_of_whole};
use crate::execute_tool::can_ever_call;
use crate::peers::upstreams::{ConnectedServer, Offered, ServerOffer};
use crate::{Caller, Kernel};

/// What the guards know the prompts of a server as.
const PROMPTS: &str = "prompts_get";
/// What the guards know the resources of a server as.
const RESOURCES: &str = "resources_read";

impl Kernel {
    /// The entries that servers have for a caller.
    fn entries_of<I>(&self, caller: &Caller, what: &str, entries: impl Fn(&Offered, &ServerOffer) -> I) -> Vec<Entry>
    where
        I: IntoIterator<Item = Entry>,
    {
        let (cx, offered) = (self.inner.context(caller), self.inner.upstreams.offerings().current());
        let allowed = offered.allowed(|server| may_use(&cx, server, what));
        allowed.into_iter().flat_map(|offer| entries(&offered, offer)).collect()
    }
}

/// Whether what is no tool of a server can be used at all.
fn may_use(cx: &CallContext, server: &ConnectedServer, what: &str) -> bool {
    traits_of_whole(server, what).is_ok_and(|traits| can_ever_call(cx, &traits))
}

/// Whether the resources of a server can be read.
pub(super) fn may_read(cx: &CallContext, server: &ConnectedServer) -> bool {
    may_use(cx, server, RESOURCES)
}

impl ServerContents<Caller> for Kernel {
    fn prompts(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, PROMPTS, |offered, offer| offered.prompts_of(offer).collect::<Vec<_>>())
    }

    fn resources(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, RESOURCES, |offered, offer| offered.resources_of(offer).collect::<Vec<_>>())
    }

    fn templates(&self, caller: &Caller) -> Vec<Entry> {
        self.entries_of(caller, RESOURCES, |offered, offer| offered.templates_of(offer).collect::<Vec<_>>())
    }

    fn prompt<'a>(
        &'a self,
        call: Call<'a, Caller>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>> {
        Box::pin(async move {
            let offered = self.inner.upstreams.offerings().current();
            let (server, own_name) = offered.prompt(name).ok_or_else(|| McpError::unknown_prompt(name))?;
            let (traits, relay) = (traits_of_whole(server, PROMPTS)?, server.relay());
            let prompt = ServerPrompt { traits, relay, name: own_name, arguments };
            let cx = self.context_of(&call);
            let outcome = self.inner.pipeline.hand_through(&cx, &prompt, Arguments::default()).await;
            outcome.map_err(|error| refusal(&error, McpError::unknown_prompt(name)))
        })
    }

    fn read<'a>(&'a self, call: Call<'a, Caller>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>> {
        Box::pin(async move {
            let offered = self.inner.upstreams.offerings().current();
            let server = offered.reader(uri).ok_or_else(|| McpError::unknown_resource(uri))?;
            let (traits, relay) = (traits_of_whole(server, RESOURCES)?, server.relay());
            let resource = ServerResource { traits, relay, uri };
            let cx = self.context_of(&call);
            let outcome = self.inner.pipeline.hand_through(&cx, &resource, Arguments::default()).await;
            outcome.map_err(|error| refusal(&error, McpError::unknown_resource(uri)))
        })
    }

    fn complete<'a>(&'a self, caller: &'a Caller, asked: Completing<'a>) -> HostFuture<'a, Option<Completion>> {
        Box::pin(async move {
            let offered = self.inner.upstreams.offerings().current();
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
            let cx = self.inner.context(caller);
            let Ok(permit) = self.inner.pipeline.permit(&cx, &traits_of_whole(server, PROMPTS)?) else {
                return Ok(None);
            };
            let facts = server.upstream().snapshot().facts.clone();
            if facts.is_some_and(|facts| !facts.capabilities.completions) {
                return Ok(None);
            }
            complete(server, Completing { of, ..asked }, permit).await.map(Some)
        })
    }

    fn changes(&self, caller: &Caller, wanted: &Wanted) -> Changes {
        updates::changes(self, caller, wanted)
    }
}
