//! The arguments of `openfang event`.

use clap::Subcommand;
use openfang_types::ids::EventType;

#[derive(Debug, Subcommand)]
pub(crate) enum EventCommand {
    /// Publish an event to triggers, hooks and followers
    #[command(after_help = "Example:\n  openfang event publish build.failed '{\"branch\": \"main\"}'")]
    Publish {
        /// What happened: small letters, digits, and . _ -
        #[arg(value_name = "TYPE")]
        event_type: EventType,
        /// A JSON value; other text is published as a string
        payload: Option<String>,
    },
    /// List your latest events, the newest first
    #[command(after_help = "Example:\n  openfang event list --type build.failed")]
    List {
        /// Only events of this type
        #[arg(long = "type", value_name = "TYPE")]
        event_type: Option<EventType>,
        /// Only events before the one with this number
        #[arg(long, value_name = "NUMBER")]
        before: Option<u64>,
    },
    /// Print your events as they are published, until Ctrl-C
    #[command(after_help = "Example:\n  openfang event follow")]
    Follow,
}
