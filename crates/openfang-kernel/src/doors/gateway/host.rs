//! A server's own tools, prompts and resources, as a host offers them.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::stream;
use openfang_mcp::client::{RawMembers, ServerFacts};
use openfang_mcp::content::{Completion, PromptResult, ResourceContents};
use openfang_mcp::host::{
    Call, CallTaskPage, Change, ChangeFilter, Changes, Completing, HostFuture, Identity, Offers, Outcome, ResourcePage,
    Ticks, ToolAnswer,
};
use openfang_mcp::listing::Listing;
use openfang_mcp::{CallTask, Host, McpError};
use openfang_runtime::catalog::Registered;
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::{Callee as _, ToolError, capability};
use openfang_runtime::server_call::{ServerPrompt, ServerResource};
use openfang_types::call::Arguments;
use openfang_types::content::ToolOutput;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;

use super::errors::refusal;
use super::{UpstreamHost, ask, complete};
use crate::{Caller, Way};

impl Host for UpstreamHost {
    type Caller = Caller;

    fn identity(&self) -> Arc<Identity> {
        let mut identity = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.server.upstream().snapshot();
        if let Some(facts) = snapshot.facts.as_ref().filter(|facts| !is_known_as(&identity, facts)) {
            *identity = Arc::new(Identity {
                name: facts.name.clone(),
                title: facts.title.clone().unwrap_or_default(),
                version: facts.version.clone(),
                instructions: facts.instructions.clone(),
                instance: identity.instance.clone(),
            });
        }
        Arc::clone(&identity)
    }

    fn offers(&self, _: &Caller) -> Offers {
        let snapshot = self.server.upstream().snapshot();
        let Some(facts) = &snapshot.facts else { return Offers { tools: true, ..Offers::default() } };
        let has = facts.capabilities;
        Offers {
            tools: has.tools,
            prompts: has.prompts,
            resources: has.resources,
            subscriptions: has.subscribe,
            completions: has.completions,
            // A legacy client hears log lines of its own calls whatever the server's revision calls it.
            logging: has.logging || facts.revision.facts().meta_required,
            // Whatever takes long becomes a task, also of a server that has none.
            tasks: has.tools,
            skills: false,
        }
    }

    fn owner(&self, caller: &Caller) -> String {
        caller.principal.owner().as_str().to_owned()
    }

    fn credential(&self, caller: &Caller) -> String {
        caller.principal.shown()
    }

    fn scope(&self, caller: &Caller) -> String {
        caller.principal.scope()
    }

    fn has_mirrored_arguments(&self) -> bool {
        self.server.tools().has_mirrored()
    }

    fn tools<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        let cx = self.doors.inner.context(caller);
        Box::pin(ready(Ok(self.server.tools_that(|tool| capability::allows(&cx, tool)))))
    }

    fn call_tool<'a>(
        &'a self,
        call: Call<'a, Caller>,
        name: &'a str,
        arguments: Option<&'a RawValue>,
    ) -> HostFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let Some(tool) = self.server.tool(name) else { return self.refused(call.caller, name).map(Into::into) };
            if call.may_be_task() {
                return Box::pin(self.call_or_hold(call, tool, arguments)).await;
            }
            let (cx, arguments) = (self.context(&call), Arguments::written_by(arguments));
            match self.doors.inner.pipeline.hand_through(&cx, &tool, arguments).await {
                Ok(outcome) => Ok(outcome.into()),
                Err(error) => answer_to(&error, name).map(Into::into),
            }
        })
    }

    fn call_tasks<'a>(&'a self, call: Call<'a, Caller>, _: Option<&'a str>) -> HostFuture<'a, CallTaskPage> {
        Box::pin(ready(Ok(CallTaskPage { tasks: self.doors.calls_held_for(&call), next_cursor: None })))
    }

    fn task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(ready(self.doors.held_call(&call, id).ok_or_else(|| McpError::unknown_task(id))))
    }

    fn settled_task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move { self.doors.settled_call(&call, id).await.ok_or_else(|| McpError::unknown_task(id)) })
    }

    fn answer_task<'a>(
        &'a self,
        call: Call<'a, Caller>,
        id: &'a str,
        answers: BTreeMap<String, Box<RawValue>>,
    ) -> HostFuture<'a, ()> {
        let is_there = self.doors.answer_call(&call, id, &answers);
        Box::pin(ready(is_there.then_some(()).ok_or_else(|| McpError::unknown_task(id))))
    }

    fn cancel_task<'a>(&'a self, call: Call<'a, Caller>, id: &'a str) -> HostFuture<'a, CallTask> {
        Box::pin(async move { self.doors.cancel_call(&call, id).await.ok_or_else(|| McpError::unknown_task(id)) })
    }

    fn task_changes(&self, call: Call<'_, Caller>, id: &str) -> Option<Ticks> {
        self.doors.changes_of_call(&call, id)
    }

    fn prompts<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move {
            self.permit(caller, "prompts_list")?;
            Ok(Arc::clone(&self.server.upstream().snapshot().manifest.prompts))
        })
    }

    fn prompt<'a>(
        &'a self,
        call: Call<'a, Caller>,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    ) -> HostFuture<'a, Outcome<PromptResult>> {
        Box::pin(async move {
            let (traits, relay) = (self.traits("prompts_get")?, self.server.relay());
            let prompt = ServerPrompt { traits, relay, name, arguments };
            let cx = self.context(&call);
            let outcome = self.doors.inner.pipeline.hand_through(&cx, &prompt, Arguments::default()).await;
            outcome.map_err(|error| refusal(&error, McpError::unknown_prompt(name)))
        })
    }

    fn resources<'a>(&'a self, caller: &'a Caller, cursor: Option<&'a str>) -> HostFuture<'a, ResourcePage> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page {
            #[serde(default)]
            resources: Vec<Box<RawValue>>,
            #[serde(default)]
            next_cursor: Option<String>,
        }
        Box::pin(async move {
            let permit = self.permit(caller, "resources_list")?;
            let result =
                ask(&self.server, "resources/list", RawMembers::none().with_some("cursor", cursor), permit).await?;
            let page: Page = serde_json::from_str(result.get()).map_err(|_| McpError::Internal)?;
            Ok(ResourcePage { resources: page.resources, next_cursor: page.next_cursor })
        })
    }

    fn templates<'a>(&'a self, caller: &'a Caller) -> HostFuture<'a, Arc<Listing>> {
        Box::pin(async move {
            self.permit(caller, "resources_list")?;
            Ok(Arc::clone(&self.server.upstream().snapshot().manifest.templates))
        })
    }

    fn read<'a>(&'a self, call: Call<'a, Caller>, uri: &'a str) -> HostFuture<'a, Outcome<ResourceContents>> {
        Box::pin(async move {
            let (traits, relay) = (self.traits("resources_read")?, self.server.relay());
            let resource = ServerResource { traits, relay, uri };
            let cx = self.context(&call);
            let outcome = self.doors.inner.pipeline.hand_through(&cx, &resource, Arguments::default()).await;
            outcome.map_err(|error| refusal(&error, McpError::unknown_resource(uri)))
        })
    }

    fn complete<'a>(&'a self, caller: &'a Caller, asked: Completing<'a>) -> HostFuture<'a, Completion> {
        Box::pin(async move {
            let permit = self.permit(caller, "prompts_get")?;
            complete(&self.server, asked, permit).await
        })
    }

    fn changes(&self, caller: &Caller, wanted: &ChangeFilter) -> Changes {
        let upstream = self.server.upstream();
        let may_read = self.permit(caller, "resources_read").is_ok();
        let owner = caller.principal.owner().as_str();
        let watching = upstream.watch_resources(owner, if may_read { wanted.uris.clone() } else { Vec::new() });
        let (receiver, wanted) = (upstream.changes(), wanted.clone());
        Box::pin(stream::unfold((receiver, wanted, watching), |(mut receiver, wanted, watching)| async move {
            loop {
                let change = match receiver.recv().await {
                    Ok(change) => change,
                    // Whoever fell behind looks at everything again.
                    Err(RecvError::Lagged(_)) => match &wanted {
                        ChangeFilter { tools: true, .. } => Change::Tools,
                        ChangeFilter { prompts: true, .. } => Change::Prompts,
                        ChangeFilter { .. } => Change::Resources,
                    },
                    Err(RecvError::Closed) => return None,
                };
                let is_wanted = match &change {
                    Change::Tools => wanted.tools,
                    Change::Prompts => wanted.prompts,
                    Change::Resources => wanted.resources,
                    Change::Resource(uri) => wanted.uris.contains(uri),
                };
                if is_wanted {
                    return Some((change, (receiver, wanted, watching)));
                }
            }
        }))
    }
}

impl UpstreamHost {
    /// Calls a tool for a client that waits for tasks.
    async fn call_or_hold(
        &self,
        call: Call<'_, Caller>,
        tool: Arc<Registered>,
        arguments: Option<&RawValue>,
    ) -> Result<ToolAnswer, McpError> {
        let (doors, arguments) = (self.doors.clone(), arguments.map(ToOwned::to_owned));
        let cx = self.context(&call);
        let back = cx.back.clone();
        let make = move |Way { back, cancel }: Way| -> BoxFuture<'static, Result<Outcome<ToolOutput>, McpError>> {
            let (doors, tool, arguments) = (doors.clone(), Arc::clone(&tool), arguments.clone());
            let cx = CallContext { back, cancel, ..cx.clone() };
            Box::pin(async move {
                let arguments = Arguments::written_by(arguments.as_deref());
                match doors.inner.pipeline.hand_through(&cx, &tool, arguments).await {
                    Ok(outcome) => Ok(outcome),
                    Err(error) => answer_to(&error, tool.traits().name.as_str()),
                }
            })
        };
        self.doors.make_or_hold(&call, back, make).await
    }
}

/// What the client of a call that was refused gets.
pub(super) fn answer_to(error: &ToolError, name: &str) -> Result<Outcome<ToolOutput>, McpError> {
    match error {
        ToolError::Unknown { .. } | ToolError::Cancelled(_) | ToolError::Failed { .. } => {
            Err(refusal(error, McpError::unknown_tool(name)))
        }
        // The model can do something about it, so the model is told.
        error => Ok(Outcome::Done(ToolOutput::error(error.to_string()))),
    }
}

/// Whether a server is still who it said it is.
fn is_known_as(identity: &Identity, facts: &ServerFacts) -> bool {
    identity.name == facts.name
        && identity.title == facts.title.as_deref().unwrap_or_default()
        && identity.version == facts.version
        && identity.instructions == facts.instructions
}
