//! Waiting for somebody to sign in elsewhere. The agent goes on by itself afterwards, so its task is looked at now and then.

use std::sync::Arc;

use openfang_a2a::client::ClientError;
use openfang_store::RemoteRecord;
use openfang_types::ids::AgentName;
use openfang_types::limits::{
    EXTERNAL_PUSHED_POLL_MAX, EXTERNAL_SIGN_IN_FIRST, EXTERNAL_SIGN_IN_MAX, EXTERNAL_SIGN_IN_TOTAL,
};
use openfang_types::task::TaskState;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::ExternalAgents;
use crate::answerer::{PushHint, SignIn};

/// Looks at the agent's task until it does not wait for a sign-in any more. Each push of the agent is a reason to look.
pub(super) async fn over(
    agents: Arc<dyn ExternalAgents>,
    name: AgentName,
    record: RemoteRecord,
    push: Option<PushHint>,
) -> SignIn {
    let end = Instant::now() + EXTERNAL_SIGN_IN_TOTAL;
    let longest = if push.is_some() { EXTERNAL_PUSHED_POLL_MAX } else { EXTERNAL_SIGN_IN_MAX };
    let mut pause = EXTERNAL_SIGN_IN_FIRST;
    while Instant::now() < end {
        wait(pause, push.as_ref().map(|push| &*push.wake)).await;
        pause = (pause * 2).min(longest);
        // It may be quarantined now, and accepted later.
        let Ok(agent) = agents.way_to(&name) else { continue };
        let Some(task) = &record.remote_task else { return SignIn::Over };
        match agent.remote().get_task(task).await {
            Ok(task) if task.status.state == TaskState::AuthRequired => {}
            // Whoever goes on with the task hears why it cannot.
            Ok(_) | Err(ClientError::TaskNotFound) => return SignIn::Over,
            Err(error) => {
                tracing::debug!(agent = %name, %error, "an A2A agent that waits for a sign-in does not answer")
            }
        }
    }
    SignIn::GivenUp
}

async fn wait(pause: std::time::Duration, wake: Option<&Notify>) {
    match wake {
        // A push that comes after the pause wakes up the next wait.
        Some(wake) => drop(timeout(pause, wake.notified()).await),
        None => sleep(pause).await,
    }
}
