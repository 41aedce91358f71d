//! Messages that are sent to an A2A agent of another server.
//!
//! A [`GuardedAgent`] is the only way from the guards to such an agent. Its card can be looked at:
//!
//! ```
//! # use openfang_runtime::external_call::GuardedAgent;
//! fn look(agent: &GuardedAgent) {
//!     drop(agent.known());
//! }
//! ```
//!
//! What is behind it does not lead past the guards:
//!
//! ```compile_fail
//! # use openfang_runtime::external_call::GuardedAgent;
//! fn connection(agent: &GuardedAgent) {
//!     drop(agent.remote());
//! }
//! ```
//!
//! A tool sends a message with a [`Permit`], and not without:
//!
//! ```
//! # use std::sync::Arc;
//! # use openfang_runtime::{agents::{Agents, ExternalMessage}, context::CallContext, pipeline::Permit};
//! fn send(agents: Arc<dyn Agents>, cx: &CallContext, message: ExternalMessage<'_>, permit: Permit) {
//!     drop(agents.ask_external(cx, message, permit));
//! }
//! ```
//! ```compile_fail
//! # use std::sync::Arc;
//! # use openfang_runtime::{agents::{Agents, ExternalMessage}, context::CallContext, pipeline::Permit};
//! fn send(agents: Arc<dyn Agents>, cx: &CallContext, message: ExternalMessage<'_>) {
//!     drop(agents.ask_external(cx, message));
//! }
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use openfang_a2a::client::{ClientError, Discovery, DiscoveryRecord, Follower, Outgoing, RemoteAgent};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::capability::Namespace;
use openfang_types::config::ExternalAgent;
use openfang_types::content::Block;
use openfang_types::limits::Limits;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{Origin, Recorded, ToolAnnotations, ToolKind, ToolTraits};
use openfang_types::trace::{TRACEPARENT, TRACESTATE, TraceParent, write_traceparent, write_tracestate};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::CallContext;
use crate::pipeline::truncate::Loss;
use crate::pipeline::{CallOutput, Callee, Manner, Permit, Sensitive};
use crate::tools::ToolFailure;

/// The way to one external agent, behind the guards.
pub struct GuardedAgent {
    entry: ExternalAgent,
    remote: RemoteAgent,
    traits: ToolTraits,
    /// How many more messages may be under way.
    room: Arc<Semaphore>,
}

/// What the guards know the tool of an external agent as.
pub fn traits_of_external(entry: &ExternalAgent) -> ToolTraits {
    ToolTraits {
        name: entry.tool_name(),
        annotations: ToolAnnotations::ANYTHING,
        sink: SinkKind::SendsOut,
        kind: ToolKind::ExternalAgent,
        origin: Origin::A2aAgent(entry.name.clone()),
        namespace: Namespace::Own,
        recorded: Recorded::Before,
    }
}

impl GuardedAgent {
    /// The way to this agent.
    pub fn new(entry: ExternalAgent, remote: RemoteAgent) -> Self {
        let (traits, room) = (traits_of_external(&entry), Arc::new(Semaphore::new(entry.max_live)));
        Self { entry, remote, traits, room }
    }

    /// The settings of the agent.
    pub const fn entry(&self) -> &ExternalAgent {
        &self.entry
    }

    /// The connection to the agent. Messages go through the guards.
    pub(crate) const fn remote(&self) -> &RemoteAgent {
        &self.remote
    }

    /// What is known of the agent.
    pub fn known(&self) -> Option<Arc<Discovery>> {
        self.remote.known()
    }

    /// Fetches the card of the agent.
    pub async fn refresh(&self) -> Result<Arc<Discovery>, ClientError> {
        self.remote.refresh().await
    }

    /// Takes up what was known of the agent before this process began. Whether it can be used.
    pub fn restore(&self, record: &DiscoveryRecord) -> bool {
        self.remote.restore(record).is_ok()
    }

    /// What everything that the agent says carries.
    pub fn labels(&self) -> Labels {
        let source = self.traits.origin.to_string();
        let mut labels = self.entry.data.labels(&source);
        if !self.entry.trusted {
            labels.add(Label::UntrustedAgent, source);
        }
        labels
    }

    /// Room for one message under way; none if there are as many as may be.
    pub(crate) fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }
}

/// The agent as it is asked for a call that so many agents led to.
pub(crate) fn traced(remote: &RemoteAgent, parent: TraceParent, hops: u8) -> RemoteAgent {
    let headers = [(TRACEPARENT, write_traceparent(parent)), (TRACESTATE, write_tracestate(hops.saturating_add(1)))];
    headers
        .into_iter()
        .fold(remote.clone(), |remote, (name, value)| match HeaderValue::try_from(value) {
            Ok(value) => remote.with_header(HeaderName::from_static(name), value),
            Err(_) => remote,
        })
}

/// A message on its way through the guards.
pub(crate) struct SendToAgent<'a> {
    agent: &'a GuardedAgent,
    /// The connection to the agent, with the headers of this call.
    remote: &'a RemoteAgent,
    outgoing: Mutex<Option<Outgoing>>,
}

impl<'a> SendToAgent<'a> {
    pub(crate) const fn new(agent: &'a GuardedAgent, remote: &'a RemoteAgent, outgoing: Outgoing) -> Self {
        Self { agent, remote, outgoing: Mutex::new(Some(outgoing)) }
    }

    /// What the guards look at: everything that is sent.
    pub(crate) fn arguments(&self) -> Arguments<'static> {
        let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = outgoing.as_ref().map(|outgoing| &outgoing.message.parts);
        serde_json::json!({ "parts": parts }).into()
    }
}

/// What became of a message: somebody to follow, or why there is nobody.
pub(crate) struct MessageSent(pub(crate) Result<Box<Follower>, ClientError>);

impl Callee for SendToAgent<'_> {
    type Output = MessageSent;

    fn traits(&self) -> &ToolTraits {
        &self.agent.traits
    }

    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        _: Arguments<'a>,
        _: Permit,
    ) -> BoxFuture<'a, Result<Outcome<MessageSent>, ToolFailure>> {
        Box::pin(async move {
            let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).take();
            let outgoing = outgoing.ok_or_else(|| ToolFailure::new("the message was sent already"))?;
            let sent = self.remote.send(outgoing).await;
            Ok(Outcome::Done(MessageSent(sent.map(Box::new))))
        })
    }
}

/// What the agent says is labelled as it comes, because it comes bit by bit.
impl CallOutput for MessageSent {
    fn is_failure(&self) -> bool {
        self.0.is_err()
    }

    fn of_failure(failure: ToolFailure, _: Manner) -> Result<Self, ToolFailure> {
        Err(failure)
    }

    fn found(&self, _: &Sensitive, _: &dyn std::fmt::Display) -> Labels {
        Labels::none()
    }

    fn redact(&mut self, _: &Sensitive) {}

    fn limit(&mut self, _: &Limits, _: Manner) -> Vec<Loss> {
        Vec::new()
    }

    fn block_mut(&mut self, _: usize) -> Option<&mut Block> {
        None
    }

    fn warn(&mut self, _: Option<String>) {}
}
