//! `openfang mcp`: by itself the MCP server; with a command, what looks after the MCP servers of the house.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Subcommand, ValueEnum};
use openfang_types::config::{McpProtocol, OnChange};
use openfang_types::ids::{AgentName, ServerName};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve: show the tools too, not only the agents
    #[arg(long)]
    pub(crate) tools: bool,
    /// Serve: show one agent only, and with --tools those that it can use
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Connect to an MCP server, and write it into config.toml
    #[command(
        after_help = "Examples:\n  openfang mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/projects\n  openfang mcp add github -e GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y @modelcontextprotocol/server-github\n  openfang mcp add docs --url https://mcp.example.org/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'"
    )]
    Add(McpAddArgs),
    /// List the MCP servers and how they are doing
    #[command(after_help = "Example:\n  openfang mcp list")]
    List,
    /// Show one MCP server and its tools
    #[command(after_help = "Example:\n  openfang mcp show files")]
    Show {
        /// Which server
        name: ServerName,
    },
    /// Connect to an MCP server anew and say how that went; exit code 1 if it cannot be used
    #[command(after_help = "Example:\n  openfang mcp test files")]
    Test {
        /// Which server
        name: ServerName,
    },
    /// Connect to an MCP server anew (needs a daemon)
    #[command(after_help = "Example:\n  openfang mcp restart files")]
    Restart {
        /// Which server
        name: ServerName,
    },
    /// Let an MCP server go, and take it out of config.toml
    #[command(after_help = "Example:\n  openfang mcp remove files")]
    Remove {
        /// Which server
        name: ServerName,
    },
    /// Print what an MCP server wrote to its standard error, and what was noted about it (needs a daemon)
    #[command(after_help = "Example:\n  openfang mcp logs files -n 50")]
    Logs {
        /// Which server
        name: ServerName,
        /// Only the last lines
        #[arg(short = 'n', long, value_name = "N")]
        lines: Option<usize>,
    },
    /// Bring back tools that wait because their definition changed: one, or all of a server (needs a daemon)
    #[command(after_help = "Examples:\n  openfang mcp approve files\n  openfang mcp approve files read_file")]
    Approve {
        /// Which server
        name: ServerName,
        /// Which of its tools, as the server calls it
        tool: Option<String>,
    },
    /// Take over the MCP servers of other programs; shows them first
    #[command(
        after_help = "Examples:\n  openfang mcp import\n  openfang mcp import --from cursor --yes\n  openfang mcp import --from servers.json"
    )]
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct McpAddArgs {
    /// What it is called; its tools are listed as mcp_NAME_TOOL
    pub(crate) name: ServerName,
    /// Where it is, if it is reached over the network
    #[arg(value_name = "URL", conflicts_with = "url")]
    pub(crate) place: Option<String>,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["url", "place", "header"])]
    pub(crate) words: Vec<String>,
    /// Where it is, if it is reached over the network
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// How it is reached [default: stdio for a program, http for a URL]
    #[arg(long, short, value_enum)]
    pub(crate) transport: Option<Transport>,
    /// A variable of the program: NAME passes ours on, NAME=VALUE sets it; ${VAR} in a value is one of ours
    #[arg(short, long, value_name = "NAME[=VALUE]", conflicts_with_all = ["url", "place"])]
    pub(crate) env: Vec<String>,
    /// A header of every request: 'NAME: VALUE'; ${VAR} in a value is one of our variables
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Its results count as your own, and its claims about its tools are believed
    #[arg(long)]
    pub(crate) trusted: bool,
    /// It may ask whoever calls it
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Which family of the protocol is spoken [default: auto]
    #[arg(long, value_parser = PossibleValuesParser::new(["auto", "legacy", "modern"]).map(|word| protocol(&word)))]
    pub(crate) protocol: Option<McpProtocol>,
    /// What happens when the definition of a tool changes [default: warn]
    #[arg(long, value_parser = PossibleValuesParser::new(["warn", "quarantine"]).map(|word| on_change(&word)))]
    pub(crate) on_change: Option<OnChange>,
    /// Seconds a call may take without a sign of progress [default: 30]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
    /// Seconds it may take to start [default: 60]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) startup_timeout: Option<u64>,
    /// Take the place of a server of the same name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Stdio,
    Http,
    Sse,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Whose servers: claude-desktop, claude-code, cursor, vscode, codex, windsurf, zed, or a file [default: all found]
    #[arg(long, value_name = "WHAT")]
    pub(crate) from: Option<String>,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
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
