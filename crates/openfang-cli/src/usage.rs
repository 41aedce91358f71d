//! Usage errors as one line, for `--json`. Without `--json`, clap prints its own text.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::Args;

/// The commands of the top, under headings. A command that is in none is listed under the last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Set up", &["init", "connect", "doctor", "demo", "completions"]),
    ("Use", &["tool", "agent", "model", "usage", "task", "queue", "schedule", "event", "mcp", "a2a"]),
    ("Server", &["start", "stop", "status", "reload", "service", "logs"]),
    ("Access", &["user", "key", "secret", "approval", "policy", "audit"]),
    ("Data", &["config", "backup", "restore", "db", "home"]),
];

/// Parses a command line. The help of the top lists commands under headings.
pub(crate) fn parsed(words: Vec<OsString>) -> Result<Args, clap::Error> {
    let mut matches = with_headings(Args::command()).try_get_matches_from(words)?;
    Args::from_arg_matches_mut(&mut matches)
}

fn with_headings(command: clap::Command) -> clap::Command {
    let mut text = String::new();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    for (index, (heading, names)) in GROUPS.iter().enumerate() {
        text.push_str(&format!("\n{heading}:\n"));
        let is_last = index + 1 == GROUPS.len();
        let listed = command.get_subcommands().filter(|below| {
            names.contains(&below.get_name()) || (is_last && !is_grouped(below.get_name()) && !below.is_hide_set())
        });
        for below in listed {
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {:<13}{about}\n", below.get_name()));
        }
    }
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n{text}\n{{all-args}}{{after-help}}");
    // Listed above, so not once more by clap.
    let command = command.override_usage("openfang [OPTIONS] <COMMAND>");
    command.mut_subcommands(|below| below.hide(true)).help_template(template)
}

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
