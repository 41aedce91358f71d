//! Telling an agent that a task of ours was canceled.

use openfang_a2a::client::{ClientError, RemoteAgent, Sent};
use openfang_a2a::peer::PeerFault;
use openfang_store::RemoteRecord;
use openfang_types::limits::{EXTERNAL_CANCEL_PAUSE, EXTERNAL_CANCEL_TRIES};

/// Tells an agent that a task is canceled. An agent that does not answer is told again, a few times.
pub(super) async fn tell(agent: &RemoteAgent, record: &RemoteRecord) {
    let mut pause = EXTERNAL_CANCEL_PAUSE;
    for attempt in 1..=EXTERNAL_CANCEL_TRIES {
        match cancel_once(agent, record).await {
            Ok(()) => return,
            Err(error) if !error.is_temporary() || attempt == EXTERNAL_CANCEL_TRIES => {
                tracing::warn!(agent = %record.agent, %error, "an A2A agent was not told of a cancel");
                return;
            }
            Err(error) => tracing::debug!(agent = %record.agent, %error, attempt, "telling of a cancel is tried again"),
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

async fn cancel_once(agent: &RemoteAgent, record: &RemoteRecord) -> Result<(), ClientError> {
    let task = match &record.remote_task {
        Some(task) => task.clone(),
        None => match agent.find_sent(&record.message_id, record.remote_context.as_ref()).await? {
            Sent::Found(task) => task.id,
            Sent::Absent | Sent::Unknown => return Ok(()),
        },
    };
    match agent.cancel(&task).await {
        Ok(_) | Err(ClientError::TaskNotFound) => Ok(()),
        // It has ended by itself.
        Err(error) if error.refusal().is_some_and(|refusal| is_over(refusal.fault)) => Ok(()),
        Err(error) => Err(error),
    }
}

const fn is_over(fault: PeerFault) -> bool {
    matches!(fault, PeerFault::NotCancelable | PeerFault::Ended)
}
