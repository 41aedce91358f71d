//! `schedule_delete`: removes a schedule. A run that is under way goes on.

use std::sync::Arc;

use openfang_store::ScheduleStore;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ScheduleId;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{is_known_to, unknown};
use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFuture, name, parse};

pub(in crate::tools) struct ScheduleDelete {
    pub(in crate::tools) schedules: Arc<dyn ScheduleStore>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id that schedule_create returned.
    id: String,
}

impl Tool for ScheduleDelete {
    fn definition(&self) -> ToolDefinition {
        let says = "Deletes one of your schedules. A run that is under way goes on.";
        ToolDefinition::of::<Args>(name("schedule_delete"), says, SinkKind::Writes, ToolAnnotations::REPLACES)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { id } = parse(arguments)?;
            let id: ScheduleId = id.parse().map_err(|_| unknown())?;
            let owner = cx.principal.owner();
            let known = self.schedules.get(owner, id).await?;
            let is_known = known.is_some_and(|schedule| is_known_to(&cx.principal, &schedule));
            if !is_known || !self.schedules.delete(owner, id).await? {
                return Err(unknown());
            }
            let done = ToolOutput::text(format!("deleted {id}"));
            Ok(Outcome::Done(done.with_structured(&json!({ "id": id, "status": "deleted" }))))
        })
    }
}
