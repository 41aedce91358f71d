//! Lists of tasks, page by page. The store gives plain positions; what a caller gets is sealed and its own.

use jiff::Timestamp;
use openfang_store::{Fit, Position, TaskQuery, TaskRecord};
use openfang_types::ids::{AgentName, ContextId, TaskId};
use openfang_types::limits::{INFLIGHT_FROM_BYTES, PAGE_DEFAULT_TASKS, PAGE_MAX_BYTES, PAGE_MAX_TASKS};
use openfang_types::task::{Task, TaskParts, TaskState};
use uuid::Uuid;

use crate::access::keys::Purpose;
use crate::tasks::{Tasks, narrowing};
use crate::{Caller, KernelError};

/// Which tasks to list.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    pub agent: Option<AgentName>,
    /// Only those in this state.
    pub state: Option<TaskState>,
    /// Only those of this conversation.
    pub context_id: Option<ContextId>,
    /// Only those whose status changed at this moment or later.
    pub changed_since: Option<Timestamp>,
    /// How many on a page.
    pub page_size: Option<usize>,
    /// Where the page begins; made by the page before.
    pub page_token: Option<String>,
    /// How much of each task.
    pub parts: TaskParts,
}

/// A page of tasks.
#[derive(Debug, Clone)]
pub struct ListedTasks<T = Task> {
    /// The tasks, latest change first.
    pub tasks: Vec<T>,
    /// Leads to the next page, if there is one.
    pub next_page_token: Option<String>,
    /// How many there are on all pages.
    pub total: usize,
}

impl Tasks {
    /// One's own tasks, latest change first. A page of large ones is shorter than was asked for.
    pub(crate) async fn tasks(&self, caller: &Caller, filter: TaskFilter) -> Result<ListedTasks, KernelError> {
        let ListedTasks { tasks, next_page_token, total } = self.records(caller, filter).await?;
        let tasks = tasks.into_iter().map(|record| record.task).collect();
        Ok(ListedTasks { tasks, next_page_token, total })
    }

    /// The same, with what is kept beside the tasks.
    pub(crate) async fn records(
        &self,
        caller: &Caller,
        filter: TaskFilter,
    ) -> Result<ListedTasks<TaskRecord>, KernelError> {
        let owner = caller.principal.owner();
        let after = match &filter.page_token {
            Some(token) => Some(self.position_of(caller, token).ok_or(KernelError::InvalidPageToken)?),
            None => None,
        };
        let query = TaskQuery {
            owner: owner.clone(),
            agent: filter.agent,
            state: filter.state,
            context_id: filter.context_id,
            changed_since: filter.changed_since,
            scope: narrowing(caller),
            limit: filter.page_size.unwrap_or(PAGE_DEFAULT_TASKS).clamp(1, PAGE_MAX_TASKS),
            after,
            parts: filter.parts,
            max_bytes: PAGE_MAX_BYTES,
        };
        let tasks = &self.inner.store;
        let page = match tasks.list_within(&query, INFLIGHT_FROM_BYTES).await? {
            Fit::Whole(page) => page,
            Fit::TooLarge(bytes) => {
                let room = caller.reserve(bytes).await?;
                let page = tasks.list(&query).await?;
                room.keep();
                page
            }
        };
        Ok(ListedTasks {
            tasks: page.tasks,
            next_page_token: page.next.map(|position| self.token_of(caller, position)),
            total: page.total,
        })
    }

    fn token_of(&self, caller: &Caller, position: Position) -> String {
        let mut payload = position.at.as_nanosecond().to_be_bytes().to_vec();
        payload.extend_from_slice(position.id.as_uuid().as_bytes());
        self.inner.access.keys().seal(Purpose::PageToken, caller.principal.owner(), &payload)
    }

    fn position_of(&self, caller: &Caller, token: &str) -> Option<Position> {
        let payload = self.inner.access.keys().open_token(Purpose::PageToken, caller.principal.owner(), token)?;
        let (at, id) = payload.split_at_checked(16)?;
        let at = Timestamp::from_nanosecond(i128::from_be_bytes(at.try_into().ok()?)).ok()?;
        Some(Position { at, id: TaskId::from_uuid(Uuid::from_slice(id).ok()?) })
    }
}
