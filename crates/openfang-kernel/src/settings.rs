//! The settings: the files that the operator writes, how they are read, and what is in force.
//!
//! `home` is where the files lie, `config_file` reads `config.toml` with what overlays it, `agents` the agents,
//! `strict_toml` says where a fault is, `config_edit` changes the list of MCP servers as text.
//! `snapshot` is what is in force, and `live` holds it. `reload` reads the files again (`reading`), compares (`differences`)
//! and replaces; `watching` looks whether they were written.

mod admin_key;
pub(crate) mod agents;
pub(crate) mod card_key;
pub mod config_edit;
pub mod config_file;
mod differences;
pub mod home;
mod live;
mod reading;
mod reload;
mod snapshot;
pub mod strict_toml;
mod watching;

pub(crate) use admin_key::AdminKey;
pub(crate) use live::{LiveSettings, SettingsMetrics};
pub(crate) use snapshot::{Settings, no_default};
