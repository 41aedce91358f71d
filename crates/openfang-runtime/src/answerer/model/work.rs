//! A turn that is being worked on, step by step.

use std::collections::HashMap;
use std::sync::Arc;

use openfang_model::{ModelAnswer, Stop};
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::{ApprovalId, ArtifactId};
use openfang_types::limits::{CUT_ANSWERS_MAX, EMPTY_ANSWERS_MAX};
use openfang_types::taint::Labels;
use openfang_types::task::{Artifact, Part, TaskState};

use super::allowance::Allowance;
use super::ask::{ModelReply, Purpose};
use super::budget::Budget;
use super::chain::Chain;
use super::command;
use super::compaction::{CompactionCause, CompactionEnd};
use super::conversation::Conversation;
use super::deltas::Teller;
use super::halt::Halt;
use super::meter::Meter;
use super::structured::Repairs;
use super::toolset::Toolset;
use super::window::Window;
use super::{ModelAnswerer, ends, parts, recovery, skills};
use crate::answerer::{AgentRun, Ending, RunEvent, Turn, questions};
use crate::models::ModelTarget;
use crate::transcript::{TranscriptBody, TranscriptView, calls_in, with_unique_ids};

/// A turn that is being worked on.
pub(super) struct Work<'a> {
    pub(super) answerer: &'a ModelAnswerer,
    pub(super) run: &'a AgentRun<'a>,
    pub(super) conversation: Conversation<'a>,
    pub(super) chain: Chain<'a>,
    pub(super) tools: Toolset,
    /// The instructions of the agent, and those of its workspace.
    pub(super) instructions: Arc<str>,
    pub(super) budget: Budget,
    pub(super) meter: Meter,
    /// Whether earlier answers are sent in the provider's own form.
    pub(super) replays_native: bool,
    /// The run goes in circles: the model answers with what it has.
    pub(super) must_answer: bool,
    pub(super) repairs: Repairs,
    /// The number of the message that the next answer is for: text is told as its reply.
    pub(super) reply: u32,
    /// Whether that message was answered, and another one has arrived since.
    is_answered: bool,
    /// The approvals that were given for calls, by the id of the call.
    pub(super) approved: HashMap<String, ApprovalId>,
    /// Whether the turn goes on after a decision on its calls: its first answer was given before.
    pub(super) goes_on: bool,
    /// What entered with the messages of the task.
    entered: Labels,
    cut_in_a_row: u32,
    empty: u32,
    pub(super) window: Window,
    /// The provider found the last request too long.
    is_refused_as_too_long: bool,
}

impl<'a> Work<'a> {
    /// Opens the conversation of a turn.
    pub(super) async fn begin(
        answerer: &'a ModelAnswerer,
        run: &'a AgentRun<'a>,
        turn: &Turn<'_>,
        targets: Vec<Arc<ModelTarget>>,
    ) -> Result<Self, Halt> {
        let chain = Chain::new(targets, &answerer.resting).ok_or_else(|| Halt::failed("the agent has no model"))?;
        let entered = run.cx.context_labels();
        let conversation = Conversation::open(run, turn).await?;
        let reply = conversation.turn;
        let allowed = Allowance::given(run, turn.message);
        let budget = Budget::of(&run.agent.resources, &conversation).with(allowed);
        let window = chain.target().facts.map(|facts| facts.window);
        let tools = Toolset::new(run, window, conversation.has_left_out());
        let instructions = skills::instructions(answerer, run).await;
        Ok(Self {
            answerer,
            run,
            conversation,
            chain,
            tools,
            instructions,
            budget,
            meter: Meter::new(&*answerer.models, &run.agent.resources),
            replays_native: true,
            must_answer: false,
            repairs: Repairs::default(),
            reply,
            is_answered: false,
            approved: HashMap::new(),
            goes_on: false,
            entered,
            cut_in_a_row: 0,
            empty: 0,
            window: Window::default(),
            is_refused_as_too_long: false,
        })
    }

    /// Takes up the turn, and makes step after step until one ends it.
    pub(super) async fn finish_turn(&mut self, turn: &Turn<'_>) -> Result<Ending, Halt> {
        self.take_up(turn).await?;
        loop {
            if let Some(ending) = self.step().await? {
                return Ok(ending);
            }
        }
    }

    /// Adds what the turn brings, and goes on with calls that wait for an answer or were left by a process that died.
    async fn take_up(&mut self, turn: &Turn<'_>) -> Result<(), Halt> {
        let entered = std::mem::take(&mut self.entered);
        self.conversation.add_messages(self.run, turn, &entered).await?;
        if turn.waiting.is_none() && command::is_compact(turn.message, &entered) {
            return Err(self.compact_by_hand().await?.into());
        }
        self.activate_named_skill(turn).await?;
        self.run.events.inbox().open();
        let asked = self.conversation.asked_calls();
        if !asked.is_empty() {
            return self.resume_asked(asked, turn).await;
        }
        if turn.waiting.is_some()
            && let Some(resumed) = questions::resumed(turn)
        {
            let (call, answers) = resumed?;
            return self.resume_call(call, answers).await;
        }
        if turn.is_resumed { self.recover().await } else { Ok(()) }
    }

    /// Goes on with the calls that a process left behind.
    async fn recover(&mut self) -> Result<(), Halt> {
        let Some(newest) = self.conversation.newest_calls().filter(|newest| newest.may_run) else { return Ok(()) };
        let decided_with = newest.decided_with.clone();
        recovery::tools_of(&newest.calls, self.run.pipeline.catalog()).await;
        let open = recovery::open_calls(newest.calls, self.run.pipeline.catalog());
        if !open.unknown.is_empty() {
            return Err(self.ask_about(open.unknown).await?.into());
        }
        let calls = open.to_run.into_iter().map(|state| state.call).collect();
        self.run_calls(calls, decided_with).await
    }

    /// One request and what follows from its answer. An ending ends the turn.
    async fn step(&mut self) -> Result<Option<Ending>, Halt> {
        let mut cause = std::mem::take(&mut self.is_refused_as_too_long).then_some(CompactionCause::Full);
        for heard in self.run.events.inbox().take() {
            if let Some(run) = &self.run.cx.run {
                run.enters(&heard.labels);
            }
            if command::is_compact(&heard.message, &heard.labels) {
                cause = cause.or(Some(CompactionCause::ByHand));
            }
            if let Some(more) = Allowance::given(self.run, &heard.message) {
                self.budget.allow(more);
            }
            self.conversation.hear(self.run, heard).await?;
        }
        if std::mem::take(&mut self.is_answered) {
            self.reply = self.conversation.turn;
        }
        let mut view = self.conversation.view();
        if !view.awaits_model {
            return self.finish_stored(&view).await;
        }
        self.budget.check(self.run, self.chain.target())?;
        self.tools.refresh(self.run);
        if self.is_full(&view) {
            cause = Some(CompactionCause::Full);
        }
        if let Some(cause) = cause {
            if self.compact(cause).await? == CompactionEnd::Interrupted {
                return Ok(None);
            }
            // A summary is a request too.
            self.budget.check(self.run, self.chain.target())?;
            view = self.conversation.view();
        }
        let (decided_with, seen) = (self.run.cx.context_labels(), self.conversation.end());
        match self.ask(&view, Purpose::Answer).await? {
            ModelReply::Interrupted => Ok(None),
            ModelReply::TooLong => {
                let size = self.measure(&view);
                self.learn_refusal(size);
                self.is_refused_as_too_long = true;
                Ok(None)
            }
            ModelReply::Answer(answer) => self.take_answer(*answer, seen, decided_with).await,
        }
    }

    async fn take_answer(
        &mut self,
        answer: ModelAnswer,
        seen: u64,
        decided_with: Labels,
    ) -> Result<Option<Ending>, Halt> {
        let text = answer.text();
        let (blocks, is_renamed) = with_unique_ids(&answer.blocks);
        let calls: Vec<_> = calls_in(&blocks).cloned().collect();
        let cost = self.budget.spend(&answer, self.chain.target());
        self.show_thinking(&answer).await;
        let stop = answer.stop.clone();
        let body = TranscriptBody::Answer {
            blocks,
            native: (!is_renamed).then_some(answer.native),
            stop: answer.stop,
            usage: answer.usage,
            cost,
            seen,
            decided_with: decided_with.clone(),
        };
        self.conversation.record(body, Labels::none()).await?;
        if !matches!(stop, Stop::Length | Stop::ContextFull) {
            self.cut_in_a_row = 0;
        }
        match stop {
            Stop::Refused(why) | Stop::Filtered(why) => Ok(Some(ends::rejected(&why))),
            Stop::Length | Stop::ContextFull => self.cut(calls.is_empty()),
            Stop::Paused => Ok(None),
            Stop::Calls if !calls.is_empty() => {
                self.comment(text).await;
                self.run_calls(calls, decided_with).await.map(|()| None)
            }
            // Calls of an answer that ended otherwise are not run, and the model is told so.
            Stop::Finished | Stop::Calls | Stop::Other(_) if !calls.is_empty() => Ok(None),
            Stop::Finished | Stop::Calls | Stop::Other(_) if text.trim().is_empty() => self.nudge().await,
            Stop::Finished | Stop::Calls | Stop::Other(_) => self.finish(&text).await,
        }
    }

    /// The model has answered. A message that arrived meanwhile is answered first.
    async fn finish(&mut self, text: &str) -> Result<Option<Ending>, Halt> {
        if self.answerer.agent.output.is_some() && !self.tell_structured(text).await? {
            return Ok(None);
        }
        self.is_answered = !self.run.events.inbox().close_if_empty();
        Ok((!self.is_answered).then(Ending::completed))
    }

    /// The answer was stored before the process that got it ended. It is told once more, because a part may be missing.
    async fn finish_stored(&mut self, view: &TranscriptView) -> Result<Option<Ending>, Halt> {
        let text = ends::text_of_last(view);
        if text.trim().is_empty() {
            return self.nudge().await;
        }
        if self.answerer.agent.output.is_none() {
            self.teller().say(text.clone()).await?;
        }
        self.finish(&text).await
    }

    /// The answer was cut at the output limit.
    fn cut(&mut self, is_text: bool) -> Result<Option<Ending>, Halt> {
        self.cut_in_a_row += 1;
        let limit = self.max_tokens();
        if is_text {
            return Ok(Some(ends::cut_text(limit)));
        }
        if self.cut_in_a_row >= CUT_ANSWERS_MAX {
            return Ok(Some(ends::cut_calls(limit)));
        }
        Ok(None)
    }

    /// The answer was empty: the model is told once.
    async fn nudge(&mut self) -> Result<Option<Ending>, Halt> {
        self.empty += 1;
        if self.empty > EMPTY_ANSWERS_MAX {
            let why = "the model gave an empty answer twice; send the message again, or try another model";
            return Ok(Some(Ending::saying(TaskState::Failed, why)));
        }
        self.say_to_model("Your last answer was empty. Answer the user, or call a tool.").await?;
        Ok(None)
    }

    /// Adds a sentence of ours to the conversation.
    pub(super) async fn say_to_model(&mut self, text: &str) -> Result<(), Halt> {
        let parts = vec![parts::words(format!("[openfang] {text}"))];
        self.conversation.record(TranscriptBody::User { parts }, Labels::none()).await
    }

    /// The text before calls is not the answer: it gets an artifact of its own.
    async fn comment(&self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        let id = artifact_id(&format!("commentary-{}.{}", self.reply, self.budget.steps()));
        let artifact = Artifact::of_parts(id, Some(Artifact::COMMENTARY.to_owned()), vec![Part::text(text)]);
        let update = ArtifactUpdate { artifact, append: false, last_chunk: true };
        self.run.events.emit_with_next(RunEvent::Artifact(update)).await;
    }

    async fn show_thinking(&self, answer: &ModelAnswer) {
        let thoughts = ends::thoughts_of(&answer.blocks);
        if self.run.agent.model.show_thinking && !thoughts.trim().is_empty() {
            self.run.events.emit_with_next(RunEvent::Working(vec![Part::text(thoughts)])).await;
        }
    }

    /// Tells the text of an answer.
    pub(super) fn teller(&self) -> Teller<'a> {
        Teller::new(self.run.events, artifact_id(&format!("reply-{}", self.reply)))
    }
}

#[expect(clippy::expect_used, reason = "a short literal with numbers is printable and not empty")]
pub(super) fn artifact_id(text: &str) -> ArtifactId {
    text.parse().expect("an artifact id of a turn is valid")
}
