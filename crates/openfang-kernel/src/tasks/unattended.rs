//! Messages that nobody waits for: what starts by itself sends them, and each makes one task, however often it is sent.

use openfang_types::ids::{AgentName, KeyId, NodeId, Owner, TaskName};
use openfang_types::principal::{Credential, Principal};
use openfang_types::taint::{Label, Labels};
use openfang_types::task::{Message, Origin};
use tokio_util::sync::CancellationToken;

use super::log::Visibility;
use super::run::Settled;
use super::{Incoming, Intake, Tasks};
use crate::{Caller, KernelError};

/// A message that starts by itself.
pub(crate) struct UnattendedMessage {
    pub(crate) caller: Caller,
    pub(crate) agent: AgentName,
    pub(crate) message: Message,
    /// What led to it.
    pub(crate) labels: Labels,
    /// The name of its task: the same message sent again, after a crash, finds that task.
    pub(crate) name: TaskName,
}

/// Whoever left something that starts by itself.
pub(crate) struct Creator<'a> {
    pub(crate) owner: &'a Owner,
    /// The key that it was left with.
    pub(crate) key: Option<&'a KeyId>,
    /// What narrowed the creator; empty for nothing.
    pub(crate) scope: &'a str,
    pub(crate) labels: &'a Labels,
}

impl Tasks {
    /// The creator with the rights of now, or why there are none any more.
    pub(crate) fn principal_of(&self, creator: &Creator<'_>) -> Result<Principal, String> {
        let Creator { owner, key, scope, labels } = creator;
        if **owner == Owner::admin() {
            return Ok(self.narrowed_to(self.resumed_as(owner, labels), scope));
        }
        let accounts = self.inner.access.credentials().accounts();
        let grants = accounts.grants(owner).ok_or_else(|| format!("there is no user {owner} any more"))?;
        let principal = Principal::user(Owner::clone(owner), grants);
        let Some(key) = key else { return Ok(self.narrowed_to(principal, scope)) };
        let credential = Credential::Key(KeyId::clone(key));
        if accounts.revoked(&credential).is_cancelled() {
            return Err(format!("the key {key} that it was created with was revoked, or has expired"));
        }
        Ok(self.narrowed_to(principal.shown_by(credential), scope))
    }

    /// Whoever was narrowed stays so, and brings the label that it brought. A profile that is gone leaves nothing.
    pub(super) fn narrowed_to(&self, principal: Principal, scope: &str) -> Principal {
        let (profiles, label) = scope.split_once('=').unwrap_or((scope, ""));
        let settings = self.inner.settings();
        let names = profiles.split(' ').filter_map(|name| name.parse().ok());
        let principal = names.fold(principal, |principal, name| settings.narrowed_to(principal, &name));
        let known = Label::ALL.into_iter().find(|known| known.as_str() == label);
        // A label that nobody knows any more is no reason to trust anybody.
        principal.bringing(known.or_else(|| (!label.is_empty()).then_some(Label::UntrustedAgent)))
    }

    /// Sends a message whose task goes on by itself. Returns when the task is stored.
    pub(crate) async fn start_unattended(&self, sent: UnattendedMessage) -> Result<(), KernelError> {
        match self.take(incoming(sent)).await? {
            Intake::Answered(_) | Intake::Known(_) => {}
            Intake::Begun(work) => drop(work.detach()),
        }
        Ok(())
    }

    /// Sends a message and waits until its task has ended or asks for something. None if the agent answered without a
    /// task. The work goes on when the waiting is given up.
    pub(crate) async fn send_unattended(&self, sent: UnattendedMessage) -> Result<Option<Settled>, KernelError> {
        let caller = sent.caller.clone();
        match self.take(incoming(sent)).await? {
            Intake::Answered(_) => Ok(None),
            Intake::Known(id) => self.settled(&caller, id).await.map(Some),
            Intake::Begun(work) => self.end_of_apart(&caller, work).await.map(Some),
        }
    }

    /// The name of this process.
    pub(crate) fn node_id(&self) -> NodeId {
        self.inner.node_id
    }

    /// The processes of this home that are alive; none where no other process shares it.
    pub(crate) fn living(&self) -> Result<Option<Vec<NodeId>>, KernelError> {
        let living = self.inner.node.as_ref().map(openfang_store::Node::living).transpose();
        living.map_err(|error| openfang_store::StoreError::Unavailable { why: error.to_string() }.into())
    }
}

fn incoming(sent: UnattendedMessage) -> Incoming {
    let UnattendedMessage { caller, agent, message, labels, name } = sent;
    Incoming {
        caller,
        agent,
        message,
        labels,
        origin: Origin::OpenFang,
        peer_name: Some(name),
        push: None,
        granted: None,
        cancel: CancellationToken::new(),
        visibility: Visibility::Seen,
    }
}
