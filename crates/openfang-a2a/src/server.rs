//! The server core: a request in, a response out, whichever dialect and binding it came in. It knows no web framework;
//! whoever calls it knows the caller already and has checked Host, Origin and size. Headers end in `http.rs`.
//!
//! `rpc.rs` is JSON-RPC, `rest.rs` HTTP+JSON, `openfang.rs` the routes of OpenFang's own dialect; all three end in `Server::carry_out`.

use std::sync::Arc;
use std::time::Duration;

use openfang_types::event::Until;
use openfang_types::ids::AgentName;

use crate::answer::{Answer, Held, Page, StreamHead, artifacts_of};
use crate::dialect::Dialect;
use crate::error::A2aError;
use crate::host::{AgentHost, Follower, Listed, Sent};
use crate::operation::{History, Listing, Operation, Request, Sending};

pub use http::{Accepts, HttpBody, HttpRequest};
pub(crate) use intake::OUTPUT_MODES;
pub use parameters::ServiceParameters;
#[cfg(test)]
pub(crate) use rest::read_back;
pub use rest::status_body;
pub use stream::EventBody;

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

/// What the server offers; the cards say the same.
#[derive(Debug, Clone)]
pub struct Offers {
    /// Streams.
    pub streaming: bool,
    /// Push notifications.
    pub push: bool,
    /// The extended card.
    pub extended_card: bool,
    /// Extensions that every client must name.
    pub required_extensions: Vec<String>,
    /// How often a silent stream says that it lives.
    pub keep_alive: Duration,
}

/// An A2A server.
pub struct Server<H> {
    host: Arc<H>,
    offers: Offers,
}

/// What a request led to.
enum Outcome {
    /// An answer.
    Answer(Answer),
    /// A task, and what happens to it.
    Stream(StreamHead, Box<dyn Follower>),
}

/// Who asks, of whom, in which dialect, and what the caller says besides.
struct Asking<'a, C> {
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

    /// Carries a request out.
    async fn carry_out(&self, asking: &Asking<'_, H::Caller>, request: Request) -> Result<Outcome, A2aError> {
        extensions::check(&self.offers.required_extensions, &asking.parameters.extensions)?;
        let agent = self.addressed(asking, request.tenant.as_deref())?;
        // Boxed, because sending is what is asked most: its future would be as large as the largest of the others.
        match request.operation {
            Operation::Send(sending) => self.send(asking, agent, *sending).await,
            other => Box::pin(self.carry_out_other(asking, agent, other)).await,
        }
    }

    /// Everything but sending.
    async fn carry_out_other(
        &self,
        asking: &Asking<'_, H::Caller>,
        agent: Option<AgentName>,
        operation: Operation,
    ) -> Result<Outcome, A2aError> {
        let (host, caller) = (&self.host, asking.caller);
        let answer = match operation {
            Operation::Send(sending) => return self.send(asking, agent, *sending).await,
            Operation::Subscribe { task } => {
                let held = host.task(caller, agent.as_ref(), &task).await?;
                return self.subscribe(asking, held).await;
            }
            Operation::Get { task, history } => {
                Answer::Task(Box::new(host.task(caller, agent.as_ref(), &task).await?), history)
            }
            Operation::List(listing) => self.list(asking, agent, listing).await?,
            Operation::Cancel { task } => {
                let held = host.task(caller, agent.as_ref(), &task).await?;
                Answer::Task(Box::new(host.cancel(caller, &held).await?), History::default())
            }
            Operation::SetPush { task, config } => {
                let task = task.ok_or_else(|| A2aError::invalid("taskId", "name the task"))?;
                let held = self.pushed(asking, agent.as_ref(), &task).await?;
                Answer::Push(Box::new(host.set_push(caller, &held, config, asking.dialect.origin()).await?))
            }
            Operation::GetPush { task, id } => {
                let held = self.pushed(asking, agent.as_ref(), &task).await?;
                let mut pushes = host.pushes(caller, &held).await?.into_iter();
                let wanted = |push: &crate::answer::Push| id.as_ref().is_none_or(|id| push.id == *id);
                Answer::Push(Box::new(pushes.find(wanted).ok_or(A2aError::PushNotFound)?))
            }
            Operation::ListPush { task } => {
                let held = self.pushed(asking, agent.as_ref(), &task).await?;
                Answer::Pushes(host.pushes(caller, &held).await?)
            }
            Operation::DeletePush { task, id } => {
                let held = self.pushed(asking, agent.as_ref(), &task).await?;
                host.delete_push(caller, &held, &id).await?;
                Answer::Gone
            }
            Operation::ExtendedCard => {
                let is_strict = asking.dialect == Dialect::V10;
                if !self.offers.extended_card {
                    // 1.0 has a word of its own for a card that is declared and missing.
                    let unsupported = || A2aError::Unsupported("the extended card is switched off here".to_owned());
                    return Err(if is_strict { unsupported() } else { A2aError::NoExtendedCard });
                }
                Answer::Card(host.extended_card(caller, agent.as_ref(), is_strict).ok_or(A2aError::NoAgent)?)
            }
        };
        Ok(Outcome::Answer(answer))
    }

    /// The agent that a request is for: the endpoint's, or the tenant it names.
    fn addressed(&self, asking: &Asking<'_, H::Caller>, tenant: Option<&str>) -> Result<Option<AgentName>, A2aError> {
        let unknown = || A2aError::invalid("tenant", "there is no such agent; leave tenant out for the default one");
        match (asking.agent, tenant.filter(|tenant| !tenant.is_empty())) {
            (None, None) => Ok(None),
            (Some(agent), None) => Ok(Some(agent.clone())),
            (Some(agent), Some(tenant)) if agent.as_str() == tenant => Ok(Some(agent.clone())),
            (Some(_), Some(_)) => Err(unknown()),
            (None, Some(tenant)) => self.host.agent(asking.caller, tenant).map(Some).ok_or_else(unknown),
        }
    }

    async fn send(
        &self,
        asking: &Asking<'_, H::Caller>,
        agent: Option<AgentName>,
        sending: Sending,
    ) -> Result<Outcome, A2aError> {
        use crate::operation::When;
        if sending.answer == When::Streaming && !self.offers.streaming {
            return Err(A2aError::Unsupported("streaming is switched off here".to_owned()));
        }
        if sending.push.is_some() && !self.offers.push {
            return Err(A2aError::PushNotSupported);
        }
        intake::check(&sending)?;
        let history = sending.history;
        let sent = self.host.send(asking.caller, agent, sending, asking.dialect.origin()).await?;
        Ok(match sent {
            Sent::Reply(message) => Outcome::Answer(Answer::Replied(Box::new(message))),
            Sent::Task(held) => Outcome::Answer(Answer::Sent(held, history)),
            Sent::Stream(held, follower) => Outcome::Stream(head(&held, history), follower),
        })
    }

    async fn subscribe(&self, asking: &Asking<'_, H::Caller>, held: Held) -> Result<Outcome, A2aError> {
        if !self.offers.streaming {
            return Err(A2aError::Unsupported("streaming is switched off here".to_owned()));
        }
        let after = resume::last_event(asking.parameters.last_event_id.as_deref(), held.task.id)?;
        let state = held.task.status.state;
        if after.is_none() && state.is_terminal() {
            return Err(A2aError::Unsupported(format!("the task is {state} already; get it instead")));
        }
        // Older peers take a question for the end of a stream.
        let until = if asking.dialect == Dialect::V10 { Until::Ended } else { Until::Settled };
        let follower = self.host.follow(asking.caller, &held, after, until).await?;
        Ok(Outcome::Stream(head(&held, History::default()), follower))
    }

    async fn list(
        &self,
        asking: &Asking<'_, H::Caller>,
        agent: Option<AgentName>,
        listing: Listing,
    ) -> Result<Answer, A2aError> {
        let (history, include_artifacts) = (listing.history, listing.include_artifacts);
        let Listed { tasks, next_page_token, page_size, total } =
            self.host.tasks(asking.caller, agent, listing).await?;
        let next_page_token = next_page_token.unwrap_or_default();
        Ok(Answer::Tasks(Page { tasks, next_page_token, page_size, total, history, include_artifacts }))
    }

    /// The task whose push configurations are asked for.
    async fn pushed(
        &self,
        asking: &Asking<'_, H::Caller>,
        agent: Option<&AgentName>,
        task: &openfang_types::ids::TaskName,
    ) -> Result<Held, A2aError> {
        if !self.offers.push {
            return Err(A2aError::PushNotSupported);
        }
        self.host.task(asking.caller, agent, task).await
    }
}

fn head(held: &Held, history: History) -> StreamHead {
    let (task, context) = (held.name(), held.task.context_id.to_string());
    StreamHead { task, context, history, artifacts: artifacts_of(&held.task) }
}
