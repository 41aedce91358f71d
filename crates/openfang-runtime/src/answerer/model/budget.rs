//! What a run may use: requests, tokens and money. A run that another process began has used what its transcript says.

use openfang_model::{Cost, ModelAnswer, Usage};
use openfang_types::agent::Resources;
use openfang_types::limits::BUDGET_WARNING_PERCENT;
use openfang_types::task::Part;

use super::allowance::Allowance;
use super::conversation::Conversation;
use super::exhausted;
use super::halt::Halt;
use crate::answerer::{AgentRun, RunEvent};
use crate::models::ModelTarget;
use crate::transcript::{RunSpending, TranscriptBody};

/// What a run has used, and may use.
pub(super) struct Budget {
    max_steps: u32,
    max_tokens: Option<u64>,
    max_nano_dollars: Option<u64>,
    spent: RunSpending,
    /// Answers among the requests: a summary is none.
    answers: u32,
    has_warned: bool,
}

impl Budget {
    pub(super) fn of(resources: &Resources, conversation: &Conversation<'_>) -> Self {
        let mut budget = Self {
            max_steps: resources.max_steps,
            max_tokens: resources.max_tokens_per_run,
            max_nano_dollars: resources.max_cost_per_run_usd.map(|limit| limit.nano()),
            spent: RunSpending::default(),
            answers: 0,
            has_warned: false,
        };
        let entries = conversation.entries().iter();
        for entry in entries.filter(|entry| entry.task == conversation.task() && entry.turn == conversation.turn) {
            match &entry.body {
                TranscriptBody::Answer { usage, cost, .. } => budget.add(usage, cost.unwrap_or_default(), true),
                // It counts what came before it.
                TranscriptBody::Compacted(compaction) => {
                    budget.spent = compaction.spent;
                    budget.answers = compaction.spent.steps;
                }
                _ => {}
            }
        }
        budget
    }

    /// The number of answers so far.
    pub(super) const fn steps(&self) -> u32 {
        self.answers
    }

    /// What the run has spent.
    pub(super) const fn spent(&self) -> RunSpending {
        self.spent
    }

    /// Ends the turn if the next request would go beyond a limit.
    pub(super) fn check(&self, run: &AgentRun<'_>, target: &ModelTarget) -> Result<(), Halt> {
        if self.max_nano_dollars.is_some() && target.facts.and_then(|facts| facts.price).is_none() {
            let why = format!("the price of {} is not known, so its cost cannot be limited", target.reference);
            return Err(Halt::failed(why));
        }
        let ended = |key: &str, used: String| {
            let why = format!(
                "{used}; send a message to go on with as much again, `/budget +AMOUNT` for another amount, or raise {key} under \
                 [resources] in agent.toml"
            );
            Err(exhausted(run, "budget", why).into())
        };
        if self.spent.steps >= self.max_steps {
            return ended("max_steps", format!("the {} requests of this run are used", self.max_steps));
        }
        if let Some(limit) = self.max_tokens.filter(|limit| self.spent.tokens >= *limit) {
            return ended("max_tokens_per_run", format!("the budget of {limit} tokens is used"));
        }
        if let Some(limit) = self.max_nano_dollars.filter(|limit| self.spent.cost.nano_dollars >= *limit) {
            let limit = Cost { nano_dollars: limit };
            return ended("max_cost_per_run_usd", format!("the budget of {limit} is used"));
        }
        Ok(())
    }

    /// The run may use this: its turn begins with it.
    #[must_use]
    pub(super) fn with(mut self, allowed: Option<Allowance>) -> Self {
        match allowed {
            Some(Allowance::Dollars(amount)) => self.max_nano_dollars = Some(amount.nano()),
            Some(Allowance::Tokens(amount)) => self.max_tokens = Some(amount),
            None => {}
        }
        self
    }

    /// The run may use so much more than before, where it has a limit.
    pub(super) fn allow(&mut self, more: Allowance) {
        let (limit, amount) = match more {
            Allowance::Dollars(amount) => (&mut self.max_nano_dollars, amount.nano()),
            Allowance::Tokens(amount) => (&mut self.max_tokens, amount),
        };
        *limit = limit.map(|limit| limit.saturating_add(amount));
        self.has_warned = false;
    }

    /// Counts an answer, and says what it cost.
    pub(super) fn spend(&mut self, answer: &ModelAnswer, target: &ModelTarget) -> Option<Cost> {
        let price = target.facts.as_ref().and_then(|facts| facts.price);
        let cost = price.map(|price| price.of(&answer.usage));
        self.add(&answer.usage, cost.unwrap_or_default(), true);
        cost
    }

    /// Counts the request for a summary.
    pub(super) fn spend_on_summary(&mut self, answer: &ModelAnswer, target: &ModelTarget) {
        let price = target.facts.as_ref().and_then(|facts| facts.price);
        let cost = price.map(|price| price.of(&answer.usage)).unwrap_or_default();
        self.add(&answer.usage, cost, false);
    }

    /// Counts a request without a whole answer: a message interrupted it, or it broke off.
    pub(super) fn spend_without_answer(&mut self, usage: &Usage, target: &ModelTarget) {
        let price = target.facts.as_ref().and_then(|facts| facts.price);
        self.add(usage, price.map(|price| price.of(usage)).unwrap_or_default(), false);
    }

    fn add(&mut self, usage: &Usage, cost: Cost, is_answer: bool) {
        self.spent.steps += 1;
        self.answers += u32::from(is_answer);
        self.spent.tokens = self.spent.tokens.saturating_add(tokens_of(usage));
        self.spent.cost = self.spent.cost.saturating_add(cost);
    }

    /// Says once that most of a budget is used.
    pub(super) async fn warn(&mut self, run: &AgentRun<'_>) {
        let is_near = |used: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| u128::from(used) * 100 >= u128::from(limit) * u128::from(BUDGET_WARNING_PERCENT))
        };
        if self.has_warned {
            return;
        }
        let text = if is_near(self.spent.cost.nano_dollars, self.max_nano_dollars) {
            format!("{} of the budget of this run are used", self.spent.cost)
        } else if is_near(self.spent.tokens, self.max_tokens) {
            format!("{} of the tokens of this run are used", self.spent.tokens)
        } else {
            return;
        };
        self.has_warned = true;
        run.events.emit_with_next(RunEvent::Working(vec![Part::progress(text, None, None)])).await;
    }
}

fn tokens_of(usage: &Usage) -> u64 {
    usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0))
}
