//! The A2A wire: every version as a codec over one model, the server core, cards. Somebody could use it alone.
//!
//! [`dialect`] is how peers write, for both sides: requests and answers are written and read. [`operation`] is what is
//! asked for; [`answer`] what a server says to it and [`error`] why not; [`peer`] what a client reads of that. [`card`] is
//! what agents say about themselves; [`server`] answers, and [`host`] is what it needs from above. [`task_store`] is a
//! small store for programs that have none.

pub mod answer;
pub mod card;
pub mod dialect;
pub mod error;
pub mod host;
pub mod operation;
pub mod peer;
pub mod server;
pub mod task_store;

pub use card::{AgentCapabilities, AgentCard, AgentSkill, build_agent_card};
