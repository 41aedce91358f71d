//! The arguments of `openfang a2a`, which manages and calls A2A agents of other servers.

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use openfang_types::config::{A2aProtocol, OnChange};
use openfang_types::ids::AgentName;

use super::SendArgs;

use crate::task_ref::TaskRef;

#[derive(Debug, Subcommand)]
pub(crate) enum A2aCommand {
    /// List external agents and their state
    #[command(after_help = "Example:\n  openfang a2a list")]
    List,
    /// Show one external agent: its state, its endpoint and its skills
    #[command(after_help = "Example:\n  openfang a2a show research")]
    Show {
        /// The name of the agent
        name: AgentName,
    },
    /// Print the card of an external agent as it was received
    #[command(after_help = "Example:\n  openfang a2a card research")]
    Card {
        /// The name of the agent
        name: AgentName,
    },
    /// Find the agent at a URL, or those in a file, without adding them
    #[command(
        after_help = "Examples:\n  openfang a2a discover https://agents.example.org\n  openfang a2a discover ai-catalog.json"
    )]
    Discover {
        /// The URL of the server, of the card or of the endpoint; or a file with a card or a catalogue
        #[arg(value_name = "URL|FILE")]
        url: String,
    },
    /// Add an external agent to config.toml and look for it
    #[command(
        after_help = "Examples:\n  openfang a2a add research https://research.example.com\n  openfang a2a add research https://research.example.com -H 'Authorization: Bearer ${RESEARCH_TOKEN}'"
    )]
    Add(A2aAddArgs),
    /// Remove an external agent from config.toml
    #[command(after_help = "Example:\n  openfang a2a remove research")]
    Remove {
        /// The name of the agent
        name: AgentName,
    },
    /// Fetch the card of an external agent now and report the result; exit code 1 if that fails
    #[command(after_help = "Example:\n  openfang a2a test research")]
    Test {
        /// The name of the agent
        name: AgentName,
    },
    /// Send a message to an external agent
    #[command(
        after_help = "Examples:\n  openfang a2a send research 'What is new?'\n  openfang a2a send research 'Rome' --task 0190c2f0-0000-7000-8000-000000000000"
    )]
    Send(SendArgs),
    /// Show a task of an external agent
    #[command(after_help = "Example:\n  openfang a2a task 0190c2f0-0000-7000-8000-000000000000")]
    Task {
        /// The id of the task, its beginning or its end, or `last`
        id: TaskRef,
    },
    /// Cancel a task; the agent is told
    #[command(after_help = "Example:\n  openfang a2a cancel 0190c2f0-0000-7000-8000-000000000000")]
    Cancel {
        /// The id of the task, its beginning or its end, or `last`
        id: TaskRef,
    },
    /// Accept the changed card of an external agent and lift its quarantine
    #[command(alias = "approve", after_help = "Example:\n  openfang a2a accept research")]
    Accept {
        /// The name of the agent
        name: AgentName,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct A2aAddArgs {
    /// The name of the agent here; its tool is a2a_NAME
    pub(crate) name: AgentName,
    /// The URL of the server, of the card or of the endpoint
    pub(crate) url: String,
    /// A header of every request: 'NAME: VALUE'; ${VAR} in a value is expanded
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// The endpoint, instead of the one that the card names
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Another origin that the card may lead to
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    /// The protocol version [default: auto]
    #[arg(long, value_parser = PossibleValuesParser::new(["auto", "1.0", "0.3", "0.2", "0.1", "openfang"]).map(|word| protocol(&word)))]
    pub(crate) protocol: Option<A2aProtocol>,
    /// The description that models are shown instead of the card's
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Trust the agent: its results count as the operator's
    #[arg(long)]
    pub(crate) trusted: bool,
    /// Show the agent to strangers over A2A, where public_agents matches
    #[arg(long)]
    pub(crate) public: bool,
    /// What to do when the text of the card changes [default: warn]
    #[arg(long, value_parser = PossibleValuesParser::new(["warn", "quarantine"]).map(|word| on_change(&word)))]
    pub(crate) on_change: Option<OnChange>,
    /// Replace an existing agent of the same name
    #[arg(long)]
    pub(crate) replace: bool,
}

fn protocol(word: &str) -> A2aProtocol {
    match word {
        "1.0" => A2aProtocol::V10,
        "0.3" => A2aProtocol::V03,
        "0.2" => A2aProtocol::V02,
        "0.1" => A2aProtocol::V01,
        "openfang" => A2aProtocol::OpenFang,
        _ => A2aProtocol::Auto,
    }
}

fn on_change(word: &str) -> OnChange {
    if word == "quarantine" { OnChange::Quarantine } else { OnChange::Warn }
}
