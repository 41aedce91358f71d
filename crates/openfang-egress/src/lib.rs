//! Outbound access. Everything that leaves the process goes through one of these modules.
//!
//! [`daemon`] connects the command line to its own daemon and to nothing else. [`http`] sends requests to URLs. [`url`]
//! makes URLs and decides who may reach what, by the table in [`address`]. [`sse`] reads event streams for both.
//! [`process`] starts programs. [`pace`] limits the read rate of a peer that sends too much.

pub mod address;
pub mod daemon;
pub mod http;
pub mod pace;
pub mod process;
pub mod resolve;
pub mod sse;
pub mod url;
