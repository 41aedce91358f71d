//! The Model Context Protocol on the wire, in all its revisions.
//!
//! [`revision`] is the table of what each revision has; nobody compares version strings elsewhere. [`server`] answers
//! messages without knowing a transport; [`server::stdio`] and [`server::http`] are two doors to it. What is offered
//! behind it is a [`host::Host`]: it speaks the newest revision, and the server translates for older peers. [`client`] is
//! the other side: it connects to any server and speaks what that speaks. [`relaying`] is for whoever passes frames on
//! without answering them.

mod call_task;
pub mod capabilities;
pub mod client;
mod client_name;
pub mod content;
pub mod counts;
pub mod error;
pub mod framing;
mod header_text;
pub mod host;
pub mod listing;
pub mod meta;
pub mod naming;
pub mod relaying;
pub mod revision;
pub mod server;
pub mod skills;

pub use call_task::{CallTask, CallTaskState, TASKS_EXTENSION};
pub use client_name::ClientName;
pub use error::McpError;
pub use host::Host;
pub use revision::{Era, Revision};
pub use server::Server;
