//! Hides our own arguments. Every user of a machine can read command lines, and a process cannot remove words from its
//! own. So the program restarts itself with only its name and the command on the command line, and passes the arguments
//! in its environment, which only its user can read.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// How many arguments there are.
const COUNT: &str = "OPENFANG_ARGUMENTS";
/// An argument, by its number.
const ONE: &str = "OPENFANG_ARGUMENT_";
const OURSELVES: &str = "/proc/self/exe";

/// Our arguments, starting with the program's name. If the restart fails they stay on the command line.
#[expect(clippy::disallowed_methods, reason = "these variables are ours: we set them for ourselves")]
pub fn hidden_arguments() -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().collect();
    if let ([program], Some(count)) = (&given[..], std::env::var_os(COUNT)) {
        let count: usize = count.to_str().and_then(|count| count.parse().ok()).unwrap_or(0);
        let kept = (0..count).map_while(|number| std::env::var_os(format!("{ONE}{number}")));
        let name = program.to_str().and_then(|shown| shown.split(' ').next()).unwrap_or("openfang");
        return std::iter::once(OsString::from(name)).chain(kept).collect();
    }
    let Some((program, arguments)) = given.split_first().filter(|(_, arguments)| !arguments.is_empty()) else {
        return given;
    };
    let mut again = Command::new(OURSELVES);
    again.arg0(shown(program, arguments)).env(COUNT, arguments.len().to_string());
    for (number, argument) in arguments.iter().enumerate() {
        again.env(format!("{ONE}{number}"), argument);
    }
    // Returns only on failure.
    let error = again.exec();
    tracing::debug!(%error, "our arguments stay on the command line");
    given
}

/// What `ps` shows: the program and the command.
fn shown(program: &OsStr, arguments: &[OsString]) -> OsString {
    let is_command = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words = arguments.iter().filter_map(|argument| argument.to_str());
    let mut shown = program.to_owned();
    // An invalid command ends with an error soon, so it does not matter what is shown.
    if let Some(command) = words.take(8).filter(|word| !word.starts_with('-')).find(is_command) {
        shown.push(" ");
        shown.push(command);
    }
    shown
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
