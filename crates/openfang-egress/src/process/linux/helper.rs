//! The other side: our own binary, started again as `__child` or `__reaper`. Both find their line to us in the place of
//! their stdin and do nothing without it, so nobody can use them by hand.

mod become_program;
mod limit;
mod reaper;
mod seccomp;
mod syscalls;
mod walls;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::{AsFd, RawFd};
use std::process::ExitCode;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// The argument that makes our binary a child to be.
pub(super) const CHILD: &str = "__child";
/// The argument that makes our binary the reaper.
pub(super) const REAPER: &str = "__reaper";

/// The first descriptor that is none of the three everybody has.
const FIRST_OWN: RawFd = 3;
/// As in sysexits.h: a helper was run by hand.
const USAGE: u8 = 64;

/// Runs a helper if the arguments (without the program's name) ask for one. To be called before anything else in
/// `main`, since the helper must have one thread only.
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

/// Keeps other processes of the same user out of our memory, environment and descriptors, and core files from being
/// written. A program that we become starts afresh.
pub fn not_dumpable() {
    // Refused nowhere that we know; a process that cannot hide works all the same.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Marks every descriptor of ours so that the next program does not get it. Whatever we opened is marked already; what
/// whoever started us left open is not.
pub(super) fn keep_descriptors_from_children() {
    close_fds::set_fds_cloexec(FIRST_OWN, &[]);
}

fn stdin_is_a_socket() -> bool {
    rustix::net::sockopt::socket_type(std::io::stdin().as_fd()).is_ok()
}
