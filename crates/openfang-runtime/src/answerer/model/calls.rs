//! The calls of one answer: what may run runs, and each call gets a result, whatever becomes of it.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use openfang_model::{Call, CallArguments};
use openfang_types::call::{Arguments, InputRequired, Outcome, Resumed};
use openfang_types::content::ToolOutput;
use openfang_types::ids::{ApprovalId, ToolName};
use openfang_types::limits::ANSWER_CALLS_MAX;
use openfang_types::taint::Labels;
use openfang_types::task::{Part, TaskState};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::conversation::CallState;
use super::halt::Halt;
use super::lanes::{Lane, Lanes};
use super::toolset::{reading_left_out, unwrapped};
use super::work::Work;
use super::{parts, toolset};
use crate::answerer::{AgentRun, Ending, RunEvent, RunStopped, WaitingCall};
use crate::context::CallContext;
use crate::pipeline::digest::hex;
use crate::pipeline::loop_guard::digest_of;
use crate::pipeline::{ToolCall, ToolError};
use crate::tool_search::TOOL_SEARCH;
use crate::transcript::{CallOutcome, InterruptedCall, TranscriptBody};

/// A call that passed the first look.
struct RunnableCall {
    id: String,
    tool: ToolName,
    arguments: Value,
}

/// How a call ended.
enum CallEnd {
    Done {
        outcome: CallOutcome,
        labels: Labels,
        /// The run goes in circles.
        is_looping: bool,
    },
    /// The tool asks something first.
    Asks(InputRequired),
    /// A person must decide first.
    NeedsApproval(ApprovalId),
}

impl CallEnd {
    fn error(text: String, labels: Labels) -> Self {
        let outcome = CallOutcome::Returned { parts: vec![parts::words(text)], is_error: true };
        Self::Done { outcome, labels, is_looping: false }
    }
}

impl Work<'_> {
    /// Runs calls of the newest answer. A call that asks something ends the turn, after the others have run.
    pub(super) async fn run_calls(&mut self, calls: Vec<Call>, decided_with: Labels) -> Result<(), Halt> {
        let cx = decided(self.run, decided_with);
        let reading = self.conversation.has_left_out().then(|| reading_left_out(&cx));
        let run = &AgentRun { cx: &cx, ..*self.run };
        let reader = &AgentRun { cx: reading.as_ref().unwrap_or(&cx), ..*self.run };
        let (runnable, mut lanes) = self.plan(calls).await?;
        self.announce(&runnable).await;
        let mut running = FuturesUnordered::new();
        let mut asking: Option<WaitingCall> = None;
        let mut undecided = Vec::new();
        let mut is_first = true;
        loop {
            let ready = lanes.ready();
            let has_effects = ready.iter().any(|(lane, _)| *lane != Lane::Reads);
            for (_, place) in ready.iter().filter(|(lane, _)| *lane != Lane::Reads) {
                self.record_begin(&runnable[*place]).await?;
            }
            // The answer is stored before its first call runs, and each call before it can have an effect.
            if std::mem::take(&mut is_first) || has_effects {
                run.events.commit().await?;
            }
            for (lane, place) in ready {
                let call = &runnable[place];
                let run = if self.reads_left_out(&call.tool, &call.arguments) { reader } else { run };
                let approval = self.approved.get(&call.id).copied();
                running.push(async move {
                    let cx = CallContext { approval, ..run.cx.clone() };
                    let run = AgentRun { cx: &cx, ..*run };
                    (lane, place, Instant::now(), end_of(&run, call, None).await)
                });
            }
            let Some((lane, place, begun, end)) = running.next().await else { break };
            lanes.end(&lane);
            let end = match end? {
                CallEnd::NeedsApproval(id) => {
                    undecided.push((runnable[place].id.clone(), id));
                    continue;
                }
                end => end,
            };
            let asks = self.take_end(&runnable[place], (begun, end), asking.is_some()).await?;
            asking = asking.or(asks);
        }
        match asking {
            Some(waiting) => {
                self.leave_undecided(undecided).await?;
                self.meter.asked(self.run, self.chain.target(), 1);
                Err(Ending::asking(waiting).into())
            }
            None if undecided.is_empty() => Ok(()),
            None => Err(self.ask_for(undecided).await?.into()),
        }
    }

    /// Goes on with a call that asked something and got its answer.
    pub(super) async fn resume_call(&mut self, waiting: &WaitingCall, answers: Resumed) -> Result<(), Halt> {
        let Some(newest) = self.conversation.newest_calls() else { return Ok(()) };
        let decided_with = newest.decided_with.clone();
        let Some(id) = newest.calls.get(waiting.place.1).map(|state| state.call.id.clone()) else { return Ok(()) };
        let call = RunnableCall { id, tool: waiting.tool.clone(), arguments: waiting.arguments.clone() };
        let begun = Instant::now();
        let cx = decided(self.run, decided_with);
        let run = AgentRun { cx: &cx, ..*self.run };
        let end = match end_of(&run, &call, Some(answers)).await? {
            CallEnd::NeedsApproval(id) => return Err(self.ask_for(vec![(call.id, id)]).await?.into()),
            end => end,
        };
        match self.take_end(&call, (begun, end), false).await? {
            Some(again) => Err(Ending::asking(again).into()),
            None => Ok(()),
        }
    }

    /// Tells the owner about calls of which nobody knows whether they happened. They never run again by themselves.
    pub(super) async fn ask_about(&mut self, unknown: Vec<CallState>) -> Result<Ending, Halt> {
        let names: Vec<&str> = unknown.iter().map(|state| state.call.name.as_str()).collect();
        let text = format!(
            "{} may or may not have happened: the server stopped while it ran. Look whether it did, then reply `continue` to go \
             on, or cancel the task.",
            names.join(" and ")
        );
        for state in &unknown {
            self.conversation
                .record_outcome(&state.call.id, (CallOutcome::Unknown, 0), Labels::none())
                .await?;
        }
        Ok(Ending::saying(TaskState::InputRequired, text))
    }

    /// Gives every call that cannot run its result, and sorts the others into lanes.
    async fn plan(&mut self, calls: Vec<Call>) -> Result<(Vec<RunnableCall>, Lanes), Halt> {
        let (mut runnable, mut lanes) = (Vec::new(), Lanes::default());
        for (number, call) in calls.into_iter().enumerate() {
            let id = call.id.clone();
            match self.first_look(call, number) {
                Ok(call) => {
                    let tool = self.run.pipeline.catalog().get(&call.tool);
                    lanes.add(Lane::of(tool.as_ref().map(|tool| &tool.traits)), runnable.len());
                    runnable.push(call);
                }
                Err(why) => {
                    let outcome = CallOutcome::Returned { parts: vec![parts::words(why)], is_error: true };
                    self.conversation.record_outcome(&id, (outcome, 0), Labels::none()).await?;
                }
            }
        }
        Ok((runnable, lanes))
    }

    fn first_look(&self, call: Call, number: usize) -> Result<RunnableCall, String> {
        let call = unwrapped(call);
        if number >= ANSWER_CALLS_MAX {
            return Err(format!("not run: an answer may make {ANSWER_CALLS_MAX} calls; make this one again"));
        }
        let object = match call.arguments {
            CallArguments::Object(object) => object,
            CallArguments::Invalid { reason, .. } => return Err(format!("not run: {reason}; make the call again")),
        };
        let arguments: Value = serde_json::from_str(object.get()).map_err(|error| format!("not run: {error}"))?;
        let tool: ToolName = call.name.parse().map_err(|_| format!("not run: there is no tool {}", call.name))?;
        let call = RunnableCall { id: call.id, tool, arguments };
        if self.may_have_happened(&call) {
            return Err(format!(
                "not run: an identical call of {} may have happened already, and only the user can say so; ask the user",
                call.tool
            ));
        }
        Ok(call)
    }

    /// Whether an identical call of this task was interrupted.
    fn may_have_happened(&self, call: &RunnableCall) -> bool {
        let task = self.conversation.task();
        let ours = || self.conversation.entries().iter().filter(|entry| entry.task == task);
        let mut interrupted = ours().filter_map(|entry| match &entry.body {
            TranscriptBody::CallDone { call, outcome: CallOutcome::Unknown, .. } => Some(call),
            _ => None,
        });
        let digest = digest_of(&call.tool, &Arguments::from(call.arguments.clone()));
        let covered = self.conversation.compaction().map(|compaction| compaction.interrupted.as_slice());
        let is_same = |known: &InterruptedCall| known.task == task && known.arguments == digest;
        covered.unwrap_or_default().iter().any(is_same)
            || interrupted.any(|id| {
                ours().any(|entry| match &entry.body {
                    TranscriptBody::CallBegun { call, arguments, .. } => call == id && *arguments == digest,
                    _ => false,
                })
            })
    }

    /// Says which calls are made. It is stored with the answer.
    async fn announce(&self, calls: &[RunnableCall]) {
        if calls.is_empty() {
            return;
        }
        let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
        self.run
            .events
            .emit_with_next(RunEvent::Working(vec![Part::beginning_calls(&names)]))
            .await;
    }

    async fn record_begin(&mut self, call: &RunnableCall) -> Result<(), Halt> {
        let tool = self.run.pipeline.catalog().get(&call.tool);
        let definition = tool.map(|tool| serde_json::to_vec(&*tool.definition()).unwrap_or_default());
        let body = TranscriptBody::CallBegun {
            call: call.id.clone(),
            tool: call.tool.to_string(),
            definition: hex(&Sha256::digest(definition.unwrap_or_default())),
            arguments: digest_of(&call.tool, &Arguments::from(call.arguments.clone())),
            approval: self.approved.get(&call.id).map(ToString::to_string),
        };
        self.conversation.record(body, Labels::none()).await
    }

    /// Records how a call ended. A question is given back, unless another call asks already.
    async fn take_end(
        &mut self,
        call: &RunnableCall,
        (begun, end): (Instant, CallEnd),
        is_asking: bool,
    ) -> Result<Option<WaitingCall>, Halt> {
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (outcome, labels) = match end {
            CallEnd::Done { outcome, labels, is_looping } => {
                self.must_answer |= is_looping;
                (outcome, labels)
            }
            CallEnd::Asks(questions) if !is_asking => {
                let newest = self.conversation.newest_calls();
                let place = newest.and_then(|newest| newest.calls.iter().position(|state| state.call.id == call.id));
                let waiting = WaitingCall {
                    tool: call.tool.clone(),
                    arguments: call.arguments.clone(),
                    questions,
                    place: (0, place.unwrap_or_default()),
                };
                return Ok(Some(waiting));
            }
            CallEnd::Asks(_) | CallEnd::NeedsApproval(_) => {
                let why =
                    "not done: the tool asks the user something, and another call asks already; make this call again";
                let outcome = CallOutcome::Returned { parts: vec![parts::words(why.to_owned())], is_error: true };
                (outcome, Labels::none())
            }
        };
        self.tell_call((&call.tool, &call.arguments), &outcome, millis).await;
        self.conversation.record_outcome(&call.id, (outcome, millis), labels).await?;
        Ok(None)
    }
}

/// The context of calls that the model decided on with this before it.
fn decided(run: &AgentRun<'_>, with: Labels) -> CallContext {
    CallContext { decided_with: Some(Arc::new(with)), ..run.cx.clone() }
}

/// Makes a call, and says meanwhile how it goes.
async fn end_of(run: &AgentRun<'_>, call: &RunnableCall, answers: Option<Resumed>) -> Result<CallEnd, RunStopped> {
    if call.tool.as_str() == TOOL_SEARCH {
        let (text, is_error) = match toolset::search(run, &call.arguments).await {
            Ok(text) => (text, false),
            Err(why) => (why, true),
        };
        let outcome = CallOutcome::Returned { parts: vec![parts::words(text)], is_error };
        return Ok(CallEnd::Done { outcome, labels: Labels::none(), is_looping: false });
    }
    let tool_call = ToolCall { name: call.tool.clone(), arguments: call.arguments.clone().into() };
    Ok(match run.reporting(tool_call, answers).await? {
        Ok(Outcome::Done(output)) => of_output(&output),
        Ok(Outcome::NeedsInput(questions)) => CallEnd::Asks(questions),
        Err(ToolError::NeedsApproval(needed)) if run.cx.waiting_task.is_some() => CallEnd::NeedsApproval(needed.id),
        Err(error) => of_error(&error),
    })
}

fn of_output(output: &ToolOutput) -> CallEnd {
    let outcome = CallOutcome::Returned { parts: parts::of_output(output), is_error: output.is_error };
    CallEnd::Done { outcome, labels: output.labels.clone(), is_looping: false }
}

fn of_error(error: &ToolError) -> CallEnd {
    let labels = match error {
        ToolError::Failed { failure, .. } => failure.labels().clone(),
        _ => Labels::none(),
    };
    match CallEnd::error(error.to_string(), labels) {
        CallEnd::Done { outcome, labels, .. } => {
            CallEnd::Done { outcome, labels, is_looping: matches!(error, ToolError::Looping { .. }) }
        }
        asks @ (CallEnd::Asks(_) | CallEnd::NeedsApproval(_)) => asks,
    }
}
