//! The implementation for Unix. `door.rs` accepts launches. `launcher.rs` is the one long-lived thread that starts and
//! reaps children, with `reaper_link.rs` as its connection to the reaper. `supervisor.rs` is the task of each child and
//! `child.rs` its handle. `control.rs` is the protocol with a child before it becomes the program. `helper/` runs
//! inside the child.
//!
//! On Linux there are walls besides (`cgroup.rs`, `helper/enter_sandbox.rs`, `helper/seccomp.rs`), unless children are portable.
//!
//! The pid of a child stays reserved until we reap it, so the order at its end is fixed: kill the process group and the
//! control group, clean up, tell the reaper, reap.

#[cfg(target_os = "linux")]
mod arguments;
mod cgroup;
mod child;
mod child_resources;
mod control;
mod door;
mod end_watch;
mod helper;
mod launcher;
mod reaper_link;
mod rubble;
mod stdin;
mod supervisor;

#[cfg(target_os = "linux")]
pub use arguments::hidden_arguments;
pub use child::{Child, Stdout};
pub use door::ProcessDoor;
pub use helper::{helper_main, not_dumpable};
pub use stdin::Stdin;

/// Our arguments, starting with the program's name. Everybody can read them on this system.
#[cfg(not(target_os = "linux"))]
pub fn hidden_arguments() -> Vec<std::ffi::OsString> {
    std::env::args_os().collect()
}
