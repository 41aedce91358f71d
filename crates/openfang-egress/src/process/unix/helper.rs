//! The other side: our own binary, started as `__child` or `__reaper`. Both get their connection to us as stdin and do
//! nothing without it, so they cannot be used by hand.

mod become_program;
#[cfg(target_os = "linux")]
mod enter_sandbox;
mod limit;
mod reaper;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod syscalls;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::{AsFd, RawFd};
use std::process::ExitCode;

/// The argument that makes our binary a child to be.
pub(super) const CHILD: &str = "__child";
/// The argument that makes our binary the reaper.
pub(super) const REAPER: &str = "__reaper";

/// The first descriptor after stdin, stdout and stderr.
const FIRST_OWN: RawFd = 3;
/// As in sysexits.h: a helper was run by hand.
const USAGE: u8 = 64;

/// Runs a helper if the arguments (without the program's name) ask for one. Call this first in `main`, because a helper
/// must be single-threaded.
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.into_iter().next()?;
    let helper: fn() -> ExitCode = match first.to_str()? {
        CHILD => become_program::run,
        REAPER => reaper::run,
        _ => return None,
    };
    not_dumpable();
    if !stdin_is_a_socket() {
        let _ = writeln!(std::io::stderr(), "{} is for openfang itself; see `openfang --help`", first.display());
        return Some(ExitCode::from(USAGE));
    }
    Some(helper())
}

/// Prevents other processes of the same user from reading our memory, environment and descriptors, and disables core
/// files. It does not apply to a program that replaces this process.
pub fn not_dumpable() {
    // No known kernel refuses this. Without it the process works too.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Marks all our descriptors close-on-exec. Those we opened are marked already; inherited ones are not.
pub(super) fn keep_descriptors_from_children() {
    close_fds::set_fds_cloexec(FIRST_OWN, &[]);
}

fn stdin_is_a_socket() -> bool {
    rustix::net::sockopt::socket_type(std::io::stdin().as_fd()).is_ok()
}
