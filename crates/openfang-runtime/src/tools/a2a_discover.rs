//! `a2a_discover`: what agent there is at a URL.

use std::sync::Arc;

use openfang_a2a::client::{Discovery, RemoteSettings};
use openfang_types::call::{Arguments, Outcome};
use openfang_types::content::ToolOutput;
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolFuture, name, parse};
use crate::context::CallContext;
use crate::foreign_agents::{ForeignAgents, ForeignCalls, settings_for};
use crate::pipeline::{Permit, may_follow_redirects};

pub(super) struct A2aDiscover {
    pub(super) foreign: Arc<dyn ForeignAgents>,
    pub(super) calls: Arc<ForeignCalls>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The URL of the agent's server, of its card or of its endpoint.
    url: String,
}

impl Tool for A2aDiscover {
    fn definition(&self) -> ToolDefinition {
        let says = "Finds the A2A agent at a URL and returns its card.";
        let annotations = ToolAnnotations { open_world_hint: true, ..ToolAnnotations::READ_ONLY };
        ToolDefinition::of::<Args>(name("a2a_discover"), says, SinkKind::Fetches, annotations)
    }

    fn target<'v>(&self, arguments: &'v Value) -> Option<&'v str> {
        arguments.get("url").and_then(Value::as_str)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let Args { url } = parse(arguments)?;
            let _room = self.calls.begin(cx.principal.owner())?;
            // A redirect could carry data to a host that nobody looked at.
            let redirects = may_follow_redirects(cx);
            let settings = RemoteSettings { redirects, ..settings_for(&cx.principal, &url) };
            let agent = self.foreign.connect(settings).map_err(super::ToolFailure::new)?;
            let labels = Labels::one(Label::UntrustedAgent, "a card at a URL");
            let found = agent.discover().await;
            let found = found.map_err(|error| super::ToolFailure::new(error.to_string()).labelled(labels.clone()))?;
            let card = card_of(&found);
            let text = serde_json::to_string_pretty(&card)?;
            let shown = json!({
                "url": url,
                "agent": card,
                "endpoint": found.interface.url,
                "protocol": found.interface.dialect.to_string(),
            });
            Ok(Outcome::Done(ToolOutput::text(text).with_structured(&shown).labelled(&labels)))
        })
    }
}

/// The card as it was received; null for an endpoint without one.
fn card_of(found: &Discovery) -> Value {
    let card = found
        .card
        .as_ref()
        .map(|card| serde_json::from_str(card.document.get()).unwrap_or_default());
    card.unwrap_or_default()
}
