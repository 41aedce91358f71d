//! The arguments of `openfang service`, `openfang logs` and `openfang completions`.

use clap::{Args, Subcommand};
use clap_complete::Shell;

/// Whose service it is.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ServiceScope {
    /// A service of the whole machine, with a user of its own, instead of a service of this user (Linux, as root)
    #[arg(long)]
    pub(crate) system: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Install the daemon as a service, and start it
    #[command(
        after_help = "Examples:\n  openfang service install\n  openfang service install --dry-run\n  sudo openfang service install --system"
    )]
    Install {
        #[command(flatten)]
        scope: ServiceScope,
        /// Show the unit and where it would be written, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Write the unit, but do not enable and start it
        #[arg(long)]
        no_start: bool,
    },
    /// Stop the service and remove its unit
    #[command(after_help = "Example:\n  openfang service uninstall")]
    Uninstall {
        #[command(flatten)]
        scope: ServiceScope,
    },
    /// Show whether the service is installed and running (exit code 3 if it is not installed)
    #[command(after_help = "Example:\n  openfang service status")]
    Status {
        #[command(flatten)]
        scope: ServiceScope,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogsArgs {
    /// The number of lines to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) lines: usize,
    /// Print new lines as they are written
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only lines of this level or worse
    #[arg(long, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) level: Option<String>,
    /// Only lines with this trace id
    #[arg(long, value_name = "ID")]
    pub(crate) trace: Option<String>,
    /// Only lines about this MCP server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete commands in
    pub(crate) shell: Shell,
    /// Write the script where the shell finds it, instead of printing it
    #[arg(long)]
    pub(crate) install: bool,
    /// Show which file would be written
    #[arg(long, requires = "install")]
    pub(crate) dry_run: bool,
    /// Remove the file that --install wrote
    #[arg(long, conflicts_with_all = ["install", "dry_run"])]
    pub(crate) undo: bool,
}
