//! Tools whose calls become tasks, where the client waits for such. Tasks live as long as the fixture.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use openfang_mcp::capabilities::Capability;
use openfang_mcp::error::McpError;
use openfang_mcp::host::{Call, InputRequest, InputRequired, Outcome, ToolAnswer};
use openfang_mcp::{CallTask, CallTaskState};
use openfang_types::content::ToolOutput;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// How long a job takes that says nothing about it.
const SHORT: Duration = Duration::from_millis(200);
const TTL: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(100);

/// What a job does, each a tool of its own.
#[derive(Clone, Copy)]
pub(super) enum Job {
    /// Works for as many seconds as it is told.
    Computes,
    /// Ends with the error of a tool. It cannot be anything but a task.
    Fails,
    /// Ends with an error of the protocol.
    Breaks,
    /// Asks so many questions at once.
    Asks(usize),
    /// Asks before it becomes a task.
    AsksFirst,
}

/// The tasks of a fixture.
#[derive(Clone, Default)]
pub(super) struct FixtureTasks {
    held: Arc<Mutex<HashMap<String, HeldTask>>>,
    tracker: TaskTracker,
}

struct HeldTask {
    created_at: Timestamp,
    state: watch::Sender<CallTaskState>,
}

impl FixtureTasks {
    /// Begins a job, as a task where that is possible.
    pub(super) async fn begin(&self, call: Call<'_, ()>, job: Job, arguments: &Value) -> Result<ToolAnswer, McpError> {
        let lasts = arguments["seconds"].as_f64().map_or(SHORT, Duration::from_secs_f64);
        let label = arguments["label"].as_str().unwrap_or("job").to_owned();
        let name = call.answer("user_name").map(|answer| answer.get().to_owned());
        match job {
            Job::AsksFirst if name.is_none() => return asks_first(call),
            Job::Fails if !call.may_be_task() => return Err(McpError::MissingTasks),
            _ => {}
        }
        let end = match job {
            Job::Computes => CallTaskState::Completed(Box::new(ToolOutput::text(format!("{label} is computed")))),
            Job::Fails => CallTaskState::Completed(Box::new(ToolOutput::error("the job failed"))),
            Job::Breaks => CallTaskState::Failed(McpError::Internal),
            Job::Asks(_) => CallTaskState::Completed(Box::new(ToolOutput::text("All questions were answered."))),
            Job::AsksFirst => {
                let text = format!("Hello, {}", name.unwrap_or_default());
                CallTaskState::Completed(Box::new(ToolOutput::text(text)))
            }
        };
        if !call.may_be_task() {
            tokio::time::sleep(lasts).await;
            return match end {
                CallTaskState::Completed(output) => Ok(Outcome::Done(*output).into()),
                _ => Err(McpError::Internal),
            };
        }
        let begun = match job {
            Job::Asks(count) => CallTaskState::InputRequired(questions(count)),
            Job::Computes | Job::Fails | Job::Breaks | Job::AsksFirst => CallTaskState::Working,
        };
        let task = HeldTask { created_at: Timestamp::now(), state: watch::Sender::new(begun) };
        let state = task.state.clone();
        let id = {
            let mut held = self.lock();
            let id = format!("task-{}", held.len() + 1);
            held.insert(id.clone(), task);
            id
        };
        self.tracker.spawn(async move {
            let mut asked = state.subscribe();
            // Answers are taken one by one; the last one lets it go on.
            let _ = asked.wait_for(|state| !matches!(state, CallTaskState::InputRequired(_))).await;
            tokio::time::sleep(lasts).await;
            state.send_if_modified(|now| {
                let goes_on = matches!(now, CallTaskState::Working);
                if goes_on {
                    *now = end;
                }
                goes_on
            });
        });
        self.get(&id).map(|task| ToolAnswer::Task(Box::new(task)))
    }

    pub(super) fn get(&self, id: &str) -> Result<CallTask, McpError> {
        let held = self.lock();
        let HeldTask { created_at, state } = held.get(id).ok_or_else(|| McpError::unknown_task(id))?;
        Ok(CallTask {
            id: id.to_owned(),
            created_at: *created_at,
            updated_at: Timestamp::now(),
            ttl: TTL,
            poll: POLL,
            message: None,
            state: state.borrow().clone(),
        })
    }

    /// The task once nobody works on it.
    pub(super) async fn settled(&self, id: &str) -> Result<CallTask, McpError> {
        let mut state = self.lock().get(id).ok_or_else(|| McpError::unknown_task(id))?.state.subscribe();
        let _ = state.wait_for(|state| !matches!(state, CallTaskState::Working)).await;
        self.get(id)
    }

    pub(super) fn answer(&self, id: &str, answers: &BTreeMap<String, Box<RawValue>>) -> Result<(), McpError> {
        let held = self.lock();
        let task = held.get(id).ok_or_else(|| McpError::unknown_task(id))?;
        task.state.send_modify(|state| {
            if let CallTaskState::InputRequired(open) = state {
                open.retain(|key, _| !answers.contains_key(key));
                if open.is_empty() {
                    *state = CallTaskState::Working;
                }
            }
        });
        Ok(())
    }

    pub(super) fn cancel(&self, id: &str) -> Result<CallTask, McpError> {
        if let Some(task) = self.lock().get(id) {
            task.state.send_modify(|state| {
                if !state.is_terminal() {
                    *state = CallTaskState::Canceled;
                }
            });
        }
        self.get(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HeldTask>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn questions(count: usize) -> BTreeMap<String, InputRequest> {
    let schema = json!({ "type": "object", "properties": { "confirm": { "type": "boolean" } } });
    let question = |number| (format!("question-{number}"), InputRequest::elicitation("Is that right?", &schema));
    (1..=count).map(question).collect()
}

fn asks_first(call: Call<'_, ()>) -> Result<ToolAnswer, McpError> {
    call.needs(Capability::ElicitationForm)?;
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let request = InputRequest::elicitation("What is your name?", &schema);
    let requests = BTreeMap::from([("user_name".to_owned(), request)]);
    Ok(Outcome::NeedsInput(InputRequired { requests, state: b"asked".to_vec() }).into())
}
