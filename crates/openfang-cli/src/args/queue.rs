//! The arguments of `openfang queue`.

use clap::Subcommand;
use openfang_types::ids::AgentName;

#[derive(Debug, Subcommand)]
pub(crate) enum QueueCommand {
    /// List tasks of the queue, the newest first
    #[command(after_help = "Example:\n  openfang queue list --status pending")]
    List {
        /// Only tasks with this status
        #[arg(long, value_parser = ["pending", "in_progress", "completed", "failed", "dead"])]
        status: Option<String>,
        /// Only tasks posted before the task with this id
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Post a task to the queue
    #[command(
        after_help = "Example:\n  openfang queue post 'Check links' 'Check the links of docs/, list broken ones'"
    )]
    Post {
        /// What is to be done, in a few words
        title: String,
        /// All that a worker needs to know
        description: String,
        /// The only agent that may claim it
        #[arg(long, value_name = "AGENT")]
        assign: Option<AgentName>,
        /// Tasks with a higher priority are claimed first
        #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
        priority: i32,
    },
    /// Claim the next task
    #[command(after_help = "Example:\n  openfang queue claim --lease-secs 3600")]
    Claim {
        /// Seconds until the task is given to another worker
        #[arg(long, value_name = "SECONDS")]
        lease_secs: Option<u64>,
    },
    /// Complete a claimed task
    #[command(
        after_help = "Example:\n  openfang queue complete 0199c0de-0000-7000-8000-000000000001 'no broken links'"
    )]
    Complete {
        /// The id of the task
        id: String,
        /// What came of the work
        result: String,
        /// The work has failed
        #[arg(long)]
        failed: bool,
        /// The attempt that the claim returned
        #[arg(long, value_name = "N")]
        attempt: Option<u32>,
    },
}
