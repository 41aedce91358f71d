//! One turn of an agent, from the message to the state it ends in. Whatever happens, the task says so.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use openfang_runtime::answerer::{AgentRun, Ending, RunStopped, Turn, WaitingCall};
use openfang_runtime::context::{CallContext, Run};
use openfang_store::StoreError;
use openfang_types::ids::{RunId, TaskId, ToolName};
use openfang_types::limits::TASK_UNSEEN;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Part, Role, Task, TaskState, TaskStatus};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::access::Caller;
use crate::settings::agents::Agent;
use crate::tasks::log::{Closed, TaskLog, TurnSoFar};
use crate::tasks::push_hints::PushExpectation;
use crate::tasks::remote::RemoteSide;
use crate::tasks::sign_ins::WaitingSignIn;
use crate::tasks::telling::Telling;
use crate::tasks::{Inner, Tasks, chosen_model};

/// The runs of this process, by task.
#[derive(Default)]
pub(crate) struct LiveRuns {
    runs: Mutex<HashMap<TaskId, LiveRun>>,
    /// Tasks whose agent ended its turn and left them as working: the next message goes on with them.
    left: Mutex<HashSet<TaskId>>,
    /// Tasks whose remote agent is being told that they were canceled.
    telling: Mutex<HashSet<TaskId>>,
    /// Tool calls that asked their task's owner for something, by task: the next message answers.
    waiting: Mutex<HashMap<TaskId, Box<WaitingCall>>>,
}

/// A run that is under way.
#[derive(Clone)]
pub(crate) struct LiveRun {
    id: RunId,
    pub(crate) cancel: CancellationToken,
    /// Fires when the run has written its last word.
    pub(crate) done: CancellationToken,
    /// The log of the task, if the run hears messages that arrive meanwhile.
    pub(crate) hearing: Option<Arc<TaskLog>>,
}

impl LiveRuns {
    pub(crate) fn get(&self, id: TaskId) -> Option<LiveRun> {
        self.lock().get(&id).cloned()
    }

    /// Forgets this run, unless the next turn of the same task has taken its place.
    fn forget(&self, id: TaskId, run: RunId) {
        let mut runs = self.lock();
        if runs.get(&id).is_some_and(|live| live.id == run) {
            runs.remove(&id);
        }
    }

    /// Whether the agent left this task as working.
    pub(crate) fn is_left(&self, id: TaskId) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// Goes on with a task that was left, or gives it up; says whether it was.
    pub(crate) fn take_left(&self, id: TaskId) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// Forgets the call that waits for an answer to a task that has ended.
    pub(crate) fn drop_waiting(&self, id: TaskId) {
        self.take_waiting(id);
    }

    fn take_waiting(&self, id: TaskId) -> Option<Box<WaitingCall>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    fn keep_waiting(&self, id: TaskId, call: Box<WaitingCall>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, call);
    }

    /// The agent left this task as working: the next message goes on with it.
    pub(crate) fn leave(&self, id: TaskId) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// Whether nobody tells the remote agent of this task yet. From now on somebody does.
    pub(crate) fn begin_telling(&self, id: TaskId) -> bool {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    pub(crate) fn end_telling(&self, id: TaskId) {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, LiveRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a run is to do.
pub(crate) struct Plan {
    pub(crate) caller: Caller,
    pub(crate) agent: Arc<Agent>,
    pub(crate) log: Arc<TaskLog>,
    pub(crate) message: Message,
    pub(crate) told: usize,
    /// Whether a process that died began the turn.
    pub(crate) is_resumed: bool,
    /// The tool whose call began the run, with a permit.
    pub(crate) granted: Option<ToolName>,
    pub(crate) cancel: CancellationToken,
}

/// The task after its turn, and what entered it.
pub(crate) struct Settled {
    pub(crate) task: Task,
    pub(crate) labels: Labels,
}

/// How the work ended, before it is written down.
enum End {
    Ended(Ending),
    Stopped,
    Canceled,
    Interrupted,
    Revoked,
}

impl End {
    /// A cancel may arrive while the work is looking at it: a tool that stops for it is an error in the eyes of the agent,
    /// and yet what happened is that the task was canceled. Work that was done all the same counts.
    fn unless_canceled(self, cancel: &CancellationToken) -> Self {
        match self {
            Self::Ended(Ending { state: TaskState::Failed, .. }) if cancel.is_cancelled() => Self::Canceled,
            end => end,
        }
    }
}

/// A run that has begun and waits for somebody to work on it.
///
/// ```text
/// begun ── detach ──────────────────────────────> a task of its own
///   └───── wait ──> polled once ─┬─ ended ──────> its end
///                                ├─ handed over ─> waits for the commit here, which happens without it too
///                                └─ goes on ────> a task of its own, whose end is waited for
/// ```
///
/// So a quick call costs no task, and whatever is under way goes on when its caller goes away.
#[must_use = "nobody works on it before it is detached or waited for"]
pub(crate) enum Running {
    /// Nobody works on it yet.
    Begun(BegunRun),
    /// It has a task of its own.
    Apart(JoinHandle<Result<Settled, Closed>>),
}

/// A run that nobody works on yet.
pub(crate) struct BegunRun {
    work: BoxFuture<'static, Result<Settled, Closed>>,
    log: Arc<TaskLog>,
    /// Lets a drain wait for a run that has no task of its own.
    tracked: TaskTrackerToken,
}

impl Running {
    /// Gives the run a task of its own. Its end can be waited for.
    pub(crate) fn detach(self) -> JoinHandle<Result<Settled, Closed>> {
        match self {
            Self::Begun(run) => run.tracked.task_tracker().spawn(run.work),
            Self::Apart(task) => task,
        }
    }

    /// Waits for the end of the run, which has a task of its own from the beginning: for those who may stand still
    /// themselves, or are part of a run.
    pub(crate) async fn wait_apart(self) -> Result<Settled, Closed> {
        end_of(self.detach()).await
    }

    /// Works on the run in the task that waits, for those who have one that nobody drops.
    pub(crate) async fn wait_here(self) -> Result<Settled, Closed> {
        match self {
            Self::Begun(run) => run.work.await,
            Self::Apart(task) => end_of(task).await,
        }
    }

    /// Waits for the end of the run.
    pub(crate) async fn wait(self) -> Result<Settled, Closed> {
        let mut run = match self {
            Self::Begun(run) => run,
            Self::Apart(task) => return end_of(task).await,
        };
        if let Poll::Ready(settled) = futures_util::poll!(&mut run.work) {
            return settled;
        }
        if run.log.is_handed_over() {
            return run.work.await;
        }
        Self::Begun(run).wait_apart().await
    }
}

async fn end_of(task: JoinHandle<Result<Settled, Closed>>) -> Result<Settled, Closed> {
    task.await.unwrap_or(Err(Closed::Refused(StoreError::Conflict)))
}

/// The entry of a run among the live ones. However the run ends, it is removed and whoever waits for that is told.
struct Registered {
    inner: Arc<Inner>,
    task: TaskId,
    run: LiveRun,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.inner.live.forget(self.task, self.run.id);
        self.run.done.cancel();
    }
}

impl Tasks {
    /// Begins a run. It goes on when its caller goes away; whoever waits is told how the turn ended.
    pub(crate) fn begin_run(&self, id: TaskId, plan: Plan) -> Running {
        let run_id = RunId::from_uuid(self.inner.ids.ordered());
        let hearing = plan.agent.answerer.hears_messages().then(|| Arc::clone(&plan.log));
        let live = LiveRun { id: run_id, cancel: plan.cancel.clone(), done: CancellationToken::new(), hearing };
        self.inner.live.lock().insert(id, live.clone());
        let registered = Registered { inner: Arc::clone(&self.inner), task: id, run: live };
        let log = Arc::clone(&plan.log);
        let work = async move {
            let inner = &registered.inner;
            let log = Arc::clone(&plan.log);
            let settled = run(inner, run_id, plan).await;
            if settled.as_ref().is_ok_and(|settled| settled.task.status.state == TaskState::Working) {
                inner.live.leave(id);
            }
            if matches!(settled, Err(Closed::Refused(StoreError::Unavailable { .. }))) {
                let stop = inner.life.stop().clone();
                let later = async move { stop.run_until_cancelled(log.write_when_possible()).await };
                inner.life.tracker().spawn(later);
            }
            settled
        };
        Running::Begun(BegunRun { work: Box::pin(work), log, tracked: self.inner.life.tracker().token() })
    }
}

const OVERTAKEN: &str = "stopped: another process went on with this conversation meanwhile; send the message again";

async fn run(inner: &Arc<Inner>, id: RunId, plan: Plan) -> Result<Settled, Closed> {
    let Plan { caller, agent, log, message, told, is_resumed, granted, cancel } = plan;
    let TurnSoFar { number, history, labels } = log.turn().await;
    let waiting = inner.live.take_waiting(log.id());
    let run = Arc::new(Run::new(id, labels, inner.settings().config(), Arc::clone(&log) as _));
    if caller.is_person() {
        message.parts.iter().filter_map(Part::as_text).for_each(|text| run.hears_user(text));
    }
    let waiting_task = (agent.answerer.waits_for_approvals() && caller.is_person()).then(|| log.id());
    let cx =
        CallContext { granted, waiting_task, ..inner.run_context(&caller, &agent, Arc::clone(&run), cancel.clone()) };
    let RemoteSide { record, context } = inner.remote_side(&caller, &agent, &log, &message).await;
    let push = inner.expect_pushes(&agent, log.id());
    let turn = Turn {
        task: log.id(),
        history: &history,
        message: &message,
        number,
        told,
        is_resumed,
        waiting: waiting.as_deref(),
        remote: record.as_ref(),
        remote_context: context.as_ref(),
        push: push.as_ref().map(PushExpectation::hint),
    };
    let narrowing = caller.principal.begun_as();
    let telling = Telling { log: &log, run: &run, narrowing: &narrowing };
    let manifest = chosen_model::manifest_of(&agent.manifest, &history, &message);
    let agent_run = AgentRun { cx: &cx, agent: &manifest, pipeline: &inner.pipeline, events: &telling };

    // The work is dropped before its end is written: it may have been stopped while it held the log.
    let end = {
        let work = pin!(work(&agent, &log, &agent_run, &turn));
        tokio::select! {
            biased;
            () = inner.access.credentials().accounts().work_must_end(&caller.principal) => End::Revoked,
            end = until_ended(inner, &cancel, &log, work) => end,
        }
    };
    let is_stopped = matches!(end, End::Canceled | End::Revoked) && agent.answerer.is_remote();
    let stopped = if is_stopped { log.cancel_remote().await } else { None };
    let mut ending = match end {
        End::Ended(ending) => ending,
        End::Stopped if log.was_overtaken().await => Ending::saying(TaskState::Failed, OVERTAKEN),
        End::Stopped => {
            log.show().await?;
            return Err(Closed::Refused(StoreError::Conflict));
        }
        // Whoever works elsewhere goes on; the next process follows.
        End::Interrupted if agent.answerer.is_remote() && log.show().await.is_ok() => {
            let (task, labels) = log.settled().await;
            return Ok(Settled { task, labels });
        }
        End::Canceled => Ending::of_parts(TaskState::Canceled, Vec::new()),
        End::Revoked => Ending::saying(
            TaskState::Failed,
            "stopped: the key that this was begun with was revoked, or something that was granted then is not any more",
        ),
        End::Interrupted => Ending::saying(TaskState::Failed, "interrupted: the server was stopped"),
    };
    tracing::debug!(task = %log.id(), agent = %agent.manifest.name, state = %ending.state, "the run ended");
    // Kept before anybody is told of the question, or an answer could come too early.
    if let Some(call) = ending.waiting.take() {
        inner.live.keep_waiting(log.id(), call);
    }
    log.end(ending, &run.labels()).await?;
    if let Some(remote) = stopped {
        inner.tell_of_cancel(&agent, log.id(), remote);
    }
    let remote = log.remote().await;
    let (task, labels) = log.settled().await;
    if let (TaskState::AuthRequired, Some(remote)) = (task.status.state, remote) {
        let waiting = WaitingSignIn { caller, agent, task: task.id, remote, push };
        Tasks { inner: Arc::clone(inner) }.follow_sign_in(waiting);
    }
    Ok(Settled { task, labels })
}

/// The work, until it ends or is ended. When it has gone on for a while its task is shown, and what it says is committed
/// as it comes; both are polled together, because the work may hold what that needs.
async fn until_ended(
    inner: &Inner,
    cancel: &CancellationToken,
    log: &TaskLog,
    work: Pin<&mut impl Future<Output = End>>,
) -> End {
    let keeping = async {
        tokio::select! {
            () = tokio::time::sleep(TASK_UNSEEN) => {}
            () = log.seen() => {}
        }
        match log.show().await {
            Ok(_) => log.keep_text().await,
            Err(closed) => closed,
        }
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => End::Canceled,
        () = inner.life.stop().cancelled() => End::Interrupted,
        end = work => end.unless_canceled(cancel),
        _closed = keeping => End::Stopped,
    }
}

async fn work(agent: &Agent, log: &TaskLog, agent_run: &AgentRun<'_>, turn: &Turn<'_>) -> End {
    if log.working().await.is_err() {
        return End::Stopped;
    }
    let limit = agent.answerer.limit().unwrap_or_else(|| agent_run.cx.config.limits.run_timeout());
    let answer = AssertUnwindSafe(agent.answerer.run(agent_run, turn)).catch_unwind();
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

impl Inner {
    /// A status of now, with what the agent says about it.
    pub(crate) fn status(&self, task: &Task, state: TaskState, parts: Vec<Part>) -> TaskStatus {
        let message = (!parts.is_empty()).then(|| Message {
            context_id: Some(task.context_id.clone()),
            task_id: Some(task.id),
            ..Message::of_parts(self.message_id(), Role::Agent, parts)
        });
        TaskStatus { state, message, timestamp: self.clock.now() }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
