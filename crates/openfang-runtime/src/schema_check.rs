//! Values held against JSON Schemas that others wrote, in a bounded number of steps and never for long on an async worker.
//!
//! A short check is made where it comes up. A longer one runs on a thread of its own, of which a server has few: whoever
//! finds them taken waits in line, for a bounded time. One owner never takes all of them. [`metered`] counts the steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use metered::{Counted, Meter, Metered};
use openfang_types::background::lower_priority;
use openfang_types::ids::Owner;
use openfang_types::limits::{
    BACKGROUND_NICENESS, SCHEMA_CHECK_STACK_BYTES, SCHEMA_CHECK_TIME, SCHEMA_CHECKS_PER_OWNER,
    SCHEMA_CHECKS_PER_SERVER, SCHEMA_INLINE_DEPTH, SCHEMA_INLINE_STEPS, SCHEMA_PATTERN_MAX_BYTES,
    SCHEMA_PATTERNS_MAX_BYTES, SCHEMA_PROBLEM_STEPS, SCHEMA_USUAL_EXPANSION,
};
use openfang_types::schema::{self, SchemaCost};
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

mod metered;

/// Enough to act on; a hostile document can have as many problems as members.
const SHOWN_PROBLEMS: usize = 5;
const SHOWN_CHARS: usize = 200;

/// A schema that values can be held against.
pub(crate) struct CompiledSchema {
    validator: Validator<Metered>,
    cost: SchemaCost,
}

/// Why a value did not pass.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// What does not fit, place by place.
    Problems(Vec<String>),
    /// The check took more steps than it may.
    TooManySteps,
}

impl CompiledSchema {
    /// Compiles a schema. Patterns run in linear time, and all of them together take a bounded space.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let cost = schema::cost_of(schema)?;
        let share = SCHEMA_PATTERNS_MAX_BYTES / cost.patterns.max(1);
        let patterns = PatternOptions::regex().size_limit(share.min(SCHEMA_PATTERN_MAX_BYTES));
        let validator = jsonschema::options_for::<Metered>().with_pattern_options(patterns).build(schema);
        Ok(Self { validator: validator.map_err(|error| error.to_string())?, cost })
    }

    /// A schema that we wrote: its patterns and formats are quick.
    pub(crate) fn by_us(mut self) -> Self {
        self.cost.is_plain = true;
        self
    }

    /// Holds a value against this schema if that takes an instant; nothing when it may take longer.
    pub(crate) fn check_quickly(&self, value: &Value, steps: u64) -> Option<Result<(), Misfit>> {
        let is_narrow = self.cost.is_plain && self.cost.expansion <= SCHEMA_USUAL_EXPANSION;
        if !is_narrow || !is_light(value, SCHEMA_INLINE_STEPS, SCHEMA_INLINE_DEPTH / self.cost.chain.max(1)) {
            return None;
        }
        let few = steps.min(SCHEMA_INLINE_STEPS as u64);
        let checked = self.check(value, few);
        Some(checked).filter(|checked| few == steps || *checked != Err(Misfit::TooManySteps))
    }

    /// Holds a value against the schema.
    pub(crate) fn check(&self, value: &Value, steps: u64) -> Result<(), Misfit> {
        // Steps are counted where the value is looked at, and a wide schema does more between two looks.
        let steps = steps.saturating_mul(SCHEMA_USUAL_EXPANSION) / self.cost.expansion.max(SCHEMA_USUAL_EXPANSION);
        let meter = Meter { steps, has_patterns: self.cost.patterns > 0 };
        let fits = meter.run(|| self.validator.is_valid(Counted(value)));
        if fits.ok_or(Misfit::TooManySteps)? {
            return Ok(());
        }
        // To say why keeps something of every step, where alternatives are nested: few steps, or it takes all memory.
        let meter = Meter { steps: steps.min(SCHEMA_PROBLEM_STEPS), ..meter };
        let problems = meter.run(|| self.problems(value));
        Err(Misfit::Problems(problems.unwrap_or_else(|| vec!["to say why takes too many steps".to_owned()])))
    }

    fn problems(&self, value: &Value) -> Vec<String> {
        // Of a large value only the first problem is looked for: there may be as many as it has parts.
        if is_light(value, SCHEMA_INLINE_STEPS, usize::MAX) {
            self.validator
                .iter_errors(Counted(value))
                .take(SHOWN_PROBLEMS)
                .map(|error| shown(&error))
                .collect()
        } else {
            self.validator.validate(Counted(value)).err().iter().map(shown).collect()
        }
    }
}

fn shown(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let text = error.to_string();
    let short: String = text.chars().take(SHOWN_CHARS).collect();
    if place.is_empty() { short } else { format!("at {place}: {short}") }
}

/// Whether a value has at most so many parts, and as many levels; a long string counts for its length.
fn is_light(value: &Value, parts: usize, levels: usize) -> bool {
    fn take(value: &Value, left: &mut usize, levels: usize) -> bool {
        let own = match value {
            Value::String(text) => 1 + text.len() / 256,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => 1,
        };
        let (Some(rest), Some(below)) = (left.checked_sub(own), levels.checked_sub(1)) else { return false };
        *left = rest;
        match value {
            Value::Array(items) => items.iter().all(|item| take(item, left, below)),
            Value::Object(members) => members.values().all(|member| take(member, left, below)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    take(value, &mut { parts }, levels)
}

/// The threads on which longer checks run, for the tools of one server.
pub(crate) struct SchemaChecks {
    seats: Arc<Semaphore>,
    /// The share of each owner whose checks run or wait.
    owners: Mutex<HashMap<Owner, Weak<Semaphore>>>,
    patience: Duration,
}

impl Default for SchemaChecks {
    fn default() -> Self {
        let seats = Arc::new(Semaphore::new(SCHEMA_CHECKS_PER_SERVER));
        Self { seats, owners: Mutex::default(), patience: SCHEMA_CHECK_TIME }
    }
}

impl SchemaChecks {
    /// Does the work on a thread of its own; nothing when it takes too long or all threads stay taken. The thread keeps its
    /// place until it is done, so that there are never more of them.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        owner: &Owner,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let done = async {
            // In line behind one's own first: whoever waits for one's own check keeps nobody else from a seat.
            let own = self.share_of(owner).acquire_owned().await.ok()?;
            let seat = Arc::clone(&self.seats).acquire_owned().await.ok()?;
            let (tell, told) = oneshot::channel();
            let body = move || {
                lower_priority(BACKGROUND_NICENESS);
                // Nobody listens any more when the caller went away.
                let _ = tell.send(work());
                drop((seat, own));
            };
            let thread = std::thread::Builder::new().name("schema-check".to_owned());
            thread.stack_size(SCHEMA_CHECK_STACK_BYTES).spawn(body).ok()?;
            told.await.ok()
        };
        timeout(self.patience, done).await.ok().flatten()
    }

    fn share_of(&self, owner: &Owner) -> Arc<Semaphore> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = owners.get(owner).and_then(Weak::upgrade) {
            return share;
        }
        owners.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(SCHEMA_CHECKS_PER_OWNER));
        owners.insert(owner.clone(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
#[path = "schema_check_tests.rs"]
mod tests;
