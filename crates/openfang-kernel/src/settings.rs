//! The settings: the files that the operator writes, how they are read, and what is in force.
//!
//! `home` is where the files lie, `config_file` reads `config.toml` with what overlays it, `agents` the agents,
//! `strict_toml` says where a fault is, `config_edit` changes the list of MCP servers as text.
//! `snapshot` is what is in force, and `live` holds it.

pub(crate) mod agents;
pub mod config_edit;
pub mod config_file;
pub mod home;
mod live;
mod snapshot;
pub mod strict_toml;

pub(crate) use live::LiveSettings;
pub(crate) use snapshot::{Settings, no_default};
