//! Replies from a file: rules on the message give a sequence of steps. For demos, for tests, and for people who test
//! their own client against an agent that is known to the letter. The format is documented in `docs/script.md`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use openfang_types::agent::AgentManifest;
use openfang_types::call::Resumed;
use openfang_types::event::ArtifactUpdate;
use openfang_types::ids::ArtifactId;
use openfang_types::task::{Artifact, Message, Part, Role, TaskState};

use super::direct::{self, Wish};
use super::{
    AgentRun, Answerer, Called, Ending, Recovery, Refusal, RunEvent, RunStopped, Turn, WaitingCall, may_repeat,
    questions,
};
use crate::catalog::Catalog;
use crate::pipeline::ToolCall;

use format::{ArtifactStep, Rule, Script, Step};
pub use format::{ScriptError, parse};

mod format;

/// An agent that does what its file says.
pub struct Scripted {
    script: Script,
}

impl Scripted {
    /// An agent that follows this script.
    pub const fn new(script: Script) -> Self {
        Self { script }
    }

    fn rule_for(&self, message: &Message, turn: usize) -> Option<&Rule> {
        self.script.rules.iter().find(|rule| rule.when.holds(message, turn))
    }
}

impl Answerer for Scripted {
    fn plain_reply(&self, message: &Message) -> Option<Vec<Part>> {
        match self.rule_for(message, 1)?.steps.as_slice() {
            [Step::Reply(text)] => Some(vec![Part::text(text)]),
            _ => None,
        }
    }

    fn refusal(&self, message: &Message) -> Option<Refusal> {
        match self.rule_for(message, 1)?.steps.as_slice() {
            [Step::Refuse(refusal)] => Some(*refusal),
            _ => None,
        }
    }

    fn recovery(&self, turn: &Turn<'_>, _: &AgentManifest, catalog: &Catalog) -> Recovery {
        let open = self
            .rule_for(turn.message, turn.number)
            .and_then(|rule| rule.steps[rule.told(turn.told)..].first());
        match open {
            Some(Step::Tool(tool)) if !may_repeat(catalog, &tool.name) => Recovery::Fail,
            Some(Step::RequestedTool(_)) => match direct::wish_of(turn.message) {
                Wish::Call(tool, _) if !may_repeat(catalog, &tool) => Recovery::Fail,
                Wish::Call(..) | Wish::Text(_) | Wish::Unreadable(_) => Recovery::Resume,
            },
            _ => Recovery::Resume,
        }
    }

    fn run<'a>(&'a self, run: &'a AgentRun<'a>, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Ending, RunStopped>> {
        Box::pin(async move {
            // A call that asked goes on in the rule of the turn in which it was made.
            let resumed = match questions::resumed(turn) {
                Some(Err(ending)) => return Ok(ending),
                Some(Ok(resumed)) => Some(resumed),
                None => None,
            };
            let began = match &resumed {
                Some((call, _)) => begun_by(turn, call.place.0),
                None => Some((turn.message, turn.number)),
            };
            let rule = began.and_then(|(message, number)| self.rule_for(message, number));
            let (Some((message, number)), Some(rule)) = (began, rule) else {
                return Ok(Ending::saying(TaskState::InputRequired, self.script.known_rules()));
            };
            let told = match &resumed {
                Some((call, _)) => call.place.1,
                None => rule.told(turn.told),
            };
            let chunks = rule.steps[..told].iter().filter(|step| matches!(step, Step::Chunk(_))).count();
            let mut play = Play { run, message, turn: number, chunks };
            let mut next = told;
            if let Some((call, answers)) = resumed {
                if let Some(ending) = Box::pin(play.resume(call, answers)).await? {
                    return Ok(ending);
                }
                next += 1;
            }
            for (step_number, step) in rule.steps.iter().enumerate().skip(next) {
                if let Some(ending) = play.step(step, step_number).await? {
                    return Ok(ending);
                }
            }
            Ok(Ending::completed())
        })
    }
}

/// The message that began a turn, and the number of the turn.
fn begun_by<'t>(turn: &Turn<'t>, number: usize) -> Option<(&'t Message, usize)> {
    let said = turn.history.iter().filter(|said| said.role == Role::User);
    said.chain([turn.message]).nth(number.checked_sub(1)?).map(|message| (message, number))
}

/// A rule that is being played.
struct Play<'a> {
    run: &'a AgentRun<'a>,
    message: &'a Message,
    turn: usize,
    chunks: usize,
}

impl Play<'_> {
    /// Plays one step; an ending ends the turn.
    async fn step(&mut self, step: &Step, number: usize) -> Result<Option<Ending>, RunStopped> {
        match step {
            Step::Chunk(text) => self.chunk(text).await?,
            Step::Artifact(artifact) => self.artifact(artifact, number).await?,
            Step::Status(status) => {
                let parts: Vec<Part> = status.message.iter().map(Part::text).collect();
                match status.state {
                    TaskState::Submitted | TaskState::Working => self.run.events.emit(RunEvent::Working(parts)).await?,
                    state => return Ok(Some(Ending::of_parts(state, parts))),
                }
            }
            Step::Tool(tool) => {
                let call = ToolCall { name: tool.name.clone(), arguments: tool.arguments.clone().into() };
                // Boxed, here and below: a run that waits needs no room for a call.
                return Box::pin(self.tool(call, number)).await;
            }
            Step::RequestedTool(_) => {
                return match direct::wish_of(self.message) {
                    Wish::Call(name, arguments) => {
                        Box::pin(self.tool(ToolCall { name, arguments: arguments.into() }, number)).await
                    }
                    Wish::Text(_) => Ok(Some(Ending::saying(TaskState::Failed, "the message names no tool"))),
                    Wish::Unreadable(why) => Ok(Some(Ending::saying(TaskState::Failed, why))),
                };
            }
            Step::Echo(name) => self.echo(name, number).await?,
            Step::DelayMs(ms) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Step::Fail(why) => return Ok(Some(Ending::saying(TaskState::Failed, why))),
            Step::Reply(text) => return Ok(Some(Ending::saying(TaskState::Completed, text))),
            // There is a task already, and a task can only fail.
            Step::Refuse(refusal) => return Ok(Some(Ending::saying(TaskState::Failed, refusal.to_string()))),
            // Whoever cancels drops this future; that is the only way out.
            Step::WaitForCancel(_) => std::future::pending::<()>().await,
            Step::Leave(_) => return Ok(Some(Ending::of_parts(TaskState::Working, Vec::new()))),
        }
        Ok(None)
    }

    async fn chunk(&mut self, text: &str) -> Result<(), RunStopped> {
        let first = self.chunks == 0;
        self.chunks += 1;
        let id = fixed_id(&format!("reply-{}", self.turn));
        let artifact = Artifact::of_parts(id, Some("reply".to_owned()), vec![Part::text(text)]);
        self.run
            .events
            .emit(RunEvent::Artifact(ArtifactUpdate { artifact, append: !first, last_chunk: false }))
            .await
    }

    /// Calls a tool; the turn goes on, unless the loop guard has had enough.
    async fn tool(&self, call: ToolCall<'_>, number: usize) -> Result<Option<Ending>, RunStopped> {
        let called = self.run.call_tool(call, self.artifact_number(number)).await?;
        Ok(self.after(called, number))
    }

    /// Goes on with a call that asked something.
    async fn resume(&self, call: &WaitingCall, answers: Resumed) -> Result<Option<Ending>, RunStopped> {
        let number = call.place.1;
        let called = self.run.resume(call, answers, self.artifact_number(number)).await?;
        Ok(self.after(called, number))
    }

    fn after(&self, called: Called, number: usize) -> Option<Ending> {
        match called {
            Called::Refused(error) if error.ends_the_run() => {
                Some(Ending::saying(TaskState::Failed, error.to_string()))
            }
            Called::Asks(call) => Some(Ending::asking(WaitingCall { place: (self.turn, number), ..*call })),
            Called::Answered(_) | Called::Failed(_) | Called::Refused(_) => None,
        }
    }

    const fn artifact_number(&self, step: usize) -> usize {
        self.turn * 1_000 + step
    }

    async fn echo(&self, name: &str, number: usize) -> Result<(), RunStopped> {
        let artifact = Artifact::of_parts(self.own_id(number), Some(name.to_owned()), self.message.parts.clone());
        self.run
            .events
            .emit(RunEvent::Artifact(ArtifactUpdate { artifact, append: false, last_chunk: true }))
            .await
    }

    async fn artifact(&self, step: &ArtifactStep, number: usize) -> Result<(), RunStopped> {
        let artifact_id = step.id.clone().unwrap_or_else(|| self.own_id(number));
        let artifact = Artifact::of_parts(artifact_id, step.name.clone(), vec![step.part()]);
        self.run
            .events
            .emit(RunEvent::Artifact(ArtifactUpdate { artifact, append: step.append, last_chunk: step.last }))
            .await
    }

    /// The id of an artifact whose step gives none: the same again when the step is played again.
    fn own_id(&self, number: usize) -> ArtifactId {
        fixed_id(&format!("artifact-{}-{number}", self.turn))
    }
}

#[expect(clippy::expect_used, reason = "a short literal with numbers is printable and not empty")]
fn fixed_id(text: &str) -> ArtifactId {
    text.parse().expect("an artifact id of a script is valid")
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
