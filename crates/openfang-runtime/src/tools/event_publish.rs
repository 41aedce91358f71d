//! `event_publish`: publishes an event of the caller's owner, for agents with triggers and whoever follows.

use std::sync::Arc;

use openfang_store::{EventStore, PublishLimits, Published, PublishedEvent};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::clock::Clock;
use openfang_types::config::EventsConfig;
use openfang_types::content::ToolOutput;
use openfang_types::ids::{EventType, PublishedEventId};
use openfang_types::limits::{EVENT_HOPS, EVENT_PERIOD, EVENT_TYPES_AT_FULL_RATE, EVENTS_WAITING};
use openfang_types::principal::Credential;
use openfang_types::taint::SinkKind;
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::context::CallContext;
use crate::pipeline::Permit;
use crate::tools::{Tool, ToolFailure, ToolFuture, name, parse};

pub(super) struct EventPublish {
    pub(super) events: Arc<dyn EventStore>,
    pub(super) clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What happened: 1 to 64 small letters, digits, and . _ -, such as "build.failed".
    event_type: EventType,
    /// Any JSON value; left out if null.
    #[schemars(extend("type" = ["object", "array", "string", "number", "boolean", "null"]))]
    payload: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
struct PublishReceipt {
    event_id: String,
    /// The place of the event among those of its owner.
    number: u64,
}

impl Tool for EventPublish {
    fn definition(&self) -> ToolDefinition {
        let says = "Publishes an event: agents that have a trigger for its type are told, and whoever follows sees it.";
        ToolDefinition::of::<Args>(name("event_publish"), says, SinkKind::SendsOut, ToolAnnotations::ADDS)
            .returning::<PublishReceipt>()
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { event_type, payload } = parse(arguments)?;
            let config = &cx.config.events;
            let payload = payload.map(|payload| payload.to_string());
            if payload.as_ref().is_some_and(|payload| payload.len() > config.payload_bytes) {
                let limit = config.payload_bytes;
                return Err(ToolFailure::new(format!(
                    "the payload is longer than {limit} bytes; write a file and name it here"
                )));
            }
            let chain = self.events.chain_of(cx.trace).await?;
            check_chain(&chain, &event_type)?;
            let key = cx.principal.credential().and_then(|credential| match credential {
                Credential::Key(id) => Some(id.clone()),
                Credential::Login(_) => None,
            });
            let event = PublishedEvent {
                id: PublishedEventId::from_uuid(Uuid::now_v7()),
                owner: cx.principal.owner().clone(),
                event_type: event_type.clone(),
                payload,
                labels: cx.context_labels(),
                created_by: cx.agent.as_ref().map(|agent| agent.name.clone()),
                key,
                scope: cx.principal.begun_as(),
                chain,
                at: self.clock.now(),
            };
            let id = event.id;
            let number = match self.events.publish(event, limits(config)).await? {
                Published::Done(number) => number,
                refused => return Err(refusal(refused, &event_type, config)),
            };
            let receipt = PublishReceipt { event_id: id.to_string(), number };
            let text = format!("published {event_type} as event {number}");
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&receipt)))
        })
    }
}

/// Events that lead to themselves end here.
fn check_chain(chain: &[EventType], event_type: &EventType) -> Result<(), ToolFailure> {
    if chain.contains(event_type) {
        return Err(ToolFailure::new(format!(
            "this run was started by an event {event_type}, so it cannot publish one: that could go on for ever"
        )));
    }
    if chain.len() >= EVENT_HOPS {
        return Err(ToolFailure::new(format!(
            "events may lead to events {EVENT_HOPS} times, and this one would be one more"
        )));
    }
    Ok(())
}

const fn limits(config: &EventsConfig) -> PublishLimits {
    PublishLimits {
        of_type: config.per_minute,
        of_all: config.per_minute.saturating_mul(EVENT_TYPES_AT_FULL_RATE),
        period: EVENT_PERIOD,
        waiting: EVENTS_WAITING,
    }
}

fn refusal(refused: Published, event_type: &EventType, config: &EventsConfig) -> ToolFailure {
    let per_minute = config.per_minute;
    ToolFailure::new(match refused {
        Published::Done(_) | Published::TooManyOfType => {
            format!("{per_minute} events {event_type} were published within a minute; publish fewer")
        }
        Published::TooMany => format!(
            "{} events were published within a minute; publish fewer",
            per_minute.saturating_mul(EVENT_TYPES_AT_FULL_RATE)
        ),
        Published::TooManyWaiting => {
            format!(
                "{EVENTS_WAITING} events wait for their delivery; `openfang start` starts a server that delivers them"
            )
        }
    })
}
