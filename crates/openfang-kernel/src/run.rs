//! One turn of an agent, from the message to the state it ends in. Whatever happens, the task says so.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use openfang_runtime::context::{CallContext, Run};
use openfang_runtime::model::{Ending, EventSink, ModelRun, RunEvent, RunStopped, Turn};
use openfang_store::{Append, StoreError, TaskRecord};
use openfang_types::event::EventBody;
use openfang_types::ids::{RunId, TaskId};
use openfang_types::task::{Message, Part, Role, TaskState, TaskStatus};
use tokio_util::sync::CancellationToken;

use crate::access::Caller;
use crate::agents::Agent;
use crate::kernel::{Inner, Kernel};

/// The runs of this process, by task.
#[derive(Default)]
pub(crate) struct LiveRuns {
    runs: Mutex<HashMap<TaskId, LiveRun>>,
}

/// A run that is under way.
#[derive(Clone)]
pub(crate) struct LiveRun {
    /// Stops the work.
    pub(crate) cancel: CancellationToken,
    /// Fires when the run has written its last word.
    pub(crate) done: CancellationToken,
}

impl LiveRuns {
    pub(crate) fn get(&self, id: TaskId) -> Option<LiveRun> {
        self.lock().get(&id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, LiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a run is to do.
pub(crate) struct Plan {
    pub(crate) caller: Caller,
    pub(crate) agent: Arc<Agent>,
    pub(crate) record: TaskRecord,
    pub(crate) message: Message,
    pub(crate) hops: u8,
    pub(crate) cancel: CancellationToken,
}

/// How the work ended, before it is written down.
enum End {
    Ended(Ending),
    Stopped,
    Canceled,
    Interrupted,
}

impl Kernel {
    /// Starts a run. It goes on when its caller goes away.
    pub(crate) fn spawn_run(&self, plan: Plan) {
        let id = plan.record.task.id;
        let live = LiveRun { cancel: plan.cancel.clone(), done: CancellationToken::new() };
        self.inner.live.lock().insert(id, live.clone());
        let inner = Arc::clone(&self.inner);
        self.inner.tracker.spawn(async move {
            run(&inner, plan).await;
            inner.live.lock().remove(&id);
            live.done.cancel();
        });
    }
}

#[tracing::instrument(skip_all, fields(task = %plan.record.task.id, agent = %plan.agent.manifest.name, trace = %plan.caller.trace))]
async fn run(inner: &Inner, plan: Plan) {
    let Plan { caller, agent, record, message, hops, cancel } = plan;
    let context = Arc::new(Run::new(RunId::from_uuid(inner.ids.ordered()), record.labels.clone(), &inner.config));
    let cx = CallContext {
        hops,
        cancel: cancel.clone(),
        ..inner.agent_context(&caller, &agent, Some(Arc::clone(&context)))
    };
    let writer = Writer { inner, run: &context, record: &record, version: AtomicU64::new(record.version) };
    let number = record.task.history.iter().filter(|said| said.role == Role::User).count();
    let turn = Turn { task: record.task.clone(), message, number };
    let model_run = ModelRun { cx: &cx, agent: &agent.manifest, pipeline: &inner.pipeline, events: &writer };

    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => End::Canceled,
        () = inner.stop.cancelled() => End::Interrupted,
        end = work(inner, &agent, &model_run, &turn) => end,
    };
    let ending = match end {
        End::Ended(ending) => ending,
        End::Stopped => return,
        End::Canceled => Ending { state: TaskState::Canceled, parts: Vec::new() },
        End::Interrupted => Ending::saying(TaskState::Failed, "interrupted: the server was stopped"),
    };
    tracing::info!(state = %ending.state, "the run ended");
    writer.end(ending).await;
}

async fn work(inner: &Inner, agent: &Agent, model_run: &ModelRun<'_>, turn: &Turn) -> End {
    if model_run.events.emit(RunEvent::Working(Vec::new())).await.is_err() {
        return End::Stopped;
    }
    let limit = inner.config.limits.run_timeout();
    let answer = AssertUnwindSafe(agent.model.run(model_run, turn)).catch_unwind();
    match tokio::time::timeout(limit, answer).await {
        Ok(Ok(Ok(ending))) => End::Ended(ending),
        Ok(Ok(Err(RunStopped))) => End::Stopped,
        Ok(Err(_panic)) => End::Ended(Ending::saying(TaskState::Failed, "the agent broke; the log says more")),
        Err(_) => {
            let text = format!("the agent did not finish within {} s", limit.as_secs());
            End::Ended(Ending::saying(TaskState::Failed, text))
        }
    }
}

/// Writes what a run tells. Each write names the version the last one made, so that nothing is written after the end.
struct Writer<'a> {
    inner: &'a Inner,
    run: &'a Run,
    record: &'a TaskRecord,
    version: AtomicU64,
}

impl Writer<'_> {
    async fn append(&self, body: EventBody) -> Result<(), StoreError> {
        let write = Append {
            owner: self.record.owner.clone(),
            id: self.record.task.id,
            version: self.version.load(Ordering::Acquire),
            events: vec![body],
            labels: self.run.labels(),
            at: self.inner.clock.now(),
        };
        let written = self.inner.stores.tasks.append(write).await?;
        self.version.store(written.version, Ordering::Release);
        Ok(())
    }

    async fn end(&self, ending: Ending) {
        match self.append(self.status(ending.state, ending.parts)).await {
            // Whoever canceled has written the end already.
            Ok(()) | Err(StoreError::Conflict | StoreError::NotAllowed { .. }) => {}
            Err(error) => tracing::error!(%error, task = %self.record.task.id, "the end of a task was not written"),
        }
    }

    fn status(&self, state: TaskState, parts: Vec<Part>) -> EventBody {
        EventBody::Status(self.inner.status(&self.record.task, state, parts))
    }
}

impl EventSink for Writer<'_> {
    fn emit(&self, event: RunEvent) -> BoxFuture<'_, Result<(), RunStopped>> {
        let body = match event {
            RunEvent::Working(parts) => self.status(TaskState::Working, parts),
            RunEvent::Artifact(update) => EventBody::Artifact(update),
        };
        Box::pin(async move { self.append(body).await.map_err(|_| RunStopped) })
    }
}

impl Inner {
    /// A status of now, with what the agent says about it.
    pub(crate) fn status(&self, task: &openfang_types::task::Task, state: TaskState, parts: Vec<Part>) -> TaskStatus {
        let message = (!parts.is_empty()).then(|| Message {
            message_id: self.message_id(),
            role: Role::Agent,
            parts,
            context_id: Some(task.context_id.clone()),
            task_id: Some(task.id),
            metadata: serde_json::Map::new(),
        });
        TaskStatus { state, message, timestamp: self.clock.now() }
    }
}
