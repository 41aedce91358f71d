//! The models that may answer: the first one, and those that take over when it cannot.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::models::ModelTarget;

/// Models that are left alone for a while, because their quota is used up. There are as many as an agent has models.
#[derive(Default)]
pub(super) struct RestingModels {
    until: Mutex<HashMap<String, Instant>>,
}

impl RestingModels {
    fn rest(&self, reference: &str, pause: Duration) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        until.retain(|_, end| *end > now);
        until.insert(reference.to_owned(), now + pause);
    }

    fn is_resting(&self, reference: &str) -> bool {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.get(reference).is_some_and(|end| *end > Instant::now())
    }
}

/// The models of one run, and which of them answers.
pub(super) struct Chain<'a> {
    targets: Vec<Arc<ModelTarget>>,
    place: usize,
    resting: &'a RestingModels,
}

impl<'a> Chain<'a> {
    /// Begins with the first model that does not rest. If all do, with the first: nobody else can say that it still must.
    pub(super) fn new(targets: Vec<Arc<ModelTarget>>, resting: &'a RestingModels) -> Option<Self> {
        targets.first()?;
        let place = targets.iter().position(|target| !resting.is_resting(&target.reference)).unwrap_or(0);
        Some(Self { targets, place, resting })
    }

    pub(super) fn target(&self) -> &Arc<ModelTarget> {
        &self.targets[self.place]
    }

    /// Leaves the model alone for a while.
    pub(super) fn rest(&self, pause: Duration) {
        self.resting.rest(&self.target().reference, pause);
    }

    /// Goes on with the next model that may be able to answer. The run stays with it.
    pub(super) fn advance(&mut self, needs_other_key: bool) -> bool {
        let key = self.target().key_source.clone();
        let is_able = |target: &ModelTarget| {
            let has_other_key = key.is_none() || target.key_source != key;
            !self.resting.is_resting(&target.reference) && (!needs_other_key || has_other_key)
        };
        let next = (self.place + 1..self.targets.len()).find(|place| is_able(&self.targets[*place]));
        self.place = next.unwrap_or(self.place);
        next.is_some()
    }
}
