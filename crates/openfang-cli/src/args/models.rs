//! The arguments of `openfang agent new`, `openfang model` and `openfang usage`.

use clap::{Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use openfang_types::api::UsageBy;
use openfang_types::capability::Glob;
use openfang_types::ids::AgentName;
use openfang_types::limits::USAGE_SHOWN_DAYS;

use crate::names;

#[derive(Debug, clap::Args)]
pub(crate) struct AgentNewArgs {
    /// The name of the agent: small letters, digits and hyphens
    pub(crate) name: AgentName,
    /// The model, as PROVIDER/MODEL [default: that of the first provider with an API key, else none]
    #[arg(long, value_name = "MODEL", add = ArgValueCandidates::new(names::models))]
    pub(crate) model: Option<String>,
    /// What the agent is for, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The instructions of the agent; needs a model
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Patterns of the tools that the agent may use, such as add_numbers, 'file_*' or 'mcp_github_*'
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',', add = ArgValueCandidates::new(names::tools))]
    pub(crate) tools: Vec<Glob>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the providers of models, whether their API keys are there, and model servers on this machine
    #[command(after_help = "Examples:\n  openfang model list\n  openfang model list --json")]
    List,
    /// Show how a model is reached, its context window and its price
    #[command(after_help = "Example:\n  openfang model show anthropic/claude-sonnet-5-5")]
    Show {
        /// The model, as PROVIDER/MODEL
        #[arg(add = ArgValueCandidates::new(names::models))]
        model: String,
    },
    /// Ask a model for a few tokens, and show how long they took and what they cost; exit code 1 if it does not answer
    #[command(after_help = "Examples:\n  openfang model test\n  openfang model test ollama/qwen3:8b")]
    Test {
        /// The model, as PROVIDER/MODEL [default: that of the first provider with an API key]
        #[arg(add = ArgValueCandidates::new(names::models))]
        model: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    /// What the usage is summed by
    #[arg(long, value_enum, default_value_t = UsageKeyArg::Agent)]
    pub(crate) by: UsageKeyArg,
    /// How many days back, today included (UTC)
    #[arg(long, value_name = "DAYS", default_value_t = USAGE_SHOWN_DAYS, value_parser = clap::value_parser!(u32).range(1..=400))]
    pub(crate) days: u32,
    /// The usage of all users together, not only your own
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum UsageKeyArg {
    Agent,
    Model,
    Day,
}

impl From<UsageKeyArg> for UsageBy {
    fn from(key: UsageKeyArg) -> Self {
        match key {
            UsageKeyArg::Agent => Self::Agent,
            UsageKeyArg::Model => Self::Model,
            UsageKeyArg::Day => Self::Day,
        }
    }
}
