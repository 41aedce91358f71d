//! The A2A wire protocol: each version is a codec over one model, plus the server core and agent cards. The crate can
//! be used on its own.
//!
//! [`dialect`] reads and writes requests and answers in every version, for servers and clients. [`operation`] is a
//! request in the common model, [`answer`] a server's answer to it and [`error`] a server's refusal. [`peer`] is what a
//! client reads. [`card`] has the agent cards. [`client`] asks agents of other servers. [`server`] answers requests with the help of a [`host`]. [`task_store`]
//! is a small in-memory store for programs that have none.

pub mod answer;
pub mod card;
pub mod client;
pub mod dialect;
pub mod error;
pub mod host;
pub mod operation;
pub mod peer;
pub mod server;
pub mod task_store;

pub use card::{AgentCapabilities, AgentCard, AgentSkill, build_agent_card};
pub use client::{A2aClient, discover_external_agents};
