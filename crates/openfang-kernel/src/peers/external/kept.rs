//! What is kept of an agent's card between starts, and what a changed card means.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_a2a::client::{CardPin, Discovery, DiscoveryRecord, PeerCard};
use openfang_types::config::{ExternalAgent, OnChange};
use openfang_types::ids::AgentName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::words;

/// What is kept of a card.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct CardMemory {
    /// The URL that it was found for.
    #[serde(default)]
    url: String,
    /// The card and how the agent is asked.
    #[serde(default)]
    record: Option<DiscoveryRecord>,
    /// The card that the operator accepted, or that was seen first.
    #[serde(default)]
    accepted: Option<CardPin>,
    /// The card as it was seen last.
    #[serde(default)]
    seen: Option<CardPin>,
    /// Why the agent must not be used.
    #[serde(default)]
    quarantined: Option<String>,
    /// The card that waits for the operator.
    #[serde(default)]
    waiting: Option<DiscoveryRecord>,
    /// The card whose words nobody has replaced yet, where one with other words is in use.
    #[serde(default)]
    before: Option<CardBefore>,
}

/// A card with accepted words.
#[derive(Serialize, Deserialize)]
struct CardBefore {
    /// The pin of its words.
    words: String,
    /// The card itself, if it was kept.
    record: Option<DiscoveryRecord>,
}

/// The accepted card of an agent, and the one that waits for the operator.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardChange {
    pub before: Option<Box<RawValue>>,
    pub after: Option<Box<RawValue>>,
    pub endpoint_before: Option<String>,
    pub endpoint_after: String,
}

/// What a look at a card led to.
pub(super) enum Verdict {
    First,
    Same,
    /// The card changed and is used.
    Changed(String),
    /// The card changed and is not used before the operator accepts it.
    Quarantined(String),
}

impl CardMemory {
    /// What is kept of an agent's card. An entry with another URL is another agent. Blocks.
    pub(super) fn read(directory: &Path, entry: &ExternalAgent) -> Self {
        let text = std::fs::read(path(directory, &entry.name)).unwrap_or_default();
        let kept: Self = serde_json::from_slice(&text).unwrap_or_default();
        if kept.url == entry.url { kept } else { Self { url: entry.url.clone(), ..Self::default() } }
    }

    pub(super) const fn record(&self) -> Option<&DiscoveryRecord> {
        self.record.as_ref()
    }

    /// Why the agent must not be used.
    pub(super) fn quarantined(&self) -> Option<&str> {
        self.quarantined.as_deref()
    }

    /// The change that waits for the operator.
    pub(super) fn change(&self) -> Option<CardChange> {
        let (before, after) = match (&self.quarantined, &self.before) {
            (Some(_), _) => (self.record.as_ref(), self.waiting.as_ref()?),
            (None, Some(before)) => (before.record.as_ref(), self.record.as_ref()?),
            (None, None) => return None,
        };
        Some(CardChange {
            before: before.and_then(|record| record.card.clone()),
            after: after.card.clone(),
            endpoint_before: before.map(|record| words::shown_url(&record.url)),
            endpoint_after: words::shown_url(&after.url),
        })
    }

    /// Compares a card with the accepted one. What is seen for the first time is accepted.
    pub(super) fn judge(&mut self, entry: &ExternalAgent, discovery: &Discovery) -> Verdict {
        let seen = discovery.pin();
        let verdict = match &self.accepted {
            None => Verdict::First,
            Some(accepted) => compared(accepted, &seen, entry.on_change),
        };
        match &verdict {
            Verdict::First | Verdict::Same | Verdict::Changed(_) => {
                self.keep_words(&seen);
                (self.quarantined, self.waiting) = (None, None);
                self.accepted = Some(seen.clone());
                self.record = Some(discovery.to_record());
            }
            Verdict::Quarantined(why) => {
                self.quarantined = Some(why.clone());
                self.waiting = Some(discovery.to_record());
            }
        }
        self.seen = Some(seen);
        verdict
    }

    /// Keeps the card whose words were accepted, before one with other words is used; or lets it go when its words are back.
    fn keep_words(&mut self, seen: &CardPin) {
        let has_other_words = self.accepted.as_ref().is_some_and(|accepted| accepted.words != seen.words);
        if let (None, true, Some(accepted)) = (&self.before, has_other_words, &self.accepted) {
            self.before = Some(CardBefore { words: accepted.words.clone(), record: self.record.take() });
        }
        self.before.take_if(|before| before.words == seen.words);
    }

    /// The card with accepted words, where one with other words is in use. Inside none if it was not kept.
    pub(super) fn card_before(&self) -> Option<Option<Arc<PeerCard>>> {
        let before = self.before.as_ref().filter(|_| self.quarantined.is_none())?;
        let card = before.record.as_ref().and_then(|record| record.card.as_ref());
        Some(card.and_then(|card| PeerCard::read(card.get().as_bytes())).map(Arc::new))
    }

    /// Takes the card that was seen last. Whether there was something to accept.
    pub(super) fn accept(&mut self) -> bool {
        let was_quarantined = self.quarantined.take().is_some();
        if was_quarantined {
            self.accepted = self.seen.clone();
            self.record = self.waiting.take();
        }
        let had_other_words = self.before.take().is_some();
        was_quarantined || had_other_words
    }

    /// Writes it down, in one step.
    pub(super) fn write(&self, directory: &Path, name: &AgentName) -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let path = path(directory, name);
        let beside = path.with_extension("new");
        std::fs::write(&beside, serde_json::to_vec(self)?)?;
        std::fs::rename(beside, path)
    }
}

/// Another origin, and another or a lost key, always wait for the operator.
fn compared(accepted: &CardPin, seen: &CardPin, on_change: OnChange) -> Verdict {
    if accepted.origin != seen.origin {
        return Verdict::Quarantined(format!("its endpoint moved from {} to {}", accepted.origin, seen.origin));
    }
    match (&accepted.key, &seen.key) {
        (Some(_), None) => return Verdict::Quarantined("its card is not signed any more".to_owned()),
        (Some(was), Some(is)) if was != is => {
            return Verdict::Quarantined(format!("its card is signed with another key: {is} instead of {was}"));
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
    let what = match (accepted.words == seen.words, accepted.endpoint == seen.endpoint) {
        (true, true) if accepted.key == seen.key => return Verdict::Same,
        (true, true) => return Verdict::Changed("it is signed now".to_owned()),
        (false, true) => "the words of its card changed",
        (true, false) => "its endpoint changed",
        (false, false) => "the words of its card and its endpoint changed",
    };
    match on_change {
        OnChange::Warn => Verdict::Changed(what.to_owned()),
        OnChange::Quarantine => Verdict::Quarantined(what.to_owned()),
    }
}

/// Removes what is kept of an agent.
pub(super) fn forget(directory: &Path, name: &AgentName) {
    // What is not there need not be removed.
    let _ = std::fs::remove_file(path(directory, name));
}

fn path(directory: &Path, name: &AgentName) -> PathBuf {
    directory.join(format!("{name}.json"))
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
