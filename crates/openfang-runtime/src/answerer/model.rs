//! A model answers: it is asked, its calls run, it is asked again with their results, until it answers without calls.
//!
//! ```text
//!          ┌──────────────── results, messages that arrived, a nudge ───────────────┐
//!          v                                                                        │
//! view of the transcript ──> commit ──> ask ──> answer ──┬─ calls ──> run them ─────┘
//!                                        │               ├─ text ───> completed
//!                             retry, fallback            └─ neither, cut, refused, over a limit ──> says so
//! ```
//!
//! A view that takes too much of the model's window is compacted first (`window.rs`, `compaction.rs`).
//!
//! Everything that happens becomes an entry of the transcript, in the commit of the task's events: one before each
//! request, one before each effect. So a run that died is continued from its transcript alone (`recovery.rs`), and a task
//! that asks for something waits in the store, not in memory. Only a whole answer can start calls.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use openfang_types::agent::AgentManifest;
use openfang_types::task::{Message, Part, TaskState};

use super::{AgentRun, Answerer, Ending, Recovery, RunStopped, Turn};
use crate::catalog::Catalog;
use crate::models::{ModelAgent, ModelSource};
use chain::RestingModels;
use halt::Halt;
use work::Work;

mod activity;
mod allowance;
mod approvals;
mod ask;
mod budget;
mod calls;
mod chain;
mod command;
mod compaction;
mod conversation;
mod counting;
mod deltas;
mod ends;
mod halt;
mod lanes;
mod meter;
mod parts;
mod recovery;
mod skills;
mod structured;
mod toolset;
mod window;
mod work;

/// Answers for an agent by asking a model.
pub struct ModelAnswerer {
    agent: ModelAgent,
    models: Arc<dyn ModelSource>,
    /// How long one turn may take.
    limit: Duration,
    resting: RestingModels,
}

impl ModelAnswerer {
    /// An answerer for an agent with this manifest.
    pub fn new(agent: ModelAgent, models: Arc<dyn ModelSource>, manifest: &AgentManifest) -> Self {
        let limit = Duration::from_secs(manifest.resources.max_secs);
        Self { agent, models, limit, resting: RestingModels::default() }
    }

    async fn answer(&self, run: &AgentRun<'_>, turn: &Turn<'_>) -> Result<Ending, Halt> {
        let chain = self.models.chain(run.agent).await.map_err(|error| Halt::failed(error.to_string()))?;
        let mut work = Work::begin(self, run, turn, chain).await?;
        let ended = work.finish_turn(turn).await;
        work.tell_usage().await;
        work.meter.flush(run);
        ended
    }
}

impl Answerer for ModelAnswerer {
    fn plain_reply(&self, _: &Message) -> Option<Vec<Part>> {
        None
    }

    /// The transcript says how far the turn has come.
    fn recovery(&self, _: &Turn<'_>, _: &AgentManifest, _: &Catalog) -> Recovery {
        Recovery::Resume
    }

    fn limit(&self) -> Option<Duration> {
        Some(self.limit)
    }

    fn hears_messages(&self) -> bool {
        true
    }

    fn waits_for_approvals(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, run: &'a AgentRun<'a>, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>> {
        Box::pin(async move {
            match self.answer(run, turn).await {
                Ok(ending) => Ok(ending),
                Err(Halt::Ended(ending)) => Ok(*ending),
                Err(Halt::Stopped) => Err(RunStopped),
            }
        })
    }
}

/// An ending that a person can answer and a program should see as a failure: something is used up.
fn exhausted(run: &AgentRun<'_>, code: &str, why: String) -> Ending {
    let by_agent = run.cx.context_labels().contains(openfang_types::taint::Label::UntrustedAgent);
    if by_agent {
        let code = Part::data(serde_json::json!({ "code": code }));
        return Ending::of_parts(TaskState::Failed, vec![Part::text(why), code]);
    }
    Ending::saying(TaskState::InputRequired, why)
}
