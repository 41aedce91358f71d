//! Usage errors as one line, for `--json`. Without `--json`, clap prints its own text.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// Whether `--json` was passed to openfang. Words after `--` belong to another program.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The usage error on one line, without clap's help text.
pub(crate) fn in_a_line(wrong: &clap::Error) -> String {
    if wrong.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing; --help lists the commands".to_owned();
    }
    let text = wrong.to_string();
    let is_ours = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines = text.lines().map(str::trim).take_while(is_ours).filter(|line| !line.is_empty());
    let mut said = String::new();
    for line in lines {
        if !said.is_empty() {
            said.push_str(if said.ends_with(':') { " " } else { "; " });
        }
        said.push_str(line.strip_prefix("error: ").unwrap_or(line));
    }
    said
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
