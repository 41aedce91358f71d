//! The surroundings of calls. A call brings along the agents that its tool may ask, and those are here.

use std::sync::Arc;

use openfang_runtime::agents::Agents;
use openfang_runtime::context::{CallContext, Run, WayBack};
use openfang_types::taint::Labels;
use tokio_util::sync::CancellationToken;

use super::{Inner, Tasks};
use crate::Caller;
use crate::settings::agents::Agent;

/// The way back to a caller, and how the caller stops a call.
#[derive(Clone, Default)]
pub struct Way {
    /// Who hears how the call goes, and what can be asked.
    pub back: WayBack,
    /// Fires when the caller stops the call.
    pub cancel: CancellationToken,
}

impl Tasks {
    /// The context of a direct call that nobody waits for on the way.
    pub(crate) fn context(&self, caller: &Caller) -> CallContext {
        self.inner.context(caller, Way::default())
    }

    /// The context of a direct call.
    pub(crate) fn context_with(&self, caller: &Caller, way: Way) -> CallContext {
        self.inner.context(caller, way)
    }

    /// The context of a call through an agent, as it would be in a run.
    pub(crate) fn agent_context(&self, caller: &Caller, agent: &Agent) -> CallContext {
        CallContext { agent: Some(Arc::clone(&agent.manifest)), ..self.context(caller) }
    }
}

impl Inner {
    fn context(self: &Arc<Self>, caller: &Caller, way: Way) -> CallContext {
        CallContext {
            principal: Arc::clone(&caller.principal),
            door: caller.door,
            agent: None,
            run: None,
            trace: caller.trace,
            hops: caller.hops,
            deadline: None,
            cancel: way.cancel,
            labels: caller.entry_labels(),
            config: Arc::clone(self.settings().config()),
            agents: Arc::clone(self) as Arc<dyn Agents>,
            back: way.back,
            granted: None,
            decided_with: None,
            approval: None,
            waiting_task: None,
        }
    }

    /// The context of the calls in a run. What has entered is known to the run.
    pub(super) fn run_context(
        self: &Arc<Self>,
        caller: &Caller,
        agent: &Agent,
        run: Arc<Run>,
        cancel: CancellationToken,
    ) -> CallContext {
        let way = Way { cancel, back: WayBack::default() };
        let agent = Some(Arc::clone(&agent.manifest));
        CallContext { agent, run: Some(run), labels: Labels::none(), ..self.context(caller, way) }
    }
}
