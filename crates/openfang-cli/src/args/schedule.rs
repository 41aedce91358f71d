//! The arguments of `openfang schedule`.

use clap::Subcommand;
use openfang_types::ids::{AgentName, ScheduleId};

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Schedule a message to an agent
    #[command(after_help = "Examples:
  openfang schedule create 'Check the links of docs/' 'weekdays at 9:30am' --time-zone Europe/Berlin
  openfang schedule create 'Say what is new' '*/30 8-18 * * 1-5' --agent writer
  openfang schedule create 'Remind me of the release' 'in 2 hours'")]
    Create {
        /// What the agent is told each time
        description: String,
        /// When: a phrase, a cron expression of five fields, or @daily
        schedule: String,
        /// The agent that is told; the default agent if left out
        #[arg(long)]
        agent: Option<AgentName>,
        /// The time zone, such as Europe/Berlin
        #[arg(long, value_name = "NAME")]
        time_zone: Option<String>,
    },
    /// List your schedules, the newest first
    #[command(after_help = "Example:\n  openfang schedule list")]
    List,
    /// Show a schedule with its whole description
    #[command(after_help = "Example:\n  openfang schedule show 0199c0de-0000-7000-8000-000000000001")]
    Show {
        /// The id of the schedule
        id: ScheduleId,
    },
    /// Delete a schedule; a run that is under way goes on
    #[command(after_help = "Example:\n  openfang schedule delete 0199c0de-0000-7000-8000-000000000001")]
    Delete {
        /// The id of the schedule
        id: ScheduleId,
    },
    /// Pause a schedule until it is resumed
    #[command(after_help = "Example:\n  openfang schedule pause 0199c0de-0000-7000-8000-000000000001")]
    Pause {
        /// The id of the schedule
        id: ScheduleId,
    },
    /// Resume a schedule that is paused
    #[command(after_help = "Example:\n  openfang schedule resume 0199c0de-0000-7000-8000-000000000001")]
    Resume {
        /// The id of the schedule
        id: ScheduleId,
    },
    /// Run a schedule now, and wait for the end of the run
    #[command(after_help = "Example:\n  openfang schedule run 0199c0de-0000-7000-8000-000000000001")]
    Run {
        /// The id of the schedule
        id: ScheduleId,
    },
}
