//! Calls handed on to a server, whatever the eras of the two sides.
//!
//! Whoever calls speaks in the manner of the newest revision: a call ends with a result, or with questions and a state to
//! come back with. A modern server says the same, and its state is handed through. A legacy server asks in the middle of
//! its work: then the call is parked on a conversation of its caller's own, and the state is where it stands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use openfang_types::call::{CallListener, ClientCapabilities, InputRequest, InputRequired, LogLevel, Outcome, Resumed};
use openfang_types::jsonrpc::{ErrorObject, code};
use openfang_types::limits::UPSTREAM_TASK_MAX;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OnceCell};

use super::parked::{Parked, Waiting};
use super::pool::Pool;
use super::{ClientError, Connection, OutgoingRequest, RawMembers, Step, Upstream, Withdrawn};
use crate::error::McpError;
use crate::revision::{Era, Questions, Revision, TaskMethods};
use questions::{keyed, modern_outcome, plain_answer, put};
use state::State;
use tasks::TaskSupport;
pub(super) use tasks::{WatchedTask, about as about_task};

mod questions;
mod state;
mod tasks;

#[derive(Debug, Clone, Copy)]
pub enum Relayed<'a> {
    Tool {
        /// Its name, as the server has it.
        name: &'a str,
        /// What it is given.
        arguments: Option<&'a RawValue>,
    },
    Prompt {
        /// Its name, as the server has it.
        name: &'a str,
        /// What it is filled in with.
        arguments: &'a BTreeMap<String, String>,
    },
    /// A resource to be read.
    Resource { uri: &'a str },
}

/// What travels with a call that is handed on.
pub struct Handing<'a> {
    /// Whose call it is.
    pub owner: &'a str,
    /// What the caller can be asked for.
    pub client: ClientCapabilities,
    /// The era that the caller speaks, where the caller is a client of MCP.
    pub era: Option<Era>,
    /// Members of `_meta` that are passed on as they are.
    pub meta: Option<&'a RawValue>,
    /// What the caller answered to an earlier [`Outcome::NeedsInput`] of this call.
    pub resumed: Option<&'a Resumed>,
    /// Hears how the call goes.
    pub listener: &'a dyn CallListener,
    /// Whether the server may make a task of the call, which is then followed to its end.
    pub takes_tasks: bool,
    /// Hears at once that the call became a task.
    pub became_task: Option<&'a Notify>,
    /// Whether what is called may still be called. Asked when the server is connected, just before it is asked: until then
    /// only what is remembered of the server is known.
    pub admitted: &'a (dyn Fn() -> Result<(), Withdrawn> + Sync),
}

/// Hands calls on to one server.
pub struct Relay {
    upstream: Upstream,
    is_interactive: bool,
    pool: Pool,
    parked: Parked,
    /// Whether a modern server speaks the legacy era too, and with which of its starts that was found out.
    legacy: Mutex<(u64, Arc<OnceCell<bool>>)>,
}

impl Relay {
    /// Hands on to this server. An interactive one may ask whoever calls it.
    pub fn new(upstream: Upstream, is_interactive: bool) -> Self {
        let (pool, parked) = (Pool::new(upstream.clone()), Parked::default());
        Self { pool, upstream, is_interactive, parked, legacy: Mutex::default() }
    }

    pub const fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Hands a call on. What the server asks comes back as [`Outcome::NeedsInput`].
    pub async fn call(&self, call: &Handing<'_>, what: Relayed<'_>) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let _open = self.upstream.open_call();
        match call.resumed.and_then(|resumed| State::read(&resumed.state)) {
            Some(State::Parked(number)) => return Box::pin(self.resume(call, number)).await,
            Some(State::Task(id)) => return Box::pin(self.answer(call, id)).await,
            Some(State::Theirs(_)) | None => {}
        }
        match self.once(call, what).await {
            // It did nothing, so it can be done again, on a new conversation.
            Err(error) if error.is_harmless() => Box::pin(self.once(call, what)).await,
            outcome => outcome,
        }
    }

    /// Asks the server something that calls nothing: a list, a completion.
    pub async fn ask(&self, method: &str, members: RawMembers) -> Result<Box<RawValue>, ClientError> {
        match self.ask_once(method, members.clone()).await {
            Err(error) if error.is_harmless() => self.ask_once(method, members).await,
            outcome => outcome,
        }
    }

    async fn ask_once(&self, method: &str, members: RawMembers) -> Result<Box<RawValue>, ClientError> {
        let connection = self.upstream.connection().await?;
        let outcome = connection.ask(method, members, self.upstream.timeout()).await;
        self.upstream.note(&connection, &outcome);
        outcome
    }

    async fn once(&self, call: &Handing<'_>, what: Relayed<'_>) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let connection = self.upstream.connection().await?;
        (call.admitted)().map_err(ClientError::Withdrawn)?;
        let mut asked = self.asked(what);
        asked.meta = call.meta;
        asked.log_level = call.listener.level();
        let facts = connection.revision().facts();
        let (questions, methods) = (facts.questions, facts.tasks);
        let may_be_task = call.takes_tasks && connection.facts().capabilities.tasks && asked.method == "tools/call";
        if may_be_task && methods == TaskMethods::Core && self.is_called_as_task(call, what) {
            asked.members = asked.members.with("task", &json!({}));
        }
        asked.takes_tasks = may_be_task && methods == TaskMethods::Extension;
        if questions == Questions::ByRequest && self.is_interactive {
            return Box::pin(self.on_its_own(call, asked)).await;
        }
        if self.asks_in_the_legacy_way(call) && Box::pin(self.speaks_legacy()).await {
            return Box::pin(self.on_its_own(call, asked)).await;
        }
        if questions == Questions::InResult {
            asked.declared = Some(if self.is_interactive { call.client } else { ClientCapabilities::NONE });
            asked.members = with_answers(asked.members, call.resumed);
        }
        let outcome = connection.request(asked, call.listener).await;
        self.upstream.note(&connection, &outcome);
        let result = outcome?;
        if let Some(id) = tasks::begun(&result, methods).filter(|_| may_be_task) {
            call.became_task.inspect(|heard| heard.notify_one());
            return match methods {
                TaskMethods::Extension => Box::pin(self.follow(call, (connection, id))).await,
                TaskMethods::Core | TaskMethods::Absent => {
                    Box::pin(self.result_of(call, (connection, id))).await.map(Outcome::Done)
                }
            };
        }
        // A server that may ask nobody does not get to by asking in another way.
        match self.is_interactive && questions == Questions::InResult && !call.client.is_none() {
            true => modern_outcome(result),
            false => plain_answer(result, questions).map(Outcome::Done),
        }
    }

    /// The result of a task of a server of 2025-11-25, which answers when it is there.
    async fn result_of(
        &self,
        call: &Handing<'_>,
        (connection, id): (Connection, String),
    ) -> Result<Box<RawValue>, ClientError> {
        let task = WatchedTask::new(connection.clone(), id);
        let result = connection
            .request(tasks::about("tasks/result", &task.id, UPSTREAM_TASK_MAX), call.listener)
            .await;
        self.upstream.note(&connection, &result);
        if matches!(result, Ok(_) | Err(ClientError::Refused(_))) {
            task.settle();
        }
        result
    }

    /// Whether a server of 2025-11-25 is asked for a task: where it does nothing else, or where whoever calls wants one.
    fn is_called_as_task(&self, call: &Handing<'_>, what: Relayed<'_>) -> bool {
        let Relayed::Tool { name, .. } = what else { return false };
        let snapshot = self.upstream.snapshot();
        match snapshot.manifest.tools.get(name).map(|tool| TaskSupport::of(&tool.json())) {
            Some(TaskSupport::Required) => true,
            Some(TaskSupport::Optional) => call.became_task.is_some(),
            Some(TaskSupport::Forbidden) | None => false,
        }
    }

    /// Whether questions of a modern server reach this caller better in a legacy conversation, should the server have
    /// those too. A modern caller is asked in the modern way. Anybody else is asked in the way that servers of both eras
    /// have had for longer.
    fn asks_in_the_legacy_way(&self, call: &Handing<'_>) -> bool {
        // What the server asked in a result is answered where the server asked it.
        self.is_interactive && call.era != Some(Era::Modern) && !call.client.is_none() && call.resumed.is_none()
    }

    /// Whether a modern server speaks the legacy era too. That is tried once for every start of the server.
    async fn speaks_legacy(&self) -> bool {
        let parts = &self.upstream.inner.parts;
        if parts.only.is_some() {
            return false;
        }
        let starts = self.upstream.snapshot().starts;
        let speaks = {
            let mut legacy = self.legacy.lock().unwrap_or_else(PoisonError::into_inner);
            if legacy.0 != starts {
                *legacy = (starts, Arc::default());
            }
            Arc::clone(&legacy.1)
        };
        *speaks.get_or_init(|| self.pool.try_legacy()).await
    }

    /// The request that hands a call on.
    fn asked<'a>(&self, what: Relayed<'a>) -> OutgoingRequest<'a> {
        let mut asked = asked(what, self.upstream.timeout());
        if let Relayed::Tool { name, arguments } = what {
            asked.mirrored = self.upstream.snapshot().manifest.mirrored(name, arguments);
        }
        asked
    }

    /// On a conversation of the caller's own, where the server may ask. Callers who cannot be asked share conversations in
    /// which the server may not.
    async fn on_its_own(
        &self,
        call: &Handing<'_>,
        mut asked: OutgoingRequest<'_>,
    ) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let can_be_asked = !call.client.is_none();
        let mut lease = match can_be_asked {
            true => self.pool.take(call.owner, call.client).await?,
            false => self.pool.take_silent(call.owner).await?,
        };
        let Some(connection) = lease.connection().cloned() else { return Err(ClientError::SessionGone) };
        lease.watch(&self.upstream, call.owner).await;
        if let Some(level) = call.listener.level().filter(|_| connection.facts().capabilities.logging)
            && lease.tells_level(level)
        {
            set_level(&connection, level, self.upstream.timeout()).await?;
        }
        asked.takes_questions = can_be_asked;
        asked.is_alone = true;
        let ongoing = connection.begin(asked)?;
        let owner = call.owner.to_owned();
        self.go_on(Waiting { owner, ongoing, lease, questions: Vec::new(), task: None }, call)
            .await
    }

    async fn resume(&self, call: &Handing<'_>, number: u64) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let lost = || {
            let why = "the call that asked is gone: call again, without the answers";
            ClientError::Refused(ErrorObject::new(code::INVALID_PARAMS, why))
        };
        let waiting = self.parked.take(number, call.owner).ok_or_else(lost)?;
        self.go_on(waiting, call).await
    }

    /// Goes on until there is a result, or a question to which the client has not brought the answer.
    async fn go_on(&self, mut waiting: Waiting, call: &Handing<'_>) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let mut answers = call.resumed.map(|resumed| resumed.answers.clone()).unwrap_or_default();
        loop {
            for (key, question) in std::mem::take(&mut waiting.questions) {
                match answers.remove(&key).filter(|answer| answer.get().starts_with('{')) {
                    Some(answer) => waiting.ongoing.connection().reply(&question, Ok(&answer)).await?,
                    None => waiting.questions.push((key, question)),
                }
            }
            if !waiting.questions.is_empty() {
                return self.park(waiting, call.client);
            }
            match waiting.ongoing.advance(call.listener).await {
                Ok(Step::Done(result)) => {
                    let begun = tasks::begun(&result, TaskMethods::Core);
                    if let Some(id) = begun.filter(|_| call.takes_tasks && waiting.task.is_none()) {
                        call.became_task.inspect(|heard| heard.notify_one());
                        waiting.wait_for(id, !call.client.is_none())?;
                        continue;
                    }
                    waiting.task_is_over();
                    waiting.lease.done();
                    return Ok(Outcome::Done(result));
                }
                Ok(Step::OutgoingRequest(questions)) => waiting.questions = keyed(questions),
                Err(error) => {
                    if matches!(error, ClientError::Refused(_)) {
                        waiting.task_is_over();
                        waiting.lease.done();
                    }
                    return Err(error);
                }
            }
        }
    }

    fn park(&self, mut waiting: Waiting, client: ClientCapabilities) -> Result<Outcome<Box<RawValue>>, ClientError> {
        let requests = waiting.questions.iter();
        let requests = requests.map(|(key, question)| Some((key.clone(), put(question)?))).collect::<Option<_>>();
        let strange = || ClientError::NotMcp("it asked something that makes no sense".to_owned());
        let requests: BTreeMap<String, InputRequest> = requests.ok_or_else(strange)?;
        // Nobody could ever answer: better the call ends now than when nobody waits for it any more.
        if let Some(question) = requests.values().find(|question| !client.has(question.needs)) {
            let why = McpError::MissingCapability(question.needs).to_object(Revision::NEWEST);
            return Err(ClientError::Refused(why));
        }
        waiting.ongoing.detach();
        let parts = &self.upstream.inner.parts;
        let number = self.parked.put(waiting, &parts.tracker, &parts.stop)?;
        Ok(Outcome::NeedsInput(InputRequired { requests, state: State::Parked(number).bytes() }))
    }
}

/// The request that hands a call on, without headers.
fn asked(what: Relayed<'_>, timeout: std::time::Duration) -> OutgoingRequest<'_> {
    let (method, named, members) = match what {
        Relayed::Tool { name, arguments } => {
            ("tools/call", name, RawMembers::none().with("name", name).with_some("arguments", arguments))
        }
        Relayed::Prompt { name, arguments } => {
            let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
            ("prompts/get", name, RawMembers::none().with("name", name).with_some("arguments", arguments))
        }
        Relayed::Resource { uri } => ("resources/read", uri, RawMembers::none().with("uri", uri)),
    };
    OutgoingRequest { named: Some(named), ..OutgoingRequest::new(method, members, timeout) }
}

fn with_answers(members: RawMembers, resumed: Option<&Resumed>) -> RawMembers {
    let Some(resumed) = resumed else { return members };
    let state = match State::read(&resumed.state) {
        Some(State::Theirs(state)) => state,
        Some(State::Parked(_) | State::Task(_)) | None => None,
    };
    let answers = Some(&resumed.answers).filter(|answers| !answers.is_empty());
    members.with_some("inputResponses", answers).with_some("requestState", state.as_ref())
}

async fn set_level(connection: &Connection, level: LogLevel, timeout: std::time::Duration) -> Result<(), ClientError> {
    match connection
        .ask("logging/setLevel", RawMembers::none().with("level", &level), timeout)
        .await
    {
        Ok(_) | Err(ClientError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
