//! The modes of new files. Files that this process creates are private to its user, regardless of the inherited mask.
//! Programs that it starts get the inherited mask back.

#[cfg(unix)]
use std::sync::OnceLock;

#[cfg(unix)]
use rustix::fs::{Mode, RawMode};

#[cfg(unix)]
static INHERITED: OnceLock<RawMode> = OnceLock::new();

/// From now on every file of this process has at most mode 0600 and every directory 0700. Call this before anything is
/// created, and after the program has restarted itself.
#[cfg(unix)]
pub fn private_files() {
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let _ = INHERITED.set(before.as_raw_mode());
}

/// This system has no such modes.
#[cfg(not(unix))]
pub fn private_files() {}

/// The inherited mask, if we have set our own.
#[cfg(unix)]
pub(super) fn inherited_umask() -> Option<RawMode> {
    INHERITED.get().copied()
}
