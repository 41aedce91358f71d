//! The Linux implementation. `door.rs` accepts launches. `launcher.rs` is the one long-lived thread that starts and
//! reaps children, with `reaper_link.rs` as its connection to the reaper. `supervisor.rs` is the task of each child and
//! `child.rs` its handle. `control.rs` is the protocol with a child before it becomes the program. `helper/` runs
//! inside the child.
//!
//! The pid of a child stays reserved until we reap it, so the order at its end is fixed: kill the process group and the
//! control group, clean up, tell the reaper, reap.

mod arguments;
mod cgroup;
mod child;
mod child_resources;
mod control;
mod door;
mod helper;
mod launcher;
mod reaper_link;
mod rubble;
mod stdin;
mod supervisor;

pub use arguments::hidden_arguments;
pub use child::{Child, Stdout};
pub use door::ProcessDoor;
pub use helper::{helper_main, not_dumpable};
pub use stdin::Stdin;
