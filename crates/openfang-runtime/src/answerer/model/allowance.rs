//! `/budget +0.50` and `/budget +20000 tokens`: a person lets a run use so much more. The operator may allow anything; others, as
//! much as a run of the agent may use anyhow. The limits per hour, day and month hold all the same.

use openfang_types::agent::Resources;
use openfang_types::dollars::Dollars;
use openfang_types::principal::PrincipalKind;
use openfang_types::task::Message;

use crate::answerer::AgentRun;

/// What the model reads in the place of the command.
pub(super) const GO_ON: &str = "[openfang] The user allows you to use more. Go on.";

/// How much more a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowance {
    Dollars(Dollars),
    Tokens(u64),
}

impl Allowance {
    /// What a message allows, if a person sent it.
    pub(super) fn given(run: &AgentRun<'_>, message: &Message) -> Option<Self> {
        let given = Self::parse(&message.joined_text()).filter(|_| run.cx.waiting_task.is_some())?;
        Some(match run.cx.principal.standing() {
            PrincipalKind::Admin(_) => given,
            PrincipalKind::Local | PrincipalKind::User(_) => given.at_most(&run.agent.resources),
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let amount = text.trim().strip_prefix("/budget")?.trim().strip_prefix('+')?.trim();
        if let Some(tokens) = amount.strip_suffix("tokens") {
            return tokens.trim().parse().ok().map(Self::Tokens);
        }
        let dollars = amount.strip_prefix('$').unwrap_or(amount).parse().ok()?;
        Dollars::new(dollars).map(Self::Dollars)
    }

    fn at_most(self, resources: &Resources) -> Self {
        match self {
            Self::Dollars(given) => Self::Dollars(resources.max_cost_per_run_usd.map_or(given, |most| given.min(most))),
            Self::Tokens(given) => Self::Tokens(resources.max_tokens_per_run.map_or(given, |most| given.min(most))),
        }
    }
}

#[cfg(test)]
#[path = "allowance_tests.rs"]
mod tests;
