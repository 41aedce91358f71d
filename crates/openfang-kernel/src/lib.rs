//! The composition root: it reads the home, puts the parts together, and knows who may do what.
//!
//! [`Kernel`] is the handle everybody holds; its fields are private. Nothing here knows HTTP, the command line or the
//! JSON of a protocol.

pub mod a2a;
mod access;
mod accounts;
mod boot;
mod cancel;
mod cards;
mod change;
mod delegate;
mod drain;
mod error;
mod execute_tool;
pub mod gateway;
mod integrity;
mod kernel;
mod keys;
pub mod maintenance;
pub mod mcp;
pub mod mcp_control;
mod mcp_metrics;
mod outward;
mod policy;
mod push;
mod recovery;
mod resend;
mod room;
mod run;
mod session_journal;
mod settings;
mod store_metrics;
mod streams;
mod system;
mod task_list;
mod task_log;
mod tasks;
mod upstreams;
pub mod users;

pub use access::{AuthError, Caller, PeerKind};
pub use boot::{Boot, BootError, check_agents};
pub use change::ChangeError;
pub use error::KernelError;
pub use integrity::DatabaseCheck;
pub use kernel::Kernel;
pub use policy::Explanation;
pub use room::AnswerRoom;
pub(crate) use settings::agents;
pub use settings::{config_edit, config_file, home, strict_toml};
pub use streams::{Begin, Follow, StreamRoom, TaskStream};
pub use system::{SystemClock, SystemIds};
pub use task_list::{ListedTasks, TaskFilter};
pub use tasks::Reply;

pub use openfang_a2a::card::{CardDocument, CardForm};
pub use openfang_runtime::agents::AgentSummary;
pub use openfang_runtime::answerer::Refusal;
pub use openfang_runtime::pipeline::{Hidden, ToolCall, ToolError};
pub use openfang_runtime::tools::{Tool, ToolFailure, ToolFuture};
