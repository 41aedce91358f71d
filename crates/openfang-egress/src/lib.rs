//! The doors out of the house. Whatever leaves the process goes through one of them.
//!
//! [`daemon`] leads from the command line to its own daemon, and nowhere else. [`process`] starts programs.

pub mod daemon;
pub mod process;
