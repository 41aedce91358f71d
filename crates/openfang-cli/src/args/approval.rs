//! The arguments of `openfang approval`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalCommand {
    /// List calls that wait for a decision
    #[command(after_help = "Examples:\n  openfang approval list\n  openfang approval list --all --json")]
    List {
        /// Also list calls that were decided or have expired
        #[arg(long)]
        all: bool,
    },
    /// Show a call: the tool, all its arguments, and what led to the question
    #[command(after_help = "Example:\n  openfang approval show 3f2a")]
    Show {
        /// The id, or the beginning of it
        id: String,
    },
    /// Approve a call, once; it is shown, and made as it is shown
    ///
    /// The approval is for this one call with these arguments. It lasts for 15 minutes. A call that executes can only be approved
    /// at the machine of the server.
    #[command(after_help = "Example:\n  openfang approval approve 3f2a")]
    Approve {
        /// The id, or the beginning of it
        id: String,
    },
    /// Deny a call that waits
    #[command(after_help = "Example:\n  openfang approval deny 3f2a")]
    Deny {
        /// The id, or the beginning of it
        id: String,
    },
}
