//! Finds out whether a message reached an agent, when nobody knows. Agents do not recognize a message that comes twice, so
//! it must not be sent again on a guess.

use openfang_types::ids::{ContextId, MessageId};
use openfang_types::limits::{A2A_SEARCH_PAGE, A2A_SEARCH_PAGES};
use openfang_types::task::Role;

use super::agent::RemoteAgent;
use super::error::ClientError;
use crate::dialect::Dialect;
use crate::operation::ListTasks;
use crate::peer::{PeerFault, PeerTask};

/// Whether a message reached an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// The agent works on it, or did.
    Found(Box<PeerTask>),
    /// No task of ours has the message. A message that is still under way can appear later.
    Absent,
    /// The agent cannot be asked, or its answer is ambiguous.
    Unknown,
}

impl RemoteAgent {
    /// Looks for the task that a message started.
    pub async fn find_sent(&self, message: &MessageId, context: Option<&ContextId>) -> Result<Sent, ClientError> {
        let dialect = self.current().await?.interface.dialect;
        match dialect {
            Dialect::V10 | Dialect::V03Proto => self.search(message, context, dialect == Dialect::V03Proto).await,
            // Here the message's id is the name of its task.
            Dialect::V01 | Dialect::OpenFang => {
                let Ok(name) = message.as_str().parse() else { return Ok(Sent::Unknown) };
                match self.get_task(&name).await {
                    Ok(task) => Ok(Sent::Found(Box::new(task))),
                    Err(ClientError::TaskNotFound) if dialect == Dialect::V01 => Ok(Sent::Absent),
                    // Servers of this dialect may name the task themselves.
                    Err(ClientError::TaskNotFound) => Ok(Sent::Unknown),
                    Err(error) => Err(error),
                }
            }
            Dialect::V03 => Ok(Sent::Unknown),
        }
    }

    async fn search(&self, message: &MessageId, context: Option<&ContextId>, is_03: bool) -> Result<Sent, ClientError> {
        let (mut found, mut shows_all): (Option<PeerTask>, bool) = (None, true);
        let mut listing =
            ListTasks { context_id: context.cloned(), page_size: Some(A2A_SEARCH_PAGE), ..ListTasks::default() };
        for _ in 0..A2A_SEARCH_PAGES {
            let page = match self.list_tasks(listing.clone()).await {
                Ok(page) => page,
                // Servers of 0.3 that have no list fail in the middle of it.
                Err(ClientError::Refused { error, .. })
                    if error.code.is_some()
                        || error.had_no_effect()
                        || (is_03 && error.fault == PeerFault::Internal) =>
                {
                    return Ok(Sent::Unknown);
                }
                Err(error) => return Err(error),
            };
            for task in page.tasks {
                let mut said = task.history.iter().filter(|one| one.role == Role::User).peekable();
                // A list without messages proves nothing.
                shows_all &= said.peek().is_some();
                let is_ours = said.any(|one| one.message_id == *message);
                match (is_ours, &found) {
                    (false, _) => {}
                    (true, None) => found = Some(task),
                    // One message starts one task.
                    (true, Some(_)) => return Ok(Sent::Unknown),
                }
            }
            match page.next_page_token {
                Some(token) => listing.page_token = Some(token),
                None if shows_all => return Ok(found.map_or(Sent::Absent, |task| Sent::Found(Box::new(task)))),
                None => return Ok(found.map_or(Sent::Unknown, |task| Sent::Found(Box::new(task)))),
            }
        }
        Ok(found.map_or(Sent::Unknown, |task| Sent::Found(Box::new(task))))
    }
}
