//! The arguments of `openfang task`.

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use openfang_types::ids::{AgentName, Owner};
use openfang_types::task::TaskState;

use crate::task_ref::TaskRef;

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List your tasks, latest change first
    #[command(
        after_help = "Examples:\n  openfang task list --agent starter --state completed\n  openfang task list --all"
    )]
    List(TaskListArgs),
    /// Show the messages and results of a task
    #[command(after_help = "Example:\n  openfang task show last")]
    Show {
        /// The id of the task, its beginning or its end, or `last`
        id: TaskRef,
        #[command(flatten)]
        whose: WhoseArgs,
    },
    /// Watch a task until it ends; exit code 1 if it fails
    #[command(after_help = "Example:\n  openfang task watch 0199c0de-0000-7000-8000-000000000001 --json")]
    Watch {
        /// The id of the task, its beginning or its end, or `last`
        id: TaskRef,
        #[command(flatten)]
        whose: WhoseArgs,
    },
    /// Cancel a running task
    #[command(after_help = "Example:\n  openfang task cancel 0199c0de-0000-7000-8000-000000000001")]
    Cancel {
        /// The id of the task, its beginning or its end, or `last`
        id: TaskRef,
        #[command(flatten)]
        whose: WhoseArgs,
    },
}

/// Whose tasks are meant.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WhoseArgs {
    /// Ask in the place of this user; for the operator
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<Owner>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TaskListArgs {
    #[command(flatten)]
    pub(crate) whose: WhoseArgs,
    /// List the tasks of all users, each with its user; for the operator
    #[arg(long, conflicts_with = "user")]
    pub(crate) all: bool,
    /// Only tasks in this state
    #[arg(long, value_parser = PossibleValuesParser::new(TaskState::ALL.map(TaskState::as_str))
        .try_map(|word| TaskState::from_word(&word).ok_or("not a state")))]
    pub(crate) state: Option<TaskState>,
    /// Only tasks of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<AgentName>,
    /// The maximum number of tasks to list
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}
