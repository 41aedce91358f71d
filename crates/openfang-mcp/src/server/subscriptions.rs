//! Telling of changes: `subscriptions/listen` in the modern era; `resources/subscribe` and notifications of their own
//! accord in the legacy one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt as _;
use openfang_types::jsonrpc::encode_notification;
use openfang_types::limits::{MCP_LISTENERS_PER_OWNER, MCP_SUBSCRIPTIONS_PER_SESSION, MCP_URI_MAX_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::outlet::{Outlet, Sent, Weight};
use super::respond::{Kind, Signature, members};
use super::session::{Session, too_many_subscriptions};
use super::{Request, Server};
use crate::content::raw;
use crate::error::McpError;
use crate::host::{Change, ChangeFilter, Host, Offers};

/// What a client wants to hear of, and what we agree to tell.
#[derive(Debug, Clone, Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resource_subscriptions: Vec<String>,
    /// Calls that became tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    task_ids: Vec<String>,
}

impl Filter {
    fn within(mut self, offers: Offers) -> Self {
        self.tools_list_changed &= offers.tools;
        self.prompts_list_changed &= offers.prompts;
        self.resources_list_changed &= offers.resources;
        if !offers.subscriptions {
            self.resource_subscriptions.clear();
        }
        self.resource_subscriptions.retain(|uri| uri.len() <= MCP_URI_MAX_BYTES);
        self.resource_subscriptions.truncate(MCP_SUBSCRIPTIONS_PER_SESSION);
        if !offers.tasks {
            self.task_ids.clear();
        }
        self
    }

    fn wanted(&self) -> ChangeFilter {
        ChangeFilter {
            tools: self.tools_list_changed,
            prompts: self.prompts_list_changed,
            resources: self.resources_list_changed,
            uris: self.resource_subscriptions.clone(),
        }
    }
}

impl<H: Host> Server<H> {
    /// Tells of changes until the client goes or the server stops.
    pub(super) async fn listen(&self, request: &Request<H::Caller>) -> Result<Vec<u8>, McpError> {
        #[derive(Deserialize)]
        struct Params {
            notifications: Filter,
        }
        let wrong = || McpError::InvalidParams("subscriptions/listen takes an object of notifications".to_owned());
        let params = request.params().ok_or_else(wrong)?;
        let params: Params = serde_json::from_str(params.get()).map_err(|_| wrong())?;
        let host = &self.inner.host;
        let owner = host.owner(&request.caller);
        let mut accepted = params.notifications.within(host.offers(&request.caller));
        let uris = accepted.resource_subscriptions.iter().map(String::as_str);
        let _taken = self.inner.shared.memory_of(&owner).subscribe(uris).ok_or_else(too_many_subscriptions)?;
        let _seat = self.inner.listeners.seat(owner)?;
        let meta = Signature::subscription_meta(&request.id);
        let mut tasks = self.watch_tasks(request, &mut accepted.task_ids).await?;
        let mut changes = host.changes(&request.caller, &accepted.wanted());

        let acknowledged = format!("{{\"notifications\":{{{}}},{meta}}}", text(&members(&accepted)));
        tell(&*request.outlet, "notifications/subscriptions/acknowledged", acknowledged)?;
        loop {
            tokio::select! {
                biased;
                () = self.inner.stop.cancelled() => break,
                Some(change) = changes.next() => {
                    let (method, uri) = announced(&change);
                    let params = match uri {
                        Some(uri) => format!("{{\"uri\":{uri},{meta}}}"),
                        None => format!("{{{meta}}}"),
                    };
                    tell(&*request.outlet, method, params)?;
                }
                id = tasks.next() => {
                    if let Some(news) = self.task_news(request, &mut tasks, &id).await {
                        tell(&*request.outlet, "notifications/tasks", format!("{{{},{meta}}}", text(&news)))?;
                    }
                }
            }
        }
        let (id, revision) = (&request.id, request.revision);
        Ok(self.signature().respond(id, revision, meta.as_bytes(), Kind::Answer))
    }

    pub(super) fn subscribe(&self, request: &Request<H::Caller>) -> Result<(), McpError> {
        let uri = uri_of(request)?;
        let Some(token) = session_of(request)?.watch(&uri)? else { return Ok(()) };
        let wanted = ChangeFilter { uris: vec![uri], ..ChangeFilter::default() };
        self.forward(&request.caller, session_of(request)?, &wanted, token);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, request: &Request<H::Caller>) -> Result<(), McpError> {
        session_of(request)?.unwatch(&uri_of(request)?);
        Ok(())
    }

    /// From now on a legacy peer hears when the lists change.
    pub(super) fn watch_lists(&self, caller: &H::Caller, session: &Arc<Session>) {
        if session.begins_watching_lists() {
            let wanted = ChangeFilter { tools: true, prompts: true, resources: true, uris: Vec::new() };
            self.forward(caller, session, &wanted, session.ended.child_token());
        }
    }

    fn forward(
        &self,
        caller: &H::Caller,
        session: &Arc<Session>,
        wanted: &ChangeFilter,
        until: tokio_util::sync::CancellationToken,
    ) {
        let mut changes = self.inner.host.changes(caller, wanted);
        let (outlet, stop) = (session.unsolicited(), self.inner.stop.clone());
        self.inner.tracker.spawn(async move {
            loop {
                let change = tokio::select! {
                    () = until.cancelled() => return,
                    () = stop.cancelled() => return,
                    change = changes.next() => change,
                };
                let Some(change) = change else { return };
                let (method, uri) = announced(&change);
                let params = uri.map(|uri| format!("{{\"uri\":{uri}}}"));
                let params = params.and_then(|text| RawValue::from_string(text).ok());
                let frame = encode_notification(method, params.as_deref());
                // Left out when the client is slow: it looks again anyway.
                let _ = outlet.send(Bytes::from(frame), Weight::Light);
            }
        });
    }
}

/// The notification for a change, and the resource it is about.
fn announced(change: &Change) -> (&'static str, Option<Box<RawValue>>) {
    match change {
        Change::Tools => ("notifications/tools/list_changed", None),
        Change::Prompts => ("notifications/prompts/list_changed", None),
        Change::Resources => ("notifications/resources/list_changed", None),
        Change::Resource(uri) => ("notifications/resources/updated", Some(raw(uri))),
    }
}

/// A listener that does not read is let go; it listens again when it can.
fn tell(outlet: &dyn Outlet, method: &str, params: String) -> Result<(), McpError> {
    let params = RawValue::from_string(params).map_err(|_| McpError::Internal)?;
    match outlet.send(Bytes::from(encode_notification(method, Some(&params))), Weight::Light) {
        Sent::Taken => Ok(()),
        Sent::Full | Sent::Gone => Err(McpError::Canceled),
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

fn session_of<C>(request: &Request<C>) -> Result<&Arc<Session>, McpError> {
    let none = || McpError::InvalidParams("subscriptions need a session: begin with initialize".to_owned());
    request.session.as_ref().ok_or_else(none)
}

fn uri_of<C>(request: &Request<C>) -> Result<String, McpError> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    let wrong = || McpError::InvalidParams(format!("{} takes a uri", request.method));
    let params = request.params().ok_or_else(wrong)?;
    serde_json::from_str::<Params>(params.get()).map(|params| params.uri).map_err(|_| wrong())
}

/// How many listen, by owner.
#[derive(Default)]
pub(super) struct Listeners {
    counts: Mutex<HashMap<String, usize>>,
}

struct Seat {
    listeners: Arc<Listeners>,
    owner: String,
}

impl Listeners {
    fn seat(self: &Arc<Self>, owner: String) -> Result<Seat, McpError> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(owner.clone()).or_default();
        if *count >= MCP_LISTENERS_PER_OWNER {
            return Err(McpError::Busy(format!("{MCP_LISTENERS_PER_OWNER} listen already; end one")));
        }
        *count += 1;
        Ok(Seat { listeners: Arc::clone(self), owner })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut counts = self.listeners.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.owner);
            }
        }
    }
}
