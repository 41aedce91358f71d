//! The door on Linux. `door.rs` takes orders; `launcher.rs` is the one lasting thread that starts and buries, with
//! `reaper_link.rs` as its line to the reaper; `supervisor.rs` is the task beside each child and `child.rs` its
//! handle; `control.rs` is what we and the child say to each other before it becomes the program; `helper/` runs on the
//! other side.
//!
//! A child's number is ours until we reap it, so the order at its end is fixed: kill the group and the control group,
//! clear away, tell the reaper, reap.

mod arguments;
mod cgroup;
mod child;
mod control;
mod door;
mod helper;
mod launcher;
mod reaper_link;
mod rubble;
mod stdin;
mod supervisor;
mod ward;

pub use arguments::hidden_arguments;
pub use child::{Child, Stdout};
pub use door::ProcessDoor;
pub use helper::{helper_main, not_dumpable};
pub use stdin::Stdin;
