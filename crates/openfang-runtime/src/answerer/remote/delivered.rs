//! Whether a message reached an agent, when nobody knows: the process that sent it died, or the connection did.
//!
//! The agent is asked. Only a complete list that does not show the message, some time after it was sent, proves that it
//! did not arrive.

use openfang_a2a::client::{ClientError, RemoteAgent, Sent};
use openfang_store::RemoteRecord;
use openfang_types::clock::Clock;
use openfang_types::ids::{ContextId, TaskName};
use openfang_types::limits::{EXTERNAL_ASK_FIRST, EXTERNAL_ASK_MAX, EXTERNAL_LIST_SETTLED};
use openfang_types::task::Role;
use tokio::time::Instant;

use crate::external_call::GuardedAgent;

/// Whether a message arrived.
pub(super) enum Arrival {
    /// The agent has it, in this task.
    Arrived { task: TaskName, context: Option<ContextId> },
    /// It did not arrive, or the agent recognizes it if it comes twice.
    SendAgain,
    /// Nobody can tell whether it arrived.
    Unknowable,
}

/// What one look at the agent says.
enum Look {
    Arrived { task: TaskName, context: Option<ContextId> },
    Absent,
    Unknowable,
}

/// Asks the agent until it answers, for as long as it may be silent.
pub(super) async fn find_out(
    agent: &GuardedAgent,
    remote: &RemoteAgent,
    record: &RemoteRecord,
    clock: &dyn Clock,
) -> Result<Arrival, ClientError> {
    let patience = Instant::now() + agent.entry().idle();
    let mut pause = EXTERNAL_ASK_FIRST;
    loop {
        match look(remote, record).await {
            Ok(Look::Arrived { task, context }) => return Ok(Arrival::Arrived { task, context }),
            Ok(Look::Unknowable) if agent.entry().resend => return Ok(Arrival::SendAgain),
            Ok(Look::Unknowable) => return Ok(Arrival::Unknowable),
            Ok(Look::Absent) => {
                let age = clock.now().duration_since(record.begun_at);
                let age = std::time::Duration::try_from(age).unwrap_or_default();
                if age >= EXTERNAL_LIST_SETTLED {
                    return Ok(Arrival::SendAgain);
                }
                // A message that is still under way appears until then.
                tokio::time::sleep(EXTERNAL_LIST_SETTLED.saturating_sub(age)).await;
                continue;
            }
            Err(error) if !error.is_temporary() || Instant::now() + pause > patience => return Err(error),
            Err(error) => tracing::debug!(agent = %record.agent, %error, "an A2A agent is asked again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(EXTERNAL_ASK_MAX);
    }
}

async fn look(remote: &RemoteAgent, record: &RemoteRecord) -> Result<Look, ClientError> {
    let Some(asking) = &record.remote_task else {
        return Ok(match remote.find_sent(&record.message_id, record.remote_context.as_ref()).await? {
            Sent::Found(task) => Look::Arrived { task: task.id.clone(), context: task.context_id.clone() },
            Sent::Absent => Look::Absent,
            Sent::Unknown => Look::Unknowable,
        });
    };
    // An answer to a question: the task shows whether it was read.
    let task = remote.get_task(asking).await?;
    let mut said = task.history.iter().filter(|message| message.role == Role::User).peekable();
    let shows_messages = said.peek().is_some();
    let has_ours = said.any(|message| message.message_id == record.message_id);
    Ok(match (task.status.state.is_interrupted(), has_ours, shows_messages) {
        (false, _, _) | (true, true, _) => Look::Arrived { task: task.id.clone(), context: task.context_id.clone() },
        (true, false, true) => Look::Absent,
        (true, false, false) => Look::Unknowable,
    })
}
