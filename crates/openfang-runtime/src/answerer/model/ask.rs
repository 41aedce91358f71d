//! One answer of a model, whatever it takes: the same request again, a changed one, or the next model. What follows from an
//! error is the table of `openfang_model::ModelError::verdict`.

use std::sync::Arc;
use std::time::Duration;

use openfang_model::{
    ModelAnswer, ModelError, ModelRequest, Reasoning, RefusalKind, RequestOptions, ToolChoice, Usage, Verdict, backoff,
};
use openfang_types::agent::{FirstToolChoice, ReasoningLevel};
use openfang_types::limits::{ANSWER_TOKENS, ANSWER_WINDOW_PERCENT};
use openfang_types::taint::Labels;
use openfang_types::task::Part;

use super::counting::RequestEstimate;
use super::deltas::Deltas;
use super::ends;
use super::halt::Halt;
use super::meter::MeteredRequest;
use super::work::Work;
use crate::answerer::RunEvent;
use crate::models::ModelTarget;
use crate::transcript::{TranscriptBody, TranscriptView};

/// What came of a question to the models.
pub(super) enum ModelReply {
    Answer(Box<ModelAnswer>),
    /// A message arrived that drops the answer.
    Interrupted,
    /// The request does not fit. Of a summary: there is none, whatever the reason.
    TooLong,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Answer,
    /// A summary of so many tokens. Nobody is shown it, and nothing else depends on it.
    Summary {
        tokens: u32,
    },
}

/// What came of one request.
enum Exchange {
    Answered(Box<ModelAnswer>),
    /// A message arrived when so many bytes of the answer had.
    Interrupted {
        bytes: usize,
    },
    /// There is no answer, or it broke off after so many bytes.
    Failed {
        error: ModelError,
        bytes: usize,
    },
}

/// What is done after an error.
enum Next {
    Again,
    /// The request does not fit.
    Compact,
    End(Halt),
}

/// What went wrong so far with one question.
#[derive(Default)]
struct Trouble {
    /// Tries of the model that is asked.
    tries: u32,
    /// The models that cannot answer, with the reason of each.
    failures: Vec<String>,
}

impl Work<'_> {
    /// Asks until a model has answered or none can.
    pub(super) async fn ask(&mut self, view: &TranscriptView, purpose: Purpose) -> Result<ModelReply, Halt> {
        let mut trouble = Trouble::default();
        loop {
            self.budget.warn(self.run).await;
            let target = Arc::clone(self.chain.target());
            let request = self.request(view, &target, purpose);
            let run = self.run;
            self.meter.flush(run);
            // What led to the question is stored before it costs anything.
            let (metered, stored) = tokio::join!(self.meter.reserve(run, &target, &request), run.events.commit());
            let metered = metered?;
            stored?;
            let estimate = RequestEstimate::of(&request);
            let error = match self.exchange(&target, &request, purpose).await? {
                Exchange::Interrupted { bytes } => {
                    self.break_off(&target, metered, &estimate.of_part(bytes));
                    return Ok(ModelReply::Interrupted);
                }
                Exchange::Answered(mut answer) => {
                    answer.usage = estimate.of_answer(&answer);
                    self.meter.answered(run, &target, (metered, &answer.usage));
                    return Ok(ModelReply::Answer(answer));
                }
                Exchange::Failed { error, bytes: 0 } => {
                    self.meter.failed(run, &target, metered);
                    error
                }
                Exchange::Failed { error, bytes } => {
                    self.break_off(&target, metered, &estimate.of_part(bytes));
                    error
                }
            };
            tracing::debug!(model = %target.reference, %error, tries = trouble.tries, "a model gave no answer");
            match self.after(&error, &target, &mut trouble).await? {
                Next::Again => {}
                Next::Compact => return Ok(ModelReply::TooLong),
                Next::End(_) if purpose != Purpose::Answer => return Ok(ModelReply::TooLong),
                Next::End(halt) => return Err(halt),
            }
        }
    }

    /// Counts a request whose answer is not whole, in every budget.
    fn break_off(&mut self, target: &ModelTarget, metered: MeteredRequest, usage: &Usage) {
        let run = self.run;
        self.budget.spend_without_answer(usage, target);
        self.meter.broken_off(run, target, (metered, usage));
    }

    /// Sends one request. Text is told as it arrives.
    async fn exchange(&self, target: &ModelTarget, request: &ModelRequest, purpose: Purpose) -> Result<Exchange, Halt> {
        let deltas = Deltas::default();
        let is_shown = self.answerer.agent.output.is_none() && purpose == Purpose::Answer;
        let mut teller = self.teller();
        let mut told = |delta: openfang_model::Delta<'_>| {
            deltas.count(&delta);
            if is_shown {
                deltas.take(delta);
            }
        };
        let answer = tokio::select! {
            biased;
            () = self.run.events.inbox().interrupted() => None,
            answer = target.client.answer(request, &mut told) => Some(answer),
            stopped = teller.follow(&deltas) => return Err(stopped.into()),
        };
        let bytes = deltas.bytes();
        match answer {
            None => Ok(Exchange::Interrupted { bytes }),
            Some(Err(error)) => Ok(Exchange::Failed { error, bytes }),
            Some(Ok(answer)) => {
                teller.tell(&deltas).await?;
                Ok(Exchange::Answered(Box::new(answer)))
            }
        }
    }

    /// The one place that decides what follows from an error.
    async fn after(&mut self, error: &ModelError, target: &ModelTarget, trouble: &mut Trouble) -> Result<Next, Halt> {
        match error.verdict() {
            Verdict::Retry { after, at_most } if trouble.tries < at_most => {
                let pause = backoff(trouble.tries, after);
                trouble.tries += 1;
                self.say(format!("{} does not answer ({error}); trying again", target.reference)).await;
                tokio::time::sleep(pause).await;
                Ok(Next::Again)
            }
            Verdict::Retry { .. } => self.fall_back(error, (None, false), trouble).await,
            Verdict::Fallback { leave_alone, needs_other_key } => {
                self.fall_back(error, (leave_alone, needs_other_key), trouble).await
            }
            Verdict::Compact => Ok(Next::Compact),
            Verdict::WithoutTool(tool) if self.tools.reject(&tool) => {
                tracing::warn!(%tool, model = %target.reference, %error, "a provider rejects a tool; it is left out");
                self.say(format!("{} rejects the tool {tool}; going on without it", target.reference))
                    .await;
                Ok(Next::Again)
            }
            Verdict::WithoutNative if self.replays_native => {
                self.replays_native = false;
                Ok(Next::Again)
            }
            Verdict::WithoutTool(_) | Verdict::WithoutNative => self.fall_back(error, (None, false), trouble).await,
            Verdict::GiveUp => Ok(Next::End(given_up(error, target))),
        }
    }

    /// Goes on with the next model, and stays with it.
    async fn fall_back(
        &mut self,
        error: &ModelError,
        (leave_alone, needs_other_key): (Option<Duration>, bool),
        trouble: &mut Trouble,
    ) -> Result<Next, Halt> {
        let from = Arc::clone(self.chain.target());
        trouble.tries = 0;
        trouble.failures.push(reason(error, &from));
        if let Some(pause) = leave_alone {
            self.chain.rest(pause);
        }
        if !self.chain.advance(needs_other_key) {
            let why = format!("no model answered: {}", trouble.failures.join("; "));
            return Ok(Next::End(Halt::failed(why)));
        }
        let model = self.chain.target().reference.clone();
        self.say(format!("{} cannot answer ({error}); going on with {model}", from.reference))
            .await;
        let body = TranscriptBody::Switched { model, reason: error.to_string() };
        self.conversation.record(body, Labels::none()).await?;
        Ok(Next::Again)
    }

    async fn say(&self, text: String) {
        let report = Part::progress(text, None, None);
        self.run.events.emit_with_next(RunEvent::Working(vec![report])).await;
    }

    fn request(&self, view: &TranscriptView, target: &ModelTarget, purpose: Purpose) -> ModelRequest {
        let config = &self.run.agent.model;
        let (max_tokens, output) = match purpose {
            Purpose::Answer => (self.max_tokens(), self.answerer.agent.output.clone()),
            // Reasoning counts too, and must not take all of it.
            Purpose::Summary { tokens } => (tokens.saturating_mul(2).min(self.max_tokens()), None),
        };
        let level = match (purpose, config.reasoning) {
            (Purpose::Summary { .. }, Some(level)) if level != ReasoningLevel::Off => Some(ReasoningLevel::Low),
            (Purpose::Answer | Purpose::Summary { .. }, level) => level,
        };
        let tool_choice = match config.tool_choice {
            _ if self.must_answer || purpose != Purpose::Answer => ToolChoice::None,
            FirstToolChoice::Required if self.budget.steps() == 0 && !self.goes_on => ToolChoice::Required,
            FirstToolChoice::Auto | FirstToolChoice::Required => ToolChoice::Auto,
            FirstToolChoice::None => ToolChoice::None,
        };
        let options = RequestOptions {
            max_tokens,
            temperature: config.temperature.map(openfang_types::agent::Temperature::get),
            reasoning: level.map_or(Reasoning::Default, reasoning),
            tool_choice,
            output,
            context_tokens: target.facts.map(|facts| u32::try_from(facts.window).unwrap_or(u32::MAX)),
            replay_native: self.replays_native,
        };
        ModelRequest {
            model: target.model.clone(),
            system: Arc::clone(&self.instructions),
            tools: self.tools.tools(),
            items: view.items.clone(),
            options,
            capabilities: target.capabilities,
        }
    }

    /// The longest answer in tokens.
    pub(super) fn max_tokens(&self) -> u32 {
        let wanted = self.run.agent.model.max_tokens.unwrap_or(ANSWER_TOKENS);
        let most = self.chain.target().facts.map(|facts| u32::try_from(facts.max_output).unwrap_or(u32::MAX));
        let window = self.chain.target().facts.map(|facts| facts.window).filter(|window| *window > 0);
        // An answer that could fill the window would leave no room for what it answers.
        let of_window = window.map(|window| u32::try_from(window * ANSWER_WINDOW_PERCENT / 100).unwrap_or(u32::MAX));
        let most = [most.filter(|most| *most > 0), of_window].into_iter().flatten().min();
        most.map_or(wanted, |most| wanted.min(most).max(1))
    }
}

const fn reasoning(level: ReasoningLevel) -> Reasoning {
    match level {
        ReasoningLevel::Off => Reasoning::Off,
        ReasoningLevel::Low => Reasoning::Low,
        ReasoningLevel::Medium => Reasoning::Medium,
        ReasoningLevel::High => Reasoning::High,
        ReasoningLevel::Tokens(tokens) => Reasoning::Tokens(tokens),
    }
}

/// The reason of a failure, with what provides a key that was not accepted.
fn reason(error: &ModelError, target: &ModelTarget) -> String {
    let is_refused = matches!(error, ModelError::Refused(refusal) if refusal.kind == RefusalKind::Unauthorized);
    let is_about_key = is_refused || matches!(error, ModelError::BadKey);
    match target.key_source.as_ref().filter(|_| is_about_key) {
        Some(source) => format!("{}: {error}; check {source}", target.reference),
        None => format!("{}: {error}", target.reference),
    }
}

/// Nothing helps: the provider forbids the content, or the request is wrong.
fn given_up(error: &ModelError, target: &ModelTarget) -> Halt {
    if let ModelError::Refused(refusal) = error
        && refusal.kind == RefusalKind::Blocked
    {
        return ends::rejected(&refusal.message).into();
    }
    Halt::failed(reason(error, target))
}
