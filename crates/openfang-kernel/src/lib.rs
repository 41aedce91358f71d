//! The composition root: it reads the home, puts the parts together, and knows who may do what.
//!
//! [`Kernel`] is the handle everybody holds; its fields are private. Nothing here knows HTTP, the command line or the
//! JSON of a protocol.

mod access;
pub mod approvals;
mod boot;
mod chain;
mod change;
mod doors;
mod drain;
mod error;
mod events;
mod execute_tool;
mod integrity;
mod kernel;
pub mod maintenance;
mod mcp_metrics;
mod model_setup;
mod outward;
mod peers;
mod program_access;
pub mod schedules;
mod session_journal;
mod settings;
mod store_metrics;
mod system;
mod tasks;
mod unmatched;
mod web;

pub use access::answer_room::AnswerRoom;
pub use access::{AuthError, Caller, PeerKind, users, vault};
pub use boot::{Boot, BootError, check_agents, known_tools};
pub use chain::Arrival;
pub use change::ChangeError;
pub use doors::{a2a, gateway, mcp};
pub use error::KernelError;
pub use events::EventFeed;
pub use execute_tool::{Explanation, GrantMeaning, ProgramRules};
pub use integrity::DatabaseCheck;
pub use kernel::{Kernel, UsageWanted};
pub use model_setup::{
    MissingKey, UsableModel, check_model, first_usable_model, known_models, missing_key, missing_keys,
    usual_key_variables,
};
pub use outward::http_door;
pub use peers::{external_control, mcp_control, skill_control};
pub use settings::{config_edit, config_file, home, strict_toml};
pub use system::{SystemClock, SystemIds};
pub use tasks::context::Way;
pub use tasks::list::{ListedTasks, TaskFilter};
pub use tasks::push_hints::{PushProof, PushRefusal};
pub use tasks::streams::{Begin, Follow, FollowedReply, StreamRoom, TaskStream};
pub use unmatched::unmatched_in_profiles;

pub use openfang_a2a::card::{CardDocument, CardForm};
pub use openfang_runtime::answerer::{Refusal, questions};
pub use openfang_runtime::context::WayBack;
pub use openfang_runtime::pipeline::{Hidden, ToolCall, ToolError};
pub use openfang_runtime::tools::{Tool, ToolFailure, ToolFuture};
pub use openfang_types::agent::AgentSummary;
pub use openfang_types::api::Reply;
