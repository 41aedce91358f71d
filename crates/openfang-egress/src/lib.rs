//! The doors out of the house. Whatever leaves the process goes through one of them.
//!
//! [`daemon`] leads from the command line to its own daemon, and nowhere else. [`http`] leads to URLs; [`url`] makes
//! them and says who may reach what, by the one table in [`address`]. [`sse`] reads event streams for both. [`process`]
//! starts programs. [`pace`] says how fast a peer is read that says too much.

pub mod address;
pub mod daemon;
pub mod http;
pub mod pace;
pub mod process;
pub mod resolve;
pub mod sse;
pub mod url;
