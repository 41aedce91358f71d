//! What models take is recorded, and what the agent may spend in an hour, a day and a month is reserved before a request.
//!
//! Without such limits nothing is reserved, and records are written beside the next commit of the run. With them, a request
//! whose process dies stays counted with the most that it could take.

use std::sync::Arc;

use openfang_model::{Cost, ModelRequest, Usage};
use openfang_store::{BudgetKind, BudgetLimits, BudgetSpent, Reservation, Spender, Spending, UsageRecord, UsageStore};
use openfang_types::agent::Resources;
use openfang_types::limits::BUDGET_WARNING_PERCENT;
use openfang_types::task::Part;

use super::exhausted;
use super::halt::Halt;
use crate::answerer::{AgentRun, RunEvent};
use crate::models::{ModelSource, ModelTarget};

/// The meter of one turn.
pub(super) struct Meter {
    store: Option<Arc<dyn UsageStore>>,
    limits: BudgetLimits,
    /// What is not yet written.
    pending: Vec<(Spender, UsageRecord)>,
    has_warned: bool,
}

/// A request that may be sent, and the most that it can take.
pub(super) struct MeteredRequest {
    reservation: Option<Reservation>,
}

impl Meter {
    pub(super) fn new(models: &dyn ModelSource, resources: &Resources) -> Self {
        let limits = BudgetLimits {
            tokens_per_hour: resources.max_llm_tokens_per_hour,
            nano_dollars_per_hour: resources.max_cost_per_hour_usd.map(|limit| limit.nano()),
            nano_dollars_per_day: resources.max_cost_per_day_usd.map(|limit| limit.nano()),
            nano_dollars_per_month: resources.max_cost_per_month_usd.map(|limit| limit.nano()),
        };
        Self { store: models.usage(), limits, pending: Vec::new(), has_warned: false }
    }

    /// Reserves the most that a request can take. A budget that does not hold it ends the turn.
    pub(super) async fn reserve(
        &mut self,
        run: &AgentRun<'_>,
        target: &ModelTarget,
        request: &ModelRequest,
    ) -> Result<MeteredRequest, Halt> {
        let (input, output) = (request.estimated_tokens(), u64::from(request.options.max_tokens));
        let most = Usage { input: Some(input), output: Some(output), ..Usage::default() };
        let Some(store) = self.store.as_ref().filter(|_| self.limits != BudgetLimits::default()) else {
            return Ok(MeteredRequest { reservation: None });
        };
        let price = target.facts.and_then(|facts| facts.price);
        let limits_money = BudgetLimits { tokens_per_hour: None, ..self.limits } != BudgetLimits::default();
        if limits_money && price.is_none() {
            let why = format!("the price of {} is not known, so its cost cannot be limited", target.reference);
            return Err(Halt::failed(why));
        }
        let cost = price.map(|price| price.of(&most)).unwrap_or_default();
        let wanted = Spending { tokens: input.saturating_add(output), nano_dollars: cost.nano_dollars };
        let reserved = store
            .reserve(&spender(run, target), wanted, self.limits, run.pipeline.clock().now())
            .await;
        let reservation = match reserved {
            Ok(Ok(reservation)) => reservation,
            Ok(Err(spent)) => return Err(exhausted(run, "budget", words(&spent)).into()),
            Err(error) => return Err(Halt::failed(error.to_string())),
        };
        if u64::from(reservation.used_percent) >= BUDGET_WARNING_PERCENT && !self.has_warned {
            self.has_warned = true;
            let text = format!("{} % of a budget of this agent are used or reserved", reservation.used_percent);
            run.events.emit_with_next(RunEvent::Working(vec![Part::progress(text, None, None)])).await;
        }
        Ok(MeteredRequest { reservation: Some(reservation) })
    }

    /// Replaces what was reserved by what an answer took.
    pub(super) fn answered(
        &mut self,
        run: &AgentRun<'_>,
        target: &ModelTarget,
        (metered, usage): (MeteredRequest, &Usage),
    ) {
        self.settle(run, target, metered, UsageRecord { answers: 1, ..record(target, usage) });
    }

    /// The answer broke off, or was dropped while it arrived: the provider has read the request and has written so much.
    pub(super) fn broken_off(
        &mut self,
        run: &AgentRun<'_>,
        target: &ModelTarget,
        (metered, usage): (MeteredRequest, &Usage),
    ) {
        self.settle(run, target, metered, record(target, usage));
    }

    /// The provider gave no answer, and takes nothing for that.
    pub(super) fn failed(&mut self, run: &AgentRun<'_>, target: &ModelTarget, metered: MeteredRequest) {
        self.settle(run, target, metered, UsageRecord::default());
    }

    /// A person is asked.
    pub(super) fn asked(&mut self, run: &AgentRun<'_>, target: &ModelTarget, questions: usize) {
        if self.store.is_some() {
            let questions = u64::try_from(questions).unwrap_or(u64::MAX);
            self.pending
                .push((spender(run, target), UsageRecord { questions, ..UsageRecord::default() }));
        }
    }

    fn settle(&mut self, run: &AgentRun<'_>, target: &ModelTarget, metered: MeteredRequest, taken: UsageRecord) {
        match (metered.reservation, &self.store) {
            // Queued at once and durable with the next commit, which nobody waits for here.
            (Some(reservation), Some(store)) => drop(store.settle(reservation, taken)),
            (None, Some(_)) if taken != UsageRecord::default() => self.pending.push((spender(run, target), taken)),
            (Some(_) | None, _) => {}
        }
    }

    /// Writes what is not yet written, with the commit that comes next.
    pub(super) fn flush(&mut self, run: &AgentRun<'_>) {
        let Some(store) = &self.store else { return };
        for (spender, taken) in self.pending.drain(..) {
            drop(store.record(&spender, taken, run.pipeline.clock().now()));
        }
    }
}

fn spender(run: &AgentRun<'_>, target: &ModelTarget) -> Spender {
    let (owner, agent) = (run.cx.principal.owner().clone(), run.agent.name.clone());
    Spender { owner, agent, model: target.reference.clone() }
}

fn record(target: &ModelTarget, usage: &Usage) -> UsageRecord {
    let price = target.facts.and_then(|facts| facts.price);
    UsageRecord {
        answers: 0,
        questions: 0,
        input: usage.input.unwrap_or(0),
        cached: usage.cached.unwrap_or(0),
        output: usage.output.unwrap_or(0),
        nano_dollars: price.map(|price| price.of(usage).nano_dollars).unwrap_or_default(),
    }
}

/// What a person is told about a budget that is used.
fn words(spent: &BudgetSpent) -> String {
    let amount = |value: u64| match spent.limit {
        BudgetKind::TokensPerHour => format!("{value} tokens"),
        BudgetKind::CostPerHour | BudgetKind::CostPerDay | BudgetKind::CostPerMonth => {
            Cost { nano_dollars: value }.to_string()
        }
    };
    format!(
        "the budget {} = {} is used: {} are spent or reserved, and the next request can take {}; it is renewed at {}. Raise it \
         under [resources] in agent.toml, or lower max_tokens",
        spent.limit.key(),
        amount(spent.allowed),
        amount(spent.used),
        amount(spent.wanted),
        spent.until
    )
}
