//! The arguments of `openfang chat`.

use clap_complete::engine::ArgValueCandidates;
use openfang_types::ids::{AgentName, ContextId};

use crate::names;

#[derive(Debug, clap::Args)]
pub(crate) struct ChatArgs {
    /// The name of the agent [default: `default_agent`, or the only agent with a model]
    #[arg(add = ArgValueCandidates::new(names::agents))]
    pub(crate) agent: Option<AgentName>,
    /// Go on with the last conversation with the agent, also if it is still being worked on or waits for an answer
    #[arg(short = 'c', long = "continue", conflicts_with = "context")]
    pub(crate) goes_on: bool,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) context: Option<ContextId>,
    /// The model that answers in this chat, as PROVIDER/MODEL; for the operator
    #[arg(long, value_name = "MODEL", add = ArgValueCandidates::new(names::models))]
    pub(crate) model: Option<String>,
}
