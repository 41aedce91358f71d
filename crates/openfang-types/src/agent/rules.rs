//! `[resources]`, `[flow]` and `[output]`: how much an agent with a model may use, what it may do without a person, and the
//! shape of its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dollars::Dollars;
use crate::limits::{RUN_MAX_SECS, RUN_MAX_STEPS};

/// What a run of the agent, and all its runs together, may use. Money needs a model whose price is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    /// How long a run may take, in seconds. Time in which a person is asked does not count.
    pub max_secs: u64,
    /// Requests to models in one run.
    pub max_steps: u32,
    /// Tool calls in one run. It can only lower `calls_per_run` of `[loop_guard]` in `config.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_run: Option<u32>,
    /// Tokens of one run, of requests and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_run: Option<u64>,
    /// Tokens of the agent in one hour, for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_llm_tokens_per_hour: Option<u64>,
    /// Dollars of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_per_run_usd: Option<Dollars>,
    /// Dollars of the agent in one hour, for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_per_hour_usd: Option<Dollars>,
    /// Dollars of the agent in one day (UTC), for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_per_day_usd: Option<Dollars>,
    /// Dollars of the agent in one month (UTC), for each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_per_month_usd: Option<Dollars>,
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            max_secs: RUN_MAX_SECS,
            max_steps: RUN_MAX_STEPS,
            calls_per_run: None,
            max_tokens_per_run: None,
            max_llm_tokens_per_hour: None,
            max_cost_per_run_usd: None,
            max_cost_per_hour_usd: None,
            max_cost_per_day_usd: None,
            max_cost_per_month_usd: None,
        }
    }
}

impl Resources {
    /// The limits in money that are set, by key.
    pub fn money(&self) -> impl Iterator<Item = (&'static str, Dollars)> {
        let limits = [
            ("resources.max_cost_per_run_usd", self.max_cost_per_run_usd),
            ("resources.max_cost_per_hour_usd", self.max_cost_per_hour_usd),
            ("resources.max_cost_per_day_usd", self.max_cost_per_day_usd),
            ("resources.max_cost_per_month_usd", self.max_cost_per_month_usd),
        ];
        limits.into_iter().filter_map(|(key, limit)| Some((key, limit?)))
    }

    /// The limits in numbers that are set, by key.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let limits = [
            ("resources.max_secs", Some(self.max_secs)),
            ("resources.max_steps", Some(u64::from(self.max_steps))),
            ("resources.calls_per_run", self.calls_per_run.map(u64::from)),
            ("resources.max_tokens_per_run", self.max_tokens_per_run),
            ("resources.max_llm_tokens_per_hour", self.max_llm_tokens_per_hour),
        ];
        limits.into_iter().filter_map(|(key, limit)| Some((key, limit?)))
    }
}

/// What the agent may do once it has read something that is not the user's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// How information is followed: `labels`.
    pub mode: FlowMode,
    /// What happens to a call that needs an approval: `ask` a person, or `refuse` it.
    pub approvals: ApprovalMode,
}

/// How information is followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlowMode {
    /// The model reads results, and its calls are judged by the labels of what it has read.
    #[default]
    Labels,
    /// The model sees handles in the place of results. It does not exist.
    Sealed,
}

/// What happens to a call that needs an approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// The call waits for a person.
    #[default]
    Ask,
    /// The call is refused, and the model is told why.
    Refuse,
}

/// The shape of the agent's answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputConfig {
    /// A file with a JSON Schema, beside `agent.toml`. Answers are JSON documents that follow it.
    pub schema: String,
}
