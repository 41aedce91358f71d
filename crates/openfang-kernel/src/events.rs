//! Published events: a process that listens tells the agents that have a trigger for them, and whoever follows reads the
//! log.
//!
//! A claim in the store says which process delivers an event. The task of a trigger has a name made of the event and the
//! agent, so an event that is delivered again, after a crash, starts nothing twice.

use std::sync::Arc;

use openfang_store::{EventQuery, EventStore, NumberedEvent, StoreError};
use openfang_types::agent::Trigger;
use openfang_types::api::EventView;
use openfang_types::clock::IdSource;
use openfang_types::ids::{AgentName, EventType, TraceId};
use openfang_types::limits::{EVENT_FAN_OUT, EVENTS_AT_A_TIME, WATCH_OVER};
use openfang_types::principal::Door;
use openfang_types::task::{Message, Part, Role};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::access::Access;
use crate::drain::Life;
use crate::settings::LiveSettings;
use crate::tasks::Tasks;
use crate::tasks::push::HookPace;
use crate::tasks::unattended::{Creator, UnattendedMessage};
use crate::{Caller, KernelError};

mod feed;
mod hooks;

pub use feed::EventFeed;

/// The published events, as far as this process works on them. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Events {
    inner: Arc<EventsParts>,
}

/// What the room of events is made with.
pub(crate) struct EventsParts {
    pub(crate) store: Arc<dyn EventStore>,
    pub(crate) tasks: Tasks,
    pub(crate) access: Access,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) life: Life,
    /// How many hooks are sent something at a time.
    pub(crate) hooks: Semaphore,
    pub(crate) hook_pace: HookPace,
}

impl Events {
    pub(crate) fn new(parts: EventsParts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// Delivers what is published. Without events it sleeps until there is one.
    pub(crate) async fn deliver_when_published(self) {
        let mut changes = self.inner.store.changes();
        loop {
            changes.mark_unchanged();
            let outcome = self.deliver_waiting().await;
            let rest = async {
                match outcome {
                    Ok(()) => std::future::pending().await,
                    Err(error) => {
                        tracing::warn!(%error, "published events could not be delivered");
                        tokio::time::sleep(WATCH_OVER).await;
                    }
                }
            };
            tokio::select! {
                Ok(()) = changes.changed() => {}
                () = rest => {}
            }
        }
    }

    /// Delivers the events that wait.
    pub(crate) async fn deliver_waiting(&self) -> Result<(), KernelError> {
        loop {
            let waiting = self.inner.store.waiting(EVENTS_AT_A_TIME).await?;
            if waiting.is_empty() {
                return Ok(());
            }
            for event in waiting {
                if self.inner.store.claim(event.number, self.inner.tasks.node_id(), None).await? {
                    self.deliver(event).await?;
                }
            }
        }
    }

    /// Delivers what dead processes had claimed.
    pub(crate) async fn recover(&self) -> Result<(), KernelError> {
        let claimed = self.inner.store.claimed(EVENTS_AT_A_TIME).await?;
        if claimed.is_empty() {
            return Ok(());
        }
        let Some(living) = self.inner.tasks.living()? else { return Ok(()) };
        for (event, holder) in claimed.into_iter().filter(|(_, holder)| !living.contains(holder)) {
            if self.inner.store.claim(event.number, self.inner.tasks.node_id(), Some(holder)).await? {
                self.deliver(event).await?;
            }
        }
        Ok(())
    }

    /// Events of the caller, the newest first.
    pub(crate) async fn list(&self, caller: &Caller, query: EventQuery) -> Result<Vec<EventView>, KernelError> {
        let found = self.inner.store.list(caller.principal.owner(), query).await?;
        Ok(found.into_iter().filter(|event| is_known_to(caller, event)).map(view).collect())
    }

    /// The number of the caller's latest event; 0 if there was none.
    pub(crate) async fn latest(&self, caller: &Caller) -> Result<u64, KernelError> {
        Ok(self.inner.store.latest(caller.principal.owner()).await?)
    }

    /// Changes when something may have been published.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.inner.store.changes()
    }

    async fn deliver(&self, event: NumberedEvent) -> Result<(), KernelError> {
        match self.triggered(&event) {
            Ok(triggered) => {
                for (agent, trigger, caller) in triggered {
                    self.tell(&event, (agent, &trigger), caller).await?;
                }
            }
            Err(why) => tracing::warn!(event = event.number, %why, "no agent is told of an event"),
        }
        let hooks = self.hooks_for(&event);
        if hooks.is_empty() {
            return Ok(self.inner.store.delivered(event.number).await?);
        }
        self.post_beside(event, hooks);
        Ok(())
    }

    /// The agents that are told, each once, and on whose behalf: that of whoever published it, with the rights that they
    /// have now.
    fn triggered(&self, event: &NumberedEvent) -> Result<Vec<(AgentName, Trigger, Caller)>, String> {
        let settings = self.inner.settings.current();
        let published = &event.event;
        let matching = settings.agents().iter().filter_map(|(name, agent)| {
            let mut triggers = agent.manifest.triggers.iter();
            Some((name, triggers.find(|trigger| trigger.on.matches(&published.event_type))?))
        });
        let mut matching = matching.peekable();
        if matching.peek().is_none() {
            return Ok(Vec::new());
        }
        let (owner, scope) = (&published.owner, published.scope.as_str());
        let creator = Creator { owner, key: published.key.as_ref(), scope, labels: &published.labels };
        let principal = Arc::new(self.inner.tasks.principal_of(&creator)?);
        let visible = matching.filter(|(name, _)| settings.agent(&principal, name).is_ok());
        let told = visible.map(|(name, trigger)| {
            let trace = TraceId::from_uuid(self.inner.ids.random());
            let caller = Caller { principal: Arc::clone(&principal), door: Door::Agent, trace, hops: 0, room: None };
            (name.clone(), trigger.clone(), caller)
        });
        Ok(told.take(EVENT_FAN_OUT).collect())
    }

    async fn tell(
        &self,
        event: &NumberedEvent,
        (agent, trigger): (AgentName, &Trigger),
        caller: Caller,
    ) -> Result<(), KernelError> {
        let NumberedEvent { number, event } = event;
        let name = format!("event-{}-{agent}", event.id);
        let (Ok(message_id), Ok(name)) = (name.parse(), name.parse()) else { return Ok(()) };
        let chain: Vec<EventType> = event.chain.iter().chain([&event.event_type]).cloned().collect();
        // Known before the run begins: it may publish at once.
        self.inner.store.add_run(&event.owner, caller.trace, chain).await?;
        let data = json!({ "event": {
            "type": event.event_type, "id": event.id, "number": number, "at": event.at, "payload": payload_of(event)
        }});
        let parts = vec![Part::text(trigger.message.clone()), Part::data(data)];
        let sent = UnattendedMessage {
            caller,
            agent: agent.clone(),
            message: Message::of_parts(message_id, Role::User, parts),
            labels: event.labels.clone(),
            name,
        };
        match self.inner.tasks.start_unattended(sent).await {
            Err(KernelError::Store(error @ StoreError::Unavailable { .. })) => Err(error.into()),
            Err(error) => {
                tracing::warn!(event = number, %agent, %error, "an agent was not told of an event");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Whether a caller knows of an event of its owner. Whoever is narrowed knows of what was published so.
fn is_known_to(caller: &Caller, event: &NumberedEvent) -> bool {
    let narrowing = caller.principal.begun_as();
    narrowing.is_empty() || narrowing == event.event.scope
}

fn payload_of(event: &openfang_store::PublishedEvent) -> Option<Value> {
    event.payload.as_ref().and_then(|payload| serde_json::from_str(payload).ok())
}

/// An event as the API shows it.
fn view(numbered: NumberedEvent) -> EventView {
    let NumberedEvent { number, event } = numbered;
    EventView {
        number,
        id: event.id,
        payload: payload_of(&event),
        event_type: event.event_type,
        agent: event.created_by,
        labels: event.labels,
        at: event.at,
    }
}
