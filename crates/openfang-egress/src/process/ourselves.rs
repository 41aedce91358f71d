//! Starts this program again: in place of itself with further variables, or beside itself in the background.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Marks a process that was started again with further variables.
const AGAIN: &str = "OPENFANG_ARGUMENT_VARIABLES";

/// The file of the binary that runs, also if it was replaced since. If the system does not say, the path does not exist.
pub fn our_binary() -> PathBuf {
    if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe().unwrap_or_default() }
}

/// A copy of this program that outlives it.
#[derive(Debug)]
pub struct BackgroundProcess(Child);

impl BackgroundProcess {
    /// Starts this program with these arguments and variables beside our own, in a process group of its own. It reads
    /// nothing and writes to `log`.
    #[expect(clippy::disallowed_methods, reason = "it is this program, and outlives us on purpose")]
    pub fn start(arguments: &[OsString], variables: &[(&str, &str)], log: &File) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(Self)
    }

    /// Whether it has ended, and with which code.
    pub fn ended(&mut self) -> io::Result<Option<Option<i32>>> {
        Ok(self.0.try_wait()?.map(|status| status.code()))
    }
}

/// Starts this program in place of itself, with these variables beside those that are set. Returns if there is nothing to
/// add, or if it was done before.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "our own environment is extended, for ourselves")]
pub fn restart_with_variables(variables: &BTreeMap<String, String>) -> io::Result<()> {
    use std::os::unix::process::CommandExt as _;

    let missing: Vec<_> = variables.iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    if missing.is_empty() || std::env::var_os(AGAIN).is_some() {
        return Ok(());
    }
    let mut words = std::env::args_os();
    let mut again = Command::new(std::env::current_exe()?);
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    // Returns only on failure.
    Err(again.args(words).envs(missing).env(AGAIN, "1").exec())
}

#[cfg(not(unix))]
pub fn restart_with_variables(_: &BTreeMap<String, String>) -> io::Result<()> {
    Err(io::Error::other("a file of variables works on unix only"))
}
