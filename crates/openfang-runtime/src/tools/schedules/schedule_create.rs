//! `schedule_create`: lets an agent do something at certain times, with the rights that its creator has then.

use std::sync::Arc;

use openfang_store::{Schedule, ScheduleState, ScheduleStore, StoreError};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{AgentName, ScheduleId};
use openfang_types::limits::SCHEDULE_DESCRIPTION_MAX_BYTES;
use openfang_types::principal::Credential;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::ScheduleView;
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::timing::{Timing, Zone};
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(in crate::tools) struct ScheduleCreate {
    pub(in crate::tools) schedules: Arc<dyn ScheduleStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What the agent is told each time.
    description: String,
    /// When: "every 30 minutes", "daily at 9:30am", "weekdays at 9", "monday and friday at 17:00", "in 2 hours", "on 2030-12-01
    /// 08:00", a cron expression of five fields, or @daily.
    schedule: String,
    /// The agent that is told; the calling agent, or the default agent, if left out.
    agent: Option<AgentName>,
    /// The time zone, such as "Europe/Berlin" or "UTC".
    time_zone: Option<String>,
}

impl Tool for ScheduleCreate {
    fn definition(&self) -> ToolDefinition {
        let says =
            "Schedules a message to an agent, at certain times or once. The run has the rights that you have then.";
        ToolDefinition::of::<Args>(name("schedule_create"), says, SinkKind::Executes, ToolAnnotations::ADDS)
            .returning::<ScheduleView>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let args: Args = parse(arguments)?;
            check_description(&args.description)?;
            if self.schedules.has_started(cx.trace).await? {
                return Err(ToolFailure::new("a run of a schedule cannot create schedules"));
            }
            let now = self.clock.now();
            let schedule = scheduled(cx, args, now)?;
            match self.schedules.create(schedule.clone(), cx.config.schedules.per_owner).await {
                Err(StoreError::TooMany { limit, .. }) => {
                    return Err(ToolFailure::new(format!(
                        "the limit of {limit} schedules is reached; delete one with schedule_delete first"
                    )));
                }
                created => created?,
            }
            let view = ScheduleView::of(schedule, now);
            let cron = view.cron.as_ref().map_or_else(String::new, |cron| format!(" (cron: {cron})"));
            let text = format!(
                "created {}\nit tells {} {}{cron}\nnext: {}",
                view.id,
                view.agent,
                view.when,
                view.next_times.join(", ")
            );
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&view)))
        })
    }
}

fn scheduled(cx: &CallContext, args: Args, now: jiff::Timestamp) -> Result<Schedule, ToolFailure> {
    let Args { description, schedule, agent, time_zone } = args;
    let zone = match time_zone {
        Some(name) => Zone::named(&name)?,
        None => Zone::configured(&cx.config.schedules.time_zone)?,
    };
    let timing = Timing::parse(&schedule, now, &zone)?;
    let least = cx.config.schedules.min_interval_secs;
    if timing.shortest_pause().is_some_and(|pause| pause < least) {
        return Err(ToolFailure::new(format!("there are at least {least} seconds between two runs of a schedule")));
    }
    let key = cx.principal.credential().and_then(|credential| match credential {
        Credential::Key(id) => Some(id.clone()),
        Credential::Login(_) => None,
    });
    Ok(Schedule {
        id: ScheduleId::from_uuid(Uuid::now_v7()),
        owner: cx.principal.owner().clone(),
        description,
        labels: cx.context_labels(),
        next_at: timing.next(now, &zone),
        timing: timing.to_string(),
        time_zone: zone.name().to_owned(),
        agent: told_agent(cx, agent)?,
        created_by: cx.agent.as_ref().map(|agent| agent.name.clone()),
        key,
        scope: cx.principal.begun_as(),
        created_at: now,
        state: ScheduleState::Active,
        reason: None,
        run: None,
        trace: None,
        last: None,
        failures: 0,
        version: 0,
    })
}

/// The agent that is told: the one that is named, the calling one, or the default.
fn told_agent(cx: &CallContext, named: Option<AgentName>) -> Result<AgentName, ToolFailure> {
    let visible = cx.agents.visible(&cx.principal);
    let calling = cx.agent.as_ref().map(|agent| agent.name.clone());
    let wanted = named.or(calling).or_else(|| cx.config.default_agent.clone());
    match wanted {
        Some(name) if visible.iter().any(|known| known.name == name) => Ok(name),
        Some(name) => {
            Err(ToolFailure::new(format!("there is no agent {name}; agent_list shows the agents you may talk to")))
        }
        None => {
            let first = visible.into_iter().next().map(|known| known.name);
            first.ok_or_else(|| ToolFailure::new("there is no agent that you may talk to"))
        }
    }
}

fn check_description(text: &str) -> Result<(), ToolFailure> {
    if text.trim().is_empty() || text.len() > SCHEDULE_DESCRIPTION_MAX_BYTES {
        return Err(ToolFailure::new(format!("a description has 1 to {SCHEDULE_DESCRIPTION_MAX_BYTES} bytes")));
    }
    Ok(())
}
