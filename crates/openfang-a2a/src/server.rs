//! The server core: a request in, a response out, for every dialect and binding. It is independent of the web
//! framework. Its caller has already authenticated the client and checked Host, Origin and size. Headers are read in
//! `http.rs` only.
//!
//! `rpc.rs` is JSON-RPC, `rest.rs` is HTTP+JSON, `openfang.rs` has the routes of OpenFang's own dialect. All three end
//! in `Server::handle`.

use std::sync::Arc;
use std::time::Duration;

use openfang_types::event::Until;
use openfang_types::ids::AgentName;

use crate::answer::{Answer, ListTasksResponse, NamedTask, StreamHead, artifacts_of};
use crate::dialect::Dialect;
use crate::error::A2aError;
use crate::host::{AgentHost, Follower, SendOutcome, TaskMatches};
use crate::operation::{HistoryLength, ListTasks, Operation, Request, SendMessage};

pub use http::{Accepts, HttpBody, HttpRequest};
pub(crate) use intake::OUTPUT_MODES;
pub use parameters::ServiceParameters;
#[cfg(test)]
pub(crate) use rest::read_back;
pub use rest::status_body;
pub use stream::SseBody;

mod extensions;
mod http;
mod intake;
mod openfang;
mod parameters;
mod rest;
mod resume;
mod rpc;
mod stream;
mod version;

/// The features the server offers. The cards declare the same.
#[derive(Debug, Clone)]
pub struct Offers {
    pub streaming: bool,
    pub push: bool,
    pub extended_card: bool,
    /// Extensions that every client must name.
    pub required_extensions: Vec<String>,
    /// How often an idle stream sends a keep-alive comment.
    pub keep_alive: Duration,
}

/// An A2A server on top of a host.
pub struct Server<H> {
    host: Arc<H>,
    offers: Offers,
}

/// The result of a request.
enum RequestOutcome {
    Answer(Answer),
    /// A task and its further changes.
    Stream(StreamHead, Box<dyn Follower>),
}

/// The context of a request: caller, agent, dialect and service parameters.
struct RequestContext<'a, C> {
    caller: &'a C,
    agent: Option<&'a AgentName>,
    dialect: Dialect,
    parameters: &'a ServiceParameters,
}

impl<H: AgentHost> Server<H> {
    /// A server on a host.
    pub const fn new(host: Arc<H>, offers: Offers) -> Self {
        Self { host, offers }
    }

    /// Handles a request of any dialect.
    async fn handle(
        &self,
        context: &RequestContext<'_, H::Caller>,
        request: Request,
    ) -> Result<RequestOutcome, A2aError> {
        extensions::check(&self.offers.required_extensions, &context.parameters.extensions)?;
        let agent = self.target_agent(context, request.tenant.as_deref())?;
        // Sending is the most frequent operation. The other futures are boxed so that they do not enlarge its future.
        match request.operation {
            Operation::Send(sending) => self.send(context, agent, *sending).await,
            other => Box::pin(self.handle_other(context, agent, other)).await,
        }
    }

    /// Handles every operation except sending.
    async fn handle_other(
        &self,
        context: &RequestContext<'_, H::Caller>,
        agent: Option<AgentName>,
        operation: Operation,
    ) -> Result<RequestOutcome, A2aError> {
        let (host, caller) = (&self.host, context.caller);
        let answer = match operation {
            Operation::Send(sending) => return self.send(context, agent, *sending).await,
            Operation::Subscribe { task } => {
                let held = host.task(caller, agent.as_ref(), &task).await?;
                return self.subscribe(context, held).await;
            }
            Operation::Get { task, history } => {
                Answer::Task(Box::new(host.task(caller, agent.as_ref(), &task).await?), history)
            }
            Operation::List(listing) => self.list(context, agent, listing).await?,
            Operation::Cancel { task } => {
                let held = host.task(caller, agent.as_ref(), &task).await?;
                Answer::Task(Box::new(host.cancel(caller, &held).await?), HistoryLength::default())
            }
            Operation::SetPush { task, config } => {
                let task = task.ok_or_else(|| A2aError::invalid("taskId", "the task is missing"))?;
                let held = self.task_for_push(context, agent.as_ref(), &task).await?;
                Answer::Push(Box::new(host.set_push(caller, &held, config, context.dialect.origin()).await?))
            }
            Operation::GetPush { task, id } => {
                let held = self.task_for_push(context, agent.as_ref(), &task).await?;
                let mut pushes = host.pushes(caller, &held).await?.into_iter();
                let wanted = |push: &crate::answer::TaskPushConfig| id.as_ref().is_none_or(|id| push.id == *id);
                Answer::Push(Box::new(pushes.find(wanted).ok_or(A2aError::PushNotFound)?))
            }
            Operation::ListPush { task } => {
                let held = self.task_for_push(context, agent.as_ref(), &task).await?;
                Answer::Pushes(host.pushes(caller, &held).await?)
            }
            Operation::DeletePush { task, id } => {
                let held = self.task_for_push(context, agent.as_ref(), &task).await?;
                host.delete_push(caller, &held, &id).await?;
                Answer::Gone
            }
            Operation::ExtendedCard => {
                let is_strict = context.dialect == Dialect::V10;
                if !self.offers.extended_card {
                    // 1.0 has a separate error for a card that is declared but missing.
                    let unsupported =
                        || A2aError::Unsupported("the extended card is disabled on this server".to_owned());
                    return Err(if is_strict { unsupported() } else { A2aError::NoExtendedCard });
                }
                Answer::Card(host.extended_card(caller, agent.as_ref(), is_strict).ok_or(A2aError::NoAgent)?)
            }
        };
        Ok(RequestOutcome::Answer(answer))
    }

    /// The agent that a request addresses: the endpoint's agent, or the tenant named in the request.
    fn target_agent(
        &self,
        context: &RequestContext<'_, H::Caller>,
        tenant: Option<&str>,
    ) -> Result<Option<AgentName>, A2aError> {
        let unknown = || A2aError::invalid("tenant", "unknown agent; omit `tenant` to use the default agent");
        match (context.agent, tenant.filter(|tenant| !tenant.is_empty())) {
            (None, None) => Ok(None),
            (Some(agent), None) => Ok(Some(agent.clone())),
            (Some(agent), Some(tenant)) if agent.as_str() == tenant => Ok(Some(agent.clone())),
            (Some(_), Some(_)) => Err(unknown()),
            (None, Some(tenant)) => self.host.agent(context.caller, tenant).map(Some).ok_or_else(unknown),
        }
    }

    async fn send(
        &self,
        context: &RequestContext<'_, H::Caller>,
        agent: Option<AgentName>,
        sending: SendMessage,
    ) -> Result<RequestOutcome, A2aError> {
        use crate::operation::ReplyMode;
        if sending.answer == ReplyMode::Streaming && !self.offers.streaming {
            return Err(A2aError::Unsupported("streaming is disabled on this server".to_owned()));
        }
        if sending.push.is_some() && !self.offers.push {
            return Err(A2aError::PushNotSupported);
        }
        intake::check(&sending)?;
        let history = sending.history;
        let sent = self.host.send(context.caller, agent, sending, context.dialect.origin()).await?;
        Ok(match sent {
            SendOutcome::Reply(message) => RequestOutcome::Answer(Answer::Replied(Box::new(message))),
            SendOutcome::Task(held) => RequestOutcome::Answer(Answer::Sent(held, history)),
            SendOutcome::Stream(held, follower) => RequestOutcome::Stream(head(&held, history), follower),
        })
    }

    async fn subscribe(
        &self,
        context: &RequestContext<'_, H::Caller>,
        held: NamedTask,
    ) -> Result<RequestOutcome, A2aError> {
        if !self.offers.streaming {
            return Err(A2aError::Unsupported("streaming is disabled on this server".to_owned()));
        }
        let after = resume::last_event(context.parameters.last_event_id.as_deref(), held.task.id)?;
        let state = held.task.status.state;
        if after.is_none() && state.is_terminal() {
            return Err(A2aError::Unsupported(format!("the task is already {state}; get it instead of subscribing")));
        }
        // Clients before 1.0 treat a question as the end of a stream.
        let until = if context.dialect == Dialect::V10 { Until::Ended } else { Until::Settled };
        let follower = self.host.follow(context.caller, &held, after, until).await?;
        Ok(RequestOutcome::Stream(head(&held, HistoryLength::default()), follower))
    }

    async fn list(
        &self,
        context: &RequestContext<'_, H::Caller>,
        agent: Option<AgentName>,
        listing: ListTasks,
    ) -> Result<Answer, A2aError> {
        let (history, include_artifacts) = (listing.history, listing.include_artifacts);
        let TaskMatches { tasks, next_page_token, page_size, total } =
            self.host.tasks(context.caller, agent, listing).await?;
        let next_page_token = next_page_token.unwrap_or_default();
        Ok(Answer::Tasks(ListTasksResponse { tasks, next_page_token, page_size, total, history, include_artifacts }))
    }

    /// The task of a push request, if push is offered.
    async fn task_for_push(
        &self,
        context: &RequestContext<'_, H::Caller>,
        agent: Option<&AgentName>,
        task: &openfang_types::ids::TaskName,
    ) -> Result<NamedTask, A2aError> {
        if !self.offers.push {
            return Err(A2aError::PushNotSupported);
        }
        self.host.task(context.caller, agent, task).await
    }
}

fn head(held: &NamedTask, history: HistoryLength) -> StreamHead {
    let (task, context) = (held.name(), held.task.context_id.to_string());
    StreamHead { task, context, history, artifacts: artifacts_of(&held.task) }
}
