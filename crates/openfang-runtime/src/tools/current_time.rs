//! `current_time`: the time, in a zone of the caller's choice.

use std::sync::Arc;

use jiff::tz::TimeZone;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::content::ToolOutput;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::pipeline::Permit;

pub(super) struct CurrentTime {
    pub(super) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// An IANA time zone such as Europe/Berlin; UTC if absent.
    #[serde(default)]
    zone: Option<String>,
}

impl Tool for CurrentTime {
    fn definition(&self) -> ToolDefinition {
        let says = "Tells the current time.";
        let annotations = ToolAnnotations { idempotent_hint: false, ..ToolAnnotations::READ_ONLY };
        ToolDefinition::of::<Args>(name("current_time"), says, SinkKind::Reads, annotations)
    }

    fn call<'a>(&'a self, _: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let zone = match parse::<Args>(arguments)?.zone {
                None => TimeZone::UTC,
                Some(zone) => TimeZone::get(&zone)
                    .map_err(|_| ToolFailure::new(format!("{zone:?} is no time zone; try Europe/Berlin or UTC")))?,
            };
            let now = self.clock.now();
            let shown = now.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            Ok(Outcome::Done(ToolOutput::text(shown).with_structured(&json!({ "utc": now }))))
        })
    }
}
