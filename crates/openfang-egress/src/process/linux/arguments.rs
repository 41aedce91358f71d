//! Our own arguments. Every user of a machine can read a command line, and no process can take words back from its own;
//! so we start once more with nothing on it but our name and the command, and the arguments in our environment, which
//! only we can read.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// How many arguments there are.
const COUNT: &str = "OPENFANG_ARGUMENTS";
/// An argument, by its number.
const ONE: &str = "OPENFANG_ARGUMENT_";
const OURSELVES: &str = "/proc/self/exe";

/// Our arguments, with the program's name first. Where we cannot start once more they stay on the command line.
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
    // Returns only when it did not work.
    let error = again.exec();
    tracing::debug!(%error, "our arguments stay on the command line");
    given
}

/// What `ps` shows: the program and the command.
fn shown(program: &OsStr, arguments: &[OsString]) -> OsString {
    let is_command = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let words = arguments.iter().filter_map(|argument| argument.to_str());
    let mut shown = program.to_owned();
    // What is no command ends with an error and shows nothing for long.
    if let Some(command) = words.take(8).filter(|word| !word.starts_with('-')).find(is_command) {
        shown.push(" ");
        shown.push(command);
    }
    shown
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
