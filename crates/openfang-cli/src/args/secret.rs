//! The arguments of `openfang secret`. A value is never one of them: every process of the machine could read it.

use clap::Subcommand;
use openfang_kernel::vault::SecretUser;
use openfang_types::ids::SecretName;

#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Store a secret, or replace its value; the value is asked for, or read from standard input
    ///
    /// Entries in config.toml refer to it as ${secret:NAME}, in headers, env and URLs, for example
    /// `openfang mcp add github --env 'GITHUB_TOKEN=${secret:GITHUB_TOKEN}' -- github-mcp-server stdio`. The server, agent or provider of
    /// models that uses a secret first is bound to it.
    #[command(
        after_help = "Examples:\n  openfang secret set GITHUB_TOKEN\n  openfang secret set GITHUB_TOKEN < token.txt"
    )]
    Set {
        /// The name of the secret
        name: SecretName,
    },
    /// List secrets, who uses them and when they were used last; values are never shown
    #[command(after_help = "Example:\n  openfang secret list")]
    List,
    /// Remove a secret; servers and agents that use it are disconnected
    #[command(after_help = "Example:\n  openfang secret remove GITHUB_TOKEN")]
    Remove {
        /// The name of the secret
        name: SecretName,
    },
    /// Give a secret to one more server, agent or provider, at the address or program that its entry has now
    #[command(after_help = "Example:\n  openfang secret allow GITHUB_TOKEN server:github-work")]
    Allow {
        /// The name of the secret
        name: SecretName,
        /// server:NAME (an MCP server), agent:NAME (an A2A agent) or provider:NAME (a provider of models)
        user: SecretUser,
    },
}
