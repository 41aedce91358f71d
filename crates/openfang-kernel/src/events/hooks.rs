//! Hooks: URLs that are sent the events of an owner. What a receiver did not take is sent again, as pushes are.

use std::time::Duration;

use futures_util::future::join_all;
use openfang_store::NumberedEvent;
use openfang_types::config::EventHook;
use openfang_types::limits::{EVENT_FAN_OUT, HOOK_ROUNDS, PUSH_BACKOFF, PUSH_BACKOFF_GROWTH, PUSH_TRIES};
use serde_json::json;

use super::{Events, view};
use crate::tasks::push::{HookOutcome, HookPost};

impl Events {
    /// The hooks that want an event.
    pub(super) fn hooks_for(&self, event: &NumberedEvent) -> Vec<EventHook> {
        let settings = self.inner.settings.current();
        let wants = |hook: &&EventHook| hook.owner == event.event.owner && hook.on.matches(&event.event.event_type);
        settings.config().events.hooks.iter().filter(wants).take(EVENT_FAN_OUT).cloned().collect()
    }

    /// Sends an event to hooks, beside everything else. It counts as delivered when all of them have it or were given up;
    /// if this process stops before, the next one begins again.
    pub(super) fn post_beside(&self, event: NumberedEvent, hooks: Vec<EventHook>) {
        let events = self.clone();
        let draining = self.inner.life.draining().clone();
        self.inner.life.tracker().spawn(async move {
            let posted = join_all(hooks.iter().map(|hook| events.post(&event, hook)));
            if draining.run_until_cancelled(posted).await.is_none() {
                return;
            }
            if let Err(error) = events.inner.store.delivered(event.number).await {
                tracing::warn!(%error, event = event.number, "the delivery of an event was not stored");
            }
        });
    }

    async fn post(&self, event: &NumberedEvent, hook: &EventHook) {
        let id = event.event.id.to_string();
        let mut shown = json!(view(event.clone()));
        shown["owner"] = json!(event.event.owner);
        let body = shown.to_string().into_bytes();
        let mut tries = 0;
        for _ in 0..HOOK_ROUNDS {
            // Closed by nobody.
            let Ok(turn) = self.inner.hooks.acquire().await else { return };
            let sent = HookPost { url: &hook.url, token: hook.token.as_ref(), event: &id, body: body.clone() };
            let outcome = self.inner.tasks.post_hook(&self.inner.hook_pace, sent).await;
            drop(turn);
            let (why, pause) = match outcome {
                HookOutcome::Taken => return,
                HookOutcome::TooFast(pause) => {
                    tokio::time::sleep(pause).await;
                    continue;
                }
                HookOutcome::Refused(why) => (why, None),
                HookOutcome::Later(why, asked) => {
                    let backoff = PUSH_BACKOFF * PUSH_BACKOFF_GROWTH.saturating_pow(tries);
                    (why, Some(backoff.max(asked.unwrap_or(Duration::ZERO))))
                }
            };
            tries += 1;
            match pause.filter(|_| tries < PUSH_TRIES) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => {
                    tracing::warn!(event = event.number, hook = %hook.on, %why, "a hook was not sent an event");
                    return;
                }
            }
        }
    }
}
