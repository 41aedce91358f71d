//! Finds out what an endpoint speaks, by asking for a task that cannot exist. The question has no effect, and an agent that
//! understands it answers that there is no such task.

use openfang_types::ids::TaskName;
use openfang_types::limits::A2A_PROBE_TOTAL;
use uuid::Uuid;

use super::agent::RemoteAgent;
use super::call::{Call, CallFailure};
use super::error::ClientError;
use super::interface::{Binding, Interface};
use crate::dialect::Dialect;
use crate::operation::{HistoryLength, Operation};
use crate::peer::{PeerError, PeerFault};

/// Everything that can be told apart by a probe, the best first. 0.1 has the same question as 0.3.
pub(super) const WAYS: [(Binding, Dialect); 6] = [
    (Binding::JsonRpc, Dialect::V10),
    (Binding::JsonRpc, Dialect::V03),
    (Binding::JsonRpc, Dialect::V01),
    (Binding::HttpJson, Dialect::V10),
    (Binding::HttpJson, Dialect::V03Proto),
    (Binding::HttpJson, Dialect::OpenFang),
];

/// Why no way was found.
#[derive(Debug)]
pub(super) enum Unspoken {
    /// The server cannot be reached, or wants a credential: no other question would be answered.
    Unavailable(ClientError),
    /// None of the ways is understood; the answers to the first one.
    Unknown(String),
}

/// The first of these ways that an endpoint understands.
pub(super) async fn probe(
    agent: &RemoteAgent,
    url: &str,
    tenant: Option<&str>,
    ways: impl Iterator<Item = (Binding, Dialect)>,
) -> Result<Interface, Unspoken> {
    let mut first = None;
    for (binding, dialect) in ways {
        let tenant = tenant.filter(|_| dialect == Dialect::V10).map(str::to_owned);
        let interface = Interface { url: url.to_owned(), binding, dialect, tenant };
        match ask(agent, &interface).await {
            Ok(()) => return Ok(interface),
            Err(Unspoken::Unknown(why)) => first = first.or(Some(why)),
            Err(unavailable) => return Err(unavailable),
        }
    }
    Err(Unspoken::Unknown(first.unwrap_or_else(|| "no version is left to try".to_owned())))
}

async fn ask(agent: &RemoteAgent, interface: &Interface) -> Result<(), Unspoken> {
    let name: TaskName = Uuid::new_v4().to_string().parse().map_err(|_| Unspoken::Unknown(String::new()))?;
    let call = Call {
        site: agent.site(),
        interface,
        extensions: &agent.settings().extensions,
        extra: agent.extra(),
        first_byte: A2A_PROBE_TOTAL,
        total: Some(A2A_PROBE_TOTAL),
        resume_after: None,
    };
    match call.exchange(Operation::Get { task: name, history: HistoryLength::default() }).await {
        Ok(_) => Err(Unspoken::Unknown("it knows a task that does not exist".to_owned())),
        Err(CallFailure::Peer(error, _)) if is_understood(&error, interface) => Ok(()),
        Err(CallFailure::Peer(error, retry_after)) => match error.fault {
            PeerFault::Unauthenticated | PeerFault::Forbidden => {
                Err(Unspoken::Unavailable(ClientError::refused(error, retry_after)))
            }
            _ => Err(Unspoken::Unknown(error.to_string())),
        },
        Err(CallFailure::Other(error @ (ClientError::NotSent(_) | ClientError::Interrupted(_)))) => {
            Err(Unspoken::Unavailable(error))
        }
        Err(CallFailure::Other(error)) => Err(Unspoken::Unknown(error.to_string())),
    }
}

fn is_understood(error: &PeerError, interface: &Interface) -> bool {
    let is_not_found = error.fault == PeerFault::TaskNotFound;
    match (interface.binding, interface.dialect) {
        // An agent that dislikes the name of the task knows the method too.
        (Binding::JsonRpc, _) => is_not_found || error.fault == PeerFault::InvalidParams,
        // The path is the same in OpenFang's dialect. Only 1.0 states a reason.
        (Binding::HttpJson, Dialect::V10) => is_not_found && error.reason.is_some(),
        (Binding::HttpJson, _) => is_not_found,
    }
}
