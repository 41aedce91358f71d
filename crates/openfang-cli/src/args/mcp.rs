//! The arguments of `openfang mcp`: without a subcommand it is an MCP server; its subcommands manage MCP servers.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use openfang_types::config::{McpProtocol, NewTools, OnChange, ToolPattern};
use openfang_types::ids::{AgentName, ProfileName, ServerName};

use crate::names;
use crate::registry::AddTarget;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve the tools too, not only the agents
    #[arg(long)]
    pub(crate) tools: bool,
    /// Serve only this agent, and with --tools the tools it can use
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// Serve only what this profile of config.toml has
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<ProfileName>,
    /// Serve the tools too, but list only two: one finds the others, one calls them
    #[arg(long)]
    pub(crate) lazy: bool,
    /// Serve one MCP server as it is, under its own names
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tools", "agent", "lazy"], add = ArgValueCandidates::new(names::servers))]
    pub(crate) server: Option<ServerName>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add an MCP server to config.toml and connect to it
    #[command(
        after_help = "Examples:\n  openfang mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/projects\n  openfang mcp add github -e GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y @modelcontextprotocol/server-github\n  openfang mcp add docs --url https://mcp.example.org/mcp --header 'Authorization: Bearer ${secret:DOCS_TOKEN}'\n  openfang mcp add io.github.example/weather@1.2.0\n  openfang mcp add weather --from server.json"
    )]
    Add(Box<McpAddArgs>),
    /// List MCP servers and their state
    #[command(after_help = "Example:\n  openfang mcp list")]
    List,
    /// Show one MCP server and its tools
    #[command(after_help = "Example:\n  openfang mcp show files")]
    Show {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
    },
    /// Reconnect to an MCP server and report the result; exit code 1 if it fails
    #[command(after_help = "Example:\n  openfang mcp test files")]
    Test {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
    },
    /// Reconnect to an MCP server (needs a daemon)
    #[command(after_help = "Example:\n  openfang mcp restart files")]
    Restart {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
    },
    /// Remove MCP servers from config.toml and disconnect them
    #[command(after_help = "Examples:\n  openfang mcp remove files\n  openfang mcp remove files docs github")]
    Remove {
        /// The names of the servers
        #[arg(required = true, value_name = "NAME", add = ArgValueCandidates::new(names::servers))]
        names: Vec<ServerName>,
    },
    /// Enable MCP servers: connect to them and list what they have
    #[command(after_help = "Example:\n  openfang mcp enable files")]
    Enable {
        /// The names of the servers
        #[arg(required = true, value_name = "NAME", add = ArgValueCandidates::new(names::servers))]
        names: Vec<ServerName>,
    },
    /// Disable MCP servers: disconnect them and list nothing of them; they stay in config.toml
    #[command(after_help = "Example:\n  openfang mcp disable files")]
    Disable {
        /// The names of the servers
        #[arg(required = true, value_name = "NAME", add = ArgValueCandidates::new(names::servers))]
        names: Vec<ServerName>,
    },
    /// Show all tools of an MCP server, or choose which are listed
    #[command(
        after_help = "Examples:\n  openfang mcp tools files\n  openfang mcp tools files --only 'read_*' --only list_directory\n  openfang mcp tools files --except write_file\n  openfang mcp tools files --all"
    )]
    Tools {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
        #[command(flatten)]
        choice: ToolChoiceArgs,
    },
    /// Print the standard error and the connection log of an MCP server (needs a daemon)
    #[command(after_help = "Example:\n  openfang mcp logs files -n 50")]
    Logs {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
        /// The number of lines to print, from the end [default: all]
        #[arg(short = 'n', long, value_name = "N")]
        lines: Option<usize>,
        /// Print new lines as they are written
        #[arg(short, long, conflicts_with = "json")]
        follow: bool,
    },
    /// Show new, changed and removed tools that wait to be accepted, with their differences
    #[command(after_help = "Examples:\n  openfang mcp review\n  openfang mcp review files")]
    Review {
        /// The name of the server [default: all servers]
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: Option<ServerName>,
    },
    /// Accept new and changed tools and lift the quarantine: of one tool, or of all tools of a server (needs a daemon)
    #[command(
        alias = "approve",
        after_help = "Examples:\n  openfang mcp accept files\n  openfang mcp accept files read_file"
    )]
    Accept {
        /// The name of the server
        #[arg(add = ArgValueCandidates::new(names::servers))]
        name: ServerName,
        /// The tool, by the server's own name for it
        tool: Option<String>,
    },
    /// Search the registry of MCP servers
    #[command(after_help = "Example:\n  openfang mcp search github")]
    Search {
        /// A part of the name
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Import the MCP servers of other programs, after a preview
    #[command(
        after_help = "Examples:\n  openfang mcp import\n  openfang mcp import --from cursor --yes\n  openfang mcp import --from servers.json"
    )]
    Import(ImportArgs),
}

/// Which tools are listed, by the server's own names.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ToolChoiceArgs {
    /// List only these tools, by the server's own names; * stands for any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<ToolPattern>,
    /// Do not list these tools
    #[arg(long, value_name = "PATTERN")]
    pub(crate) except: Vec<ToolPattern>,
    /// List all tools of the server again
    #[arg(long, conflicts_with_all = ["only", "except"])]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct McpAddArgs {
    /// The name of the server; its tools are listed as mcp_NAME_TOOL. Or NAMESPACE/SERVER[@VERSION], a server of the registry
    pub(crate) name: AddTarget,
    /// The URL of a remote server; the same as --url
    #[arg(value_name = "URL", conflicts_with = "url")]
    pub(crate) place: Option<String>,
    /// Read the server from a file or a URL: server.json, or a catalogue with several servers, of which NAME is taken
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["url", "place", "words"])]
    pub(crate) from: Option<String>,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "place", "header"])]
    pub(crate) words: Vec<String>,
    /// The URL of a remote server
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The transport [default: stdio for a program, http for a URL]
    #[arg(long, short, value_enum)]
    pub(crate) transport: Option<Transport>,
    /// An environment variable of the program: NAME is inherited, NAME=VALUE is set; ${VAR} in a value is expanded
    #[arg(short, long, value_name = "NAME[=VALUE]", conflicts_with_all = ["url", "place"])]
    pub(crate) env: Vec<String>,
    /// A header of every request: 'NAME: VALUE'; ${VAR} in a value is expanded
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// The working directory of the program [default: servers/ of the home]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "place"])]
    pub(crate) cwd: Option<PathBuf>,
    /// Run the program in a sandbox: it can read the programs of the system, and what --read and --write name
    #[arg(long, conflicts_with_all = ["url", "place"])]
    pub(crate) sandbox: bool,
    /// A file or directory that the program can read (with --sandbox)
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) read: Vec<PathBuf>,
    /// A file or directory that the program can change (with --sandbox)
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) write: Vec<PathBuf>,
    /// Allow the program to open network connections (with --sandbox)
    #[arg(long, requires = "sandbox")]
    pub(crate) network: bool,
    /// List only these tools, by the server's own names; * stands for any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<ToolPattern>,
    /// Do not list these tools
    #[arg(long, value_name = "PATTERN")]
    pub(crate) except: Vec<ToolPattern>,
    /// Trust the server: its results count as the operator's, and its tool annotations are believed
    #[arg(long)]
    pub(crate) trusted: bool,
    /// Allow the server to ask its callers for input
    #[arg(long)]
    pub(crate) interactive: bool,
    /// The protocol era to speak: legacy is 2025-11-25 and earlier, modern is 2026-07-28 [default: auto]
    #[arg(long, value_parser = PossibleValuesParser::new(["auto", "legacy", "modern"]).map(|word| protocol(&word)))]
    pub(crate) protocol: Option<McpProtocol>,
    /// What to do when the definition of a tool changes [default: warn]
    #[arg(long, value_parser = PossibleValuesParser::new(["warn", "quarantine"]).map(|word| on_change(&word)))]
    pub(crate) on_change: Option<OnChange>,
    /// What to do with tools that the server did not have at first [default: list]
    #[arg(long, value_parser = PossibleValuesParser::new(["list", "hold"]).map(|word| new_tools(&word)))]
    pub(crate) new_tools: Option<NewTools>,
    /// Seconds a call may take without progress [default: 30]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
    /// Seconds the server may take to start [default: 60]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) startup_timeout: Option<u64>,
    /// Replace an existing server of the same name
    #[arg(long)]
    pub(crate) replace: bool,
    /// The name of a server of the registry here [default: the last part of its name]
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) name_here: Option<ServerName>,
    /// A value that a server of the registry asks for, by the name of its argument; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) input: Vec<String>,
    /// Add a server of the registry without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// The transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Stdio,
    Http,
    Sse,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The program to import from, by its name in `openfang connect --list`, or a file [default: all found]
    #[arg(long, value_name = "WHAT")]
    pub(crate) from: Option<String>,
    /// Write config.toml without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Write tokens to config.toml in clear, instead of storing them as secrets
    #[arg(long)]
    pub(crate) keep_tokens: bool,
}

fn protocol(word: &str) -> McpProtocol {
    match word {
        "legacy" => McpProtocol::Legacy,
        "modern" => McpProtocol::Modern,
        _ => McpProtocol::Auto,
    }
}

fn on_change(word: &str) -> OnChange {
    if word == "quarantine" { OnChange::Quarantine } else { OnChange::Warn }
}

fn new_tools(word: &str) -> NewTools {
    if word == "hold" { NewTools::Hold } else { NewTools::List }
}
