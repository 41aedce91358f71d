//! The arguments of `openfang init`, `openfang connect` and `openfang doctor`.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap_complete::engine::ArgValueCandidates;
use openfang_types::ids::{AgentName, Owner, ProfileName};

use crate::clients::Client;
use crate::names;

#[derive(Debug, clap::Args)]
pub(crate) struct ConnectArgs {
    /// The programs to connect [default: asks which of those found]
    #[arg(value_name = "CLIENT", value_parser = client(), conflicts_with = "all")]
    pub(crate) clients: Vec<Client>,
    /// All programs that are installed
    #[arg(long)]
    pub(crate) all: bool,
    /// Write to the settings of the project in the current directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Serve only this agent, and the tools it can use
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// Show only what this profile of config.toml selects
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(names::profiles))]
    pub(crate) profile: Option<ProfileName>,
    /// Write the URL of the running daemon instead of a program to start
    #[arg(long, conflicts_with = "agent")]
    pub(crate) http: bool,
    /// Create a key of this user for each client, and write it with the URL
    #[arg(long, value_name = "USER", requires = "http", conflicts_with = "project")]
    pub(crate) key: Option<Owner>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "openfang", value_parser = entry_name)]
    pub(crate) name: String,
    /// Show what would change, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take the entries out again: a file that nobody changed since gets back every byte
    #[arg(long, conflicts_with_all = ["http", "agent", "replace"])]
    pub(crate) undo: bool,
    /// List programs, whether they are installed and whether they are connected
    #[arg(long, conflicts_with_all = ["undo", "dry_run", "http", "agent", "all", "clients"])]
    pub(crate) list: bool,
    /// Replace an entry of the same name that is not OpenFang's
    #[arg(long)]
    pub(crate) replace: bool,
    /// Write the changes without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Answer every question with yes: connect all programs found, and import all their servers
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Connect these programs, separated by commas, or `none` [default: asks]
    #[arg(long, value_name = "CLIENTS", value_delimiter = ',')]
    pub(crate) connect: Vec<String>,
    /// Import the MCP servers of other programs without asking
    #[arg(long, conflicts_with = "no_import")]
    pub(crate) import: bool,
    /// Do not import MCP servers of other programs
    #[arg(long)]
    pub(crate) no_import: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Make the repairs that lose nothing: modes of files, and files left by a process that is gone
    #[arg(long)]
    pub(crate) fix: bool,
    /// Do not start programs to check them
    #[arg(long)]
    pub(crate) offline: bool,
}

fn client() -> impl clap::builder::TypedValueParser<Value = Client> {
    let words: Vec<&'static str> = Client::rows().iter().map(|row| row.word).collect();
    PossibleValuesParser::new(words).try_map(|word| Client::from_word(&word).ok_or("not a client"))
}

/// Names that every program accepts as the name of a server.
fn entry_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("use up to 64 letters, digits, hyphens and underscores".to_owned())
    }
}
