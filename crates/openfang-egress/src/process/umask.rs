//! The modes of new files. Whatever we make is for our user alone, whatever mask we were started with; programs that we
//! start get the mask back that we were given.

#[cfg(unix)]
use std::sync::OnceLock;

#[cfg(unix)]
use rustix::fs::Mode;

#[cfg(unix)]
static INHERITED: OnceLock<u32> = OnceLock::new();

/// From now on every file of this process has at most mode 0600 and every directory 0700, and no less for its owner. To be
/// called before anything is made, and after the program has started itself anew.
#[cfg(unix)]
pub fn private_files() {
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let _ = INHERITED.set(before.as_raw_mode());
}

/// Modes are not of this kind here.
#[cfg(not(unix))]
pub fn private_files() {}

/// The mask that we were started with, where we have set one of our own.
#[cfg(target_os = "linux")]
pub(super) fn inherited_umask() -> Option<u32> {
    INHERITED.get().copied()
}
