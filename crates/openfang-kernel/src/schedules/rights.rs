//! With which rights a schedule runs: those of its creator, as they are when it is due.

use std::sync::Arc;

use openfang_store::Schedule;
use openfang_types::ids::{ToolName, TraceId};
use openfang_types::principal::Door;

use super::Schedules;
use crate::Caller;
use crate::tasks::unattended::Creator;

/// The tool whose grant a schedule needs, whenever it runs.
const TOOL: &str = "schedule_create";

impl Schedules {
    /// The caller that a run acts for, or why there is none any more.
    pub(super) fn caller_of(&self, schedule: &Schedule) -> Result<Caller, String> {
        let (owner, scope) = (&schedule.owner, schedule.scope.as_str());
        let creator = Creator { owner, key: schedule.key.as_ref(), scope, labels: &schedule.labels };
        let principal = self.inner.tasks.principal_of(&creator)?;
        let tool: Option<ToolName> = TOOL.parse().ok();
        let tool = tool.and_then(|name| self.inner.pipeline.catalog().get(&name));
        let through = schedule.created_by.as_ref();
        if !tool.is_some_and(|tool| principal.may_use(&tool.traits, through)) {
            return Err(format!("{owner} may not use {TOOL} any more"));
        }
        if self.inner.settings.current().agent(&principal, &schedule.agent).is_err() {
            let agent = &schedule.agent;
            return Err(format!("there is no agent {agent} any more, or {owner} may not talk to it any more"));
        }
        let trace = schedule.trace.unwrap_or_else(|| TraceId::from_uuid(self.inner.ids.random()));
        Ok(Caller { principal: Arc::new(principal), door: Door::Agent, trace, hops: 0, room: None })
    }
}
