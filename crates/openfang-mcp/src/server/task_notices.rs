//! Telling how tasks stand as that changes: `notifications/tasks` for a listener of the modern era that names them, and
//! `notifications/tasks/status` for a session that began them in the legacy one.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, SelectAll};
use openfang_types::jsonrpc::encode_notification;
use openfang_types::limits::MCP_WATCHED_TASKS;
use serde_json::value::RawValue;

use super::outlet::{Sent, Weight};
use super::respond::members;
use super::{Reporter, Request, Server};
use crate::call_task::{CallTask, ShownTask};
use crate::error::McpError;
use crate::host::{Call, Host, TaskChoice};
use crate::revision::TaskMethods;

/// The tasks that a listener hears of.
#[derive(Default)]
pub(super) struct WatchedTasks {
    /// Names the task that may stand otherwise.
    changes: SelectAll<BoxStream<'static, String>>,
    /// How each stood when the listener was told last.
    told: HashMap<String, Vec<u8>>,
}

impl WatchedTasks {
    /// The next task that may stand otherwise; never, if none is watched.
    pub(super) async fn next(&mut self) -> String {
        match self.changes.next().await {
            Some(id) => id,
            None => std::future::pending().await,
        }
    }
}

impl<H: Host> Server<H> {
    /// Watches those of the named tasks that are the caller's, and leaves out the others, whatever they are.
    pub(super) async fn watch_tasks(
        &self,
        request: &Request<H::Caller>,
        named: &mut Vec<String>,
    ) -> Result<WatchedTasks, McpError> {
        if !named.is_empty() && !request.meta.declares_tasks {
            return Err(McpError::MissingTasks);
        }
        named.sort_unstable();
        named.dedup();
        named.truncate(MCP_WATCHED_TASKS);
        let (host, reporter) = (&self.inner.host, Arc::new(Reporter::of(request)));
        let call = request.call(&reporter, None);
        let mut watched = WatchedTasks::default();
        for id in std::mem::take(named) {
            if host.task(call, &id).await.is_err() {
                continue;
            }
            if let Some(changes) = host.task_changes(call, &id) {
                let name = id.clone();
                watched.changes.push(changes.map(move |()| name.clone()).boxed());
                named.push(id);
            }
        }
        Ok(watched)
    }

    /// What a listener is told of a task, as members; none if it was told that before.
    pub(super) async fn task_news(
        &self,
        request: &Request<H::Caller>,
        watched: &mut WatchedTasks,
        id: &str,
    ) -> Option<Vec<u8>> {
        let reporter = Arc::new(Reporter::of(request));
        let task = self.inner.host.task(request.call(&reporter, None), id).await.ok()?;
        let shown = |is_detailed| members(&ShownTask { task: &task, revision: request.revision, is_detailed });
        let stands = shown(false);
        if watched.told.get(id) == Some(&stands) {
            return None;
        }
        watched.told.insert(id.to_owned(), stands);
        Some(shown(true))
    }

    /// Tells the session that began a task how it stands, until it has ended.
    pub(super) fn tell_of_task(&self, request: &Request<H::Caller>, task: &CallTask) {
        let Some(session) = request.session.as_ref().filter(|_| request.revision.facts().tasks == TaskMethods::Core)
        else {
            return;
        };
        let (reporter, caller, id) = (Arc::new(Reporter::unheard(request)), request.caller.clone(), task.id.clone());
        let (client, client_name, era) = (request.client, request.client_name(), request.era());
        let Some(mut changes) = self.inner.host.task_changes(request.call(&reporter, None), &id) else { return };
        let (server, revision) = (self.clone(), request.revision);
        // The answer to the call says how it stands now.
        let mut told = members(&ShownTask { task, revision, is_detailed: false });
        let (outlet, ended) = (session.unsolicited(), session.ended.clone());
        self.inner.tracker.spawn(async move {
            let (task, meta, resumed) = (TaskChoice::Always, None, None);
            let call = Call { caller: &caller, client, client_name, era, task, meta, resumed, reporter: &reporter };
            loop {
                tokio::select! {
                    () = ended.cancelled() => return,
                    () = server.inner.stop.cancelled() => return,
                    change = changes.next() => if change.is_none() { return },
                }
                let Ok(task) = server.inner.host.task(call, &id).await else { return };
                let stands = members(&ShownTask { task: &task, revision, is_detailed: false });
                if stands != told {
                    let params = String::from_utf8(stands.clone()).ok().map(|members| format!("{{{members}}}"));
                    let Some(params) = params.and_then(|text| RawValue::from_string(text).ok()) else { return };
                    let frame = encode_notification("notifications/tasks/status", Some(&params));
                    // Left out when the client is slow: it looks by itself, too.
                    if outlet.send(Bytes::from(frame), Weight::Light) == Sent::Gone {
                        return;
                    }
                    told = stands;
                }
                if task.state.is_terminal() {
                    return;
                }
            }
        });
    }
}
