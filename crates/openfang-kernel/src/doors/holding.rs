//! Held calls, as the doors of MCP use them: made for a caller, looked at, answered and canceled by the same caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use openfang_mcp::host::{Call, Ticks, ToolAnswer};
use openfang_mcp::{CallTask, McpError};
use openfang_runtime::context::{ServerTasks, WayBack};
use openfang_types::content::ToolOutput;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::held_calls::{CallEnd, HoldableCall, Holder, HoldingParts, MakeCall};
use super::{Doors, Inner};
use crate::{Caller, Way};

impl Holder {
    fn of(caller: &Caller) -> Self {
        let principal = &caller.principal;
        let scope = format!("{} {:?}", principal.scope(), principal.entry_label());
        Self { owner: principal.owner().as_str().to_owned(), scope }
    }
}

impl Doors {
    /// Makes a call of a tool for a client of MCP, as a task where the client wants one.
    pub(super) async fn make_or_hold(
        &self,
        call: &Call<'_, Caller>,
        back: WayBack,
        make: impl Fn(Way) -> BoxFuture<'static, CallEnd> + Send + Sync + 'static,
    ) -> Result<ToolAnswer, McpError> {
        let (inner, became_task) = (&self.inner, Arc::new(Notify::new()));
        let cancel = inner.life.stop().child_token();
        let resumed = back.resumed.as_deref().cloned();
        let back = WayBack { tasks: ServerTasks::Followed(Some(Arc::clone(&became_task))), ..back };
        let make: MakeCall = Box::new(move |resumed, cancel| {
            let back = WayBack { resumed: resumed.map(Arc::new), ..back.clone() };
            make(Way { back, cancel })
        });
        let (holder, choice) = (Holder::of(call.caller), call.task);
        let call = HoldableCall { holder, choice, resumed, became_task, cancel, make };
        inner.held_calls.make(inner.holding(), call).await
    }

    /// Holds the end of a call for a client that counts on a task.
    pub(super) fn hold_end(&self, call: &Call<'_, Caller>, output: ToolOutput) -> Result<ToolAnswer, McpError> {
        let task = self.inner.held_calls.keep(&self.inner.holding(), Holder::of(call.caller), output)?;
        Ok(ToolAnswer::Task(Box::new(task)))
    }

    /// The calls that are held for this caller.
    pub(super) fn calls_held_for(&self, call: &Call<'_, Caller>) -> Vec<CallTask> {
        self.inner.held_calls.list(&Holder::of(call.caller))
    }

    /// How a call stands that is held for this caller.
    pub(super) fn held_call(&self, call: &Call<'_, Caller>, id: &str) -> Option<CallTask> {
        self.inner.held_calls.get(&Holder::of(call.caller), id)
    }

    /// The same, once it has ended or asks for something.
    pub(super) async fn settled_call(&self, call: &Call<'_, Caller>, id: &str) -> Option<CallTask> {
        self.inner.held_calls.settled(&Holder::of(call.caller), id).await
    }

    /// Ticks when a held call stands otherwise; none if there is none.
    pub(super) fn changes_of_call(&self, call: &Call<'_, Caller>, id: &str) -> Option<Ticks> {
        self.inner.held_calls.changes(&Holder::of(call.caller), id)
    }

    /// Gives a held call answers; false if there is none.
    pub(super) fn answer_call(
        &self,
        call: &Call<'_, Caller>,
        id: &str,
        answers: &BTreeMap<String, Box<RawValue>>,
    ) -> bool {
        self.inner.held_calls.answer(&Holder::of(call.caller), id, answers)
    }

    pub(super) async fn cancel_call(&self, call: &Call<'_, Caller>, id: &str) -> Option<CallTask> {
        self.inner.held_calls.cancel(&Holder::of(call.caller), id).await
    }
}

impl Inner {
    fn holding(&self) -> HoldingParts<'_> {
        HoldingParts {
            clock: &self.clock,
            ids: &*self.ids,
            tracker: self.life.tracker(),
            draining: self.life.draining(),
        }
    }
}
