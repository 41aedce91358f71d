//! The registry of MCP servers: finding servers, and making entries of what their authors published.
//!
//! `client` asks the registry, `published` reads documents that lie elsewhere, `document` is what is in them, `entry` makes an entry of it. Documents are written by
//! strangers: references to variables and secrets of this machine, variables that change how programs start, and options
//! that open a container are refused. The version is always pinned.

pub(crate) use client::{Registry, encoded};
pub(crate) use document::{Listed, Publication};
pub(crate) use entry::{Inputs, Missing, new_entry};
pub(crate) use published::{file, published};
pub(crate) use reference::{AddTarget, RegistryRef};

mod client;
mod document;
mod entry;
mod published;
mod reference;
