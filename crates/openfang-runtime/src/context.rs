//! What a call carries with it: who, through which door, in which run, until when, and with which labels.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openfang_mcp::Era;
use openfang_store::StoreFuture;
use openfang_types::agent::AgentManifest;
use openfang_types::call::{CallListener, ClientCapabilities, Resumed};
use openfang_types::config::Config;
use openfang_types::ids::{ApprovalId, RunId, SkillName, TaskId, ToolName, TraceId};
use openfang_types::limits::USER_WORDS_BYTES;
use openfang_types::principal::{Door, Principal};
use openfang_types::taint::Labels;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::agents::Agents;
use crate::pipeline::loop_guard::LoopGuard;

/// The surroundings of one call. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    pub principal: Arc<Principal>,
    /// Through which door the request came.
    pub door: Door,
    /// Through which agent, if any.
    pub agent: Option<Arc<AgentManifest>>,
    /// In which run, if any. A direct call has none, and so no loop guard.
    pub run: Option<Arc<Run>>,
    /// The request this belongs to.
    pub trace: TraceId,
    /// How many agents called agents to get here.
    pub hops: u8,
    /// When the caller stops waiting, if it said so.
    pub deadline: Option<Instant>,
    /// Fires when the work is to stop.
    pub cancel: CancellationToken,
    /// What the request brought with it.
    pub labels: Labels,
    /// The configuration the request began with.
    pub config: Arc<Config>,
    /// The agents that a tool may ask.
    pub agents: Arc<dyn Agents>,
    /// The way back to whoever called.
    pub back: WayBack,
    /// A tool that a permit was given for when the run began: what the run does is that call.
    pub granted: Option<ToolName>,
    /// What was in the context when the call was decided on; none: what is in it now.
    pub decided_with: Option<Arc<Labels>>,
    /// The approval that was given for this one call.
    pub approval: Option<ApprovalId>,
    /// The task of a person that waits when somebody must decide on a call. None: whoever called makes the call again.
    pub waiting_task: Option<TaskId>,
}

/// The way back to whoever called: who hears how the call goes, and what can be asked.
#[derive(Clone, Default)]
pub struct WayBack {
    /// Hears progress and log lines.
    pub listener: Option<Arc<dyn CallListener>>,
    /// What the caller can be asked for.
    pub client: ClientCapabilities,
    /// The era that the caller speaks, where the caller is a client of MCP.
    pub era: Option<Era>,
    /// What the caller answered to questions of this very call.
    pub resumed: Option<Arc<Resumed>>,
    /// How long the caller waits for an agent; none: until the agent is done.
    pub patience: Option<Patience>,
    /// Members of `_meta` that are passed on to a server as they are.
    pub meta: Option<Arc<RawValue>>,
    /// How calls that become tasks of their server are followed.
    pub tasks: ServerTasks,
}

/// What is done with a call that becomes a task of its server.
#[derive(Clone)]
pub enum ServerTasks {
    /// It is followed to its end; whoever waits for that is told at once that it became one.
    Followed(Option<Arc<Notify>>),
    /// The server is not told that it may do so.
    Refused,
}

impl Default for ServerTasks {
    fn default() -> Self {
        Self::Followed(None)
    }
}

/// How long a caller waits for an agent. Then the caller is given the task, and the agent goes on.
#[derive(Clone)]
pub struct Patience {
    pub hold: Duration,
    /// Fires when the caller waits no more, before that.
    pub left: CancellationToken,
    /// Whether the same call, made again, is meant to join this one. Who is told of the task need not call again.
    pub may_join: bool,
}

impl CallContext {
    /// Everything that has entered: the request's labels and those of the run.
    pub fn context_labels(&self) -> Labels {
        match &self.run {
            Some(run) => run.labels().joined(&self.labels),
            None => self.labels.clone(),
        }
    }
}

/// One run of an agent: what has entered it, and whether it goes in circles.
pub struct Run {
    pub id: RunId,
    labels: Mutex<Labels>,
    guard: Mutex<LoopGuard>,
    /// What the user said, as far as it is known.
    user_words: Mutex<Arc<Vec<String>>>,
    /// The skills that it has activated.
    skills: Mutex<BTreeMap<SkillName, ActiveSkill>>,
    task: Arc<dyn DurablePoint>,
}

/// A skill that a run has activated.
struct ActiveSkill {
    /// The tools that it expects.
    expects: Vec<ToolName>,
    /// Whether its instructions are in what the model reads.
    is_shown: bool,
}

/// What must be on disk before a run has its first effect.
pub trait DurablePoint: Send + Sync {
    /// Returns when it is; an error means that the effect must not happen.
    fn reach(&self) -> StoreFuture<'_, ()>;
}

impl Run {
    /// A run that begins with what its message brought.
    pub fn new(id: RunId, labels: Labels, config: &Config, task: Arc<dyn DurablePoint>) -> Self {
        let guard = Mutex::new(LoopGuard::new(config.loop_guard.clone()));
        Self { id, labels: Mutex::new(labels), guard, user_words: Mutex::default(), skills: Mutex::default(), task }
    }

    /// Makes sure that the run's task is on disk.
    pub(crate) fn reach_durable_point(&self) -> StoreFuture<'_, ()> {
        self.task.reach()
    }

    /// The join of all that entered.
    pub fn labels(&self) -> Labels {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn enters(&self, labels: &Labels) {
        self.labels.lock().unwrap_or_else(PoisonError::into_inner).join(labels);
    }

    /// The user said this in the conversation. Only call it for text of a person: whatever is in there can be done
    /// without a question.
    pub fn hears_user(&self, text: &str) {
        let mut words = self.user_words.lock().unwrap_or_else(PoisonError::into_inner);
        let known: usize = words.iter().map(String::len).sum();
        if known + text.len() <= USER_WORDS_BYTES {
            Arc::make_mut(&mut words).push(text.to_owned());
        }
    }

    /// What the user said in the conversation.
    pub(crate) fn user_words(&self) -> Arc<Vec<String>> {
        Arc::clone(&self.user_words.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Activates a skill that expects these tools. False if the model has its instructions already.
    pub(crate) fn activates(&self, skill: &SkillName, expects: &[ToolName]) -> bool {
        let mut skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        let active = ActiveSkill { expects: expects.to_vec(), is_shown: true };
        skills.insert(skill.clone(), active).is_none_or(|before| !before.is_shown)
    }

    /// The model no longer has what it has read: a summary stands for it.
    pub(crate) fn forgets_instructions(&self) {
        let mut skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        skills.values_mut().for_each(|skill| skill.is_shown = false);
    }

    /// Whether an active skill expects calls of this tool.
    pub(crate) fn expects(&self, tool: &ToolName) -> bool {
        let skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        skills.values().any(|skill| skill.expects.contains(tool))
    }

    /// Looks at the run's calls.
    pub(crate) fn guard<T>(&self, look: impl FnOnce(&mut LoopGuard) -> T) -> T {
        look(&mut self.guard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
