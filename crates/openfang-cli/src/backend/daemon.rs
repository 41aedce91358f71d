//! The daemon as a backend: requests out, typed answers in, refusals in its own words.

use http::{Method, StatusCode};
use openfang_egress::daemon::{Answer, Daemon, Event};
use openfang_kernel::{AgentSummary, Explanation};
use openfang_types::api::{AgentList, TaskPage, TaskView, ToolList};
use openfang_types::call::{CallListener as _, ToldLog, ToldProgress};
use openfang_types::ids::{AgentName, Owner, TaskId, ToolName};
use openfang_types::limits::PAGE_MAX_TASKS;
use openfang_types::settings_status::{FailedAgent, ReloadReport, SettingsStatus};
use openfang_types::task::Task;
use openfang_types::tool::ToolDefinition;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::link::{LinkEvents, LinkStreamed, ServerLink};
use super::{AgentView, Answered, CallOf, Called, Following, Outgoing, Reply, TaskListing, TaskQuery};
use crate::error::{CliError, Refusal};
use crate::registry::encoded;
use crate::remote::RemoteServer;
use crate::session::Session;
use crate::talk::Talk;

pub(crate) struct DaemonBackend {
    link: ServerLink,
    /// The user in whose place the operator asks.
    pub(super) user: Option<Owner>,
}

#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: Refusal,
}

impl DaemonBackend {
    pub(crate) const fn new(daemon: Daemon) -> Self {
        Self { link: ServerLink::Daemon(daemon), user: None }
    }

    /// A server on another machine, which answers like a daemon.
    pub(crate) const fn remote(server: RemoteServer) -> Self {
        Self { link: ServerLink::Remote(server), user: None }
    }

    /// For what only a daemon can do.
    pub(crate) async fn open(session: &Session, what: &'static str) -> Result<Self, CliError> {
        if let Some(origin) = &session.remote {
            return Ok(Self::remote(RemoteServer::open(session, origin)?));
        }
        let missing = || CliError::NeedsDaemon { what, start: session.command("start") };
        Ok(Self::new(session.daemon().await?.ok_or_else(missing)?))
    }

    pub(crate) async fn agents(&self) -> Result<Vec<AgentSummary>, CliError> {
        Ok(self.get::<AgentList>("/api/agents").await?.agents)
    }

    /// The agents that cannot be used as they are written.
    pub(crate) async fn failed_agents(&self) -> Result<Vec<FailedAgent>, CliError> {
        Ok(self.get::<AgentList>("/api/agents").await?.failed)
    }

    /// How the files stand to what is in force.
    pub(crate) async fn settings(&self) -> Result<SettingsStatus, CliError> {
        self.get("/api/config/status").await
    }

    /// The metrics, in the format of Prometheus.
    pub(crate) async fn metrics(&self) -> Result<String, CliError> {
        let answer = self.link.request(Method::GET, "/metrics", None).await?;
        match answer.status {
            StatusCode::OK => Ok(String::from_utf8_lossy(&answer.body).into_owned()),
            _ => Err(refusal(&answer)),
        }
    }

    /// Takes over what the files say now.
    pub(crate) async fn reload(&self) -> Result<ReloadReport, CliError> {
        self.post("/api/config/reload", &json!({})).await
    }

    pub(super) async fn agent(&self, name: &AgentName) -> Result<AgentView, CliError> {
        self.get(&self.placed(format!("/api/agents/{name}"))).await
    }

    pub(crate) async fn tools(&self, through: Option<&AgentName>) -> Result<Vec<ToolDefinition>, CliError> {
        let query = through.map(|agent| format!("?agent={agent}")).unwrap_or_default();
        Ok(self.get::<ToolList>(&format!("/api/tools{query}")).await?.tools)
    }

    pub(super) async fn tool(&self, name: &ToolName) -> Result<ToolDefinition, CliError> {
        self.get(&format!("/api/tools/{name}")).await
    }

    /// Calls a tool over a stream; dropping the future cancels the call.
    pub(super) async fn call_tool(
        &self,
        call: &CallOf<'_>,
        answered: Option<Answered>,
        talk: &Talk,
    ) -> Result<Called, CliError> {
        let mut body = json!({ "arguments": call.arguments });
        if let Some((answers, state)) = answered {
            body["answers"] = json!(answers);
            body["state"] = json!(state);
        }
        let path = format!("/api/tools/{}", call.name);
        let mut events = match self.link.stream(Method::POST, &path, Some(&body)).await? {
            LinkStreamed::Events(events) => events,
            LinkStreamed::Answer(answer) => return typed(&answer).map(Called::Done),
        };
        while let Some(event) = events.next().await? {
            match event.name.as_str() {
                "progress" => {
                    let told: ToldProgress = event_data(&event)?;
                    talk.progress(told.progress, told.total, told.message.as_deref());
                }
                "log" => {
                    let told: ToldLog = event_data(&event)?;
                    talk.log(told.level, told.logger.as_deref(), &told.data);
                }
                "result" => return event_data(&event).map(Called::Done),
                "question" => return event_data(&event).map(Called::Asks),
                "error" => return Err(CliError::Refused(event_data::<ErrorBody>(&event)?.error)),
                _ => {}
            }
        }
        Err(CliError::Answer { why: "it ended before the result".to_owned() })
    }

    pub(super) async fn send(&self, message: Outgoing) -> Result<Reply, CliError> {
        self.post(&message_path(&message), &body_of(&message)).await
    }

    /// Sends a message and returns as soon as it is taken.
    pub(crate) async fn submit(&self, message: Outgoing) -> Result<Reply, CliError> {
        let mut body = body_of(&message);
        body["returnImmediately"] = json!(true);
        self.post(&message_path(&message), &body).await
    }

    pub(crate) async fn send_streaming(&self, message: Outgoing) -> Result<Following, CliError> {
        self.stream(Method::POST, &message_path(&message), Some(&body_of(&message))).await
    }

    pub(super) async fn explain(&self, agent: &AgentName, tool: &ToolName) -> Result<Explanation, CliError> {
        self.get(&self.placed(format!("/api/policy/{agent}/{tool}"))).await
    }

    pub(super) async fn tasks(&self, wanted: &TaskQuery) -> Result<TaskListing, CliError> {
        let agent = wanted.agent.as_ref().map(|agent| format!("&agent={agent}")).unwrap_or_default();
        let state = wanted.state.map(|state| format!("&state={state}")).unwrap_or_default();
        let context = wanted.context.as_ref().map(|context| format!("&contextId={}", encoded(context.as_str())));
        let context = context.unwrap_or_default();
        let mut listing = TaskListing { tasks: Vec::new(), total: 0 };
        let mut token = String::new();
        loop {
            let size = (wanted.limit - listing.tasks.len()).min(PAGE_MAX_TASKS);
            let path = format!("/api/tasks?pageSize={size}&pageToken={token}{agent}{state}{context}");
            let page: TaskPage = self.get(&self.placed(path)).await?;
            listing.total = page.total;
            listing.tasks.extend(page.tasks);
            token = page.next_page_token;
            if token.is_empty() || listing.tasks.len() >= wanted.limit {
                return Ok(listing);
            }
        }
    }

    pub(crate) async fn task(&self, id: TaskId) -> Result<Task, CliError> {
        Ok(self.get::<TaskView>(&self.placed(format!("/api/tasks/{id}"))).await?.task)
    }

    pub(crate) async fn cancel(&self, id: TaskId) -> Result<Task, CliError> {
        Ok(self
            .post::<TaskView>(&self.placed(format!("/api/tasks/{id}/cancel")), &json!({}))
            .await?
            .task)
    }

    /// The events that are published from now on.
    pub(super) async fn event_feed(&self) -> Result<LinkEvents, CliError> {
        match self.link.stream(Method::GET, "/api/events/feed", None).await? {
            LinkStreamed::Events(events) => Ok(events),
            LinkStreamed::Answer(answer) => Err(refusal(&answer)),
        }
    }

    pub(crate) async fn follow(&self, id: TaskId) -> Result<Following, CliError> {
        self.stream(Method::GET, &self.placed(format!("/api/tasks/{id}/events")), None).await
    }

    /// A path that is asked for in the place of the user.
    fn placed(&self, path: String) -> String {
        match &self.user {
            Some(user) if path.contains('?') => format!("{path}&user={user}"),
            Some(user) => format!("{path}?user={user}"),
            None => path,
        }
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        self.ask(Method::GET, path, None).await
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, CliError> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Sends a body that holds secrets; `--trace-wire` shows another one in its place.
    pub(super) async fn post_in_confidence<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        shown: &Value,
    ) -> Result<T, CliError> {
        typed(&self.link.request_in_confidence(path, body, shown).await?)
    }

    /// Sends a request whose answer is a secret; `--trace-wire` does not show it.
    pub(super) async fn post_for_a_secret<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, CliError> {
        typed(&self.link.request_for_a_secret(path, body).await?)
    }

    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, CliError> {
        typed(&self.link.request(method, path, body).await?)
    }

    async fn stream(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Following, CliError> {
        match self.link.stream(method, path, body).await? {
            LinkStreamed::Events(events) => Ok(Following::Server(events)),
            LinkStreamed::Answer(answer) if answer.status == StatusCode::OK => {
                Err(CliError::Answer { why: "it is not an event stream".to_owned() })
            }
            LinkStreamed::Answer(answer) => Err(refusal(&answer)),
        }
    }
}

pub(super) fn event_data<T: DeserializeOwned>(event: &Event) -> Result<T, CliError> {
    serde_json::from_str(&event.data).map_err(|error| CliError::Answer { why: error.to_string() })
}

fn message_path(message: &Outgoing) -> String {
    format!("/api/agents/{}/message", message.agent)
}

fn body_of(message: &Outgoing) -> Value {
    let mut body = match message.parts.as_slice() {
        [part] if part.metadata.is_empty() && part.as_text().is_some() => json!({ "text": part.as_text() }),
        parts => json!({ "parts": parts }),
    };
    if let Some(task) = message.task {
        body["taskId"] = json!(task);
    }
    if let Some(context) = &message.context {
        body["contextId"] = json!(context);
    }
    if let Some(model) = &message.model {
        body["model"] = json!(model);
    }
    body
}

pub(crate) fn typed<T: DeserializeOwned>(answer: &Answer) -> Result<T, CliError> {
    if answer.status != StatusCode::OK {
        return Err(refusal(answer));
    }
    serde_json::from_slice(&answer.body).map_err(|error| CliError::Answer { why: error.to_string() })
}

/// Why the daemon refused something, in its own words.
pub(crate) fn refusal_in(body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(body) => body.error.message,
        Err(_) => "the daemon gave no reason; see its log".to_owned(),
    }
}

pub(crate) fn refusal(answer: &Answer) -> CliError {
    match serde_json::from_slice::<ErrorBody>(&answer.body) {
        Ok(body) => CliError::Refused(body.error),
        Err(_) => CliError::Answer { why: format!("status {} without an error", answer.status) },
    }
}

#[cfg(test)]
#[path = "daemon_tests.rs"]
mod tests;
