//! `schedule_list`: the schedules of the caller's owner, the newest first, with their next times and latest runs.

use std::sync::Arc;

use openfang_store::{Schedule, ScheduleStore};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::ids::ScheduleId;
use openfang_types::taint::{Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ScheduleView, is_known_to, unknown};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFuture, name, parse};

/// Characters of a description in a list.
const BRIEF_CHARS: usize = 120;

pub(in crate::tools) struct ScheduleList {
    pub(in crate::tools) schedules: Arc<dyn ScheduleStore>,
    pub(in crate::tools) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Only this schedule, with its whole description.
    id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ScheduleListing {
    schedules: Vec<ScheduleView>,
}

impl Tool for ScheduleList {
    fn definition(&self) -> ToolDefinition {
        let says = "Lists your schedules with their next times, and what became of their latest runs.";
        ToolDefinition::of::<Args>(name("schedule_list"), says, SinkKind::Reads, ToolAnnotations::READ_ONLY)
            .returning::<ScheduleListing>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { id } = parse(arguments)?;
            let owner = cx.principal.owner();
            let found = match &id {
                Some(id) => {
                    let id: ScheduleId = id.parse().map_err(|_| unknown())?;
                    self.schedules.get(owner, id).await?.into_iter().collect()
                }
                None => self.schedules.list(owner).await?,
            };
            let mut known: Vec<Schedule> =
                found.into_iter().filter(|schedule| is_known_to(&cx.principal, schedule)).collect();
            if known.is_empty() && id.is_some() {
                return Err(unknown());
            }
            if id.is_none() {
                known.iter_mut().for_each(|schedule| schedule.description = brief(&schedule.description));
            }
            let labels = known.iter().fold(Labels::none(), |labels, schedule| labels.joined(&schedule.labels));
            let now = self.clock.now();
            let schedules: Vec<ScheduleView> =
                known.into_iter().map(|schedule| ScheduleView::of(schedule, now)).collect();
            let shown: Vec<String> = schedules.iter().map(text_of).collect();
            let text = if shown.is_empty() { "(no schedules)".to_owned() } else { shown.join("\n") };
            let listing = ScheduleListing { schedules };
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&listing).labelled(&labels)))
        })
    }
}

fn brief(text: &str) -> String {
    match text.char_indices().nth(BRIEF_CHARS) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A line about the schedule, and one about what it does.
fn text_of(view: &ScheduleView) -> String {
    let next = match (view.next_times.first(), &view.reason) {
        (_, Some(reason)) => format!("paused: {reason}"),
        (Some(next), None) => format!("next {next}"),
        (None, None) => view.status.clone(),
    };
    let running = if view.running { ", running now" } else { "" };
    let last = view.last_run.as_ref().map_or_else(String::new, |last| format!(", last {}", last.outcome));
    let one_line: String = view.description.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{} {} {next}{running}{last}\n  tells {}: {one_line}", view.id, view.when, view.agent)
}
