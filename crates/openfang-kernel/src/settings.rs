//! The settings: the files that the operator writes, how they are read, and what is in force.
//!
//! `home` is where the files lie, `config_file` reads `config.toml` with what overlays it, `agents` the agents,
//! `providers` how their models are reached,
//! `strict_toml` says where a fault is, `config_edit` changes the list of MCP servers as text.
//! `snapshot` is what is in force, and `live` holds it. `reading` reads the files again, `differences` compares, `watching` sees
//! whether they were written. The kernel puts them into force, because other rooms follow.

mod admin_key;
pub(crate) mod agents;
pub(crate) mod card_key;
pub mod config_edit;
pub mod config_file;
pub(crate) mod differences;
pub mod home;
mod live;
pub(crate) mod providers;
pub(crate) mod reading;
mod snapshot;
pub mod strict_toml;
mod watching;

pub(crate) use admin_key::AdminKey;
pub(crate) use live::{LiveSettings, SettingsMetrics};
pub(crate) use snapshot::{Settings, no_default};
pub(crate) use watching::FileMarks;
