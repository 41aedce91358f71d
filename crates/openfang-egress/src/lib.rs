//! The doors out of the house. Whatever leaves the process by network goes through one of them.
//!
//! [`daemon`] leads from the command line to its own daemon, and nowhere else.

pub mod daemon;
