//! Wrong words, as programs are told.

use clap::Parser as _;

use super::*;
use crate::args::Args;

#[test]
fn what_is_wrong_is_one_line_without_the_help() {
    let rows: [(&[&str], &str); 7] = [
        (&["nonsense"], "unrecognized subcommand 'nonsense'"),
        (&["agnt"], "unrecognized subcommand 'agnt'; tip: a similar subcommand exists: 'agent'"),
        (&["task", "show"], "the following required arguments were not provided: <ID>"),
        (&["task", "show", "nope"], "invalid value 'nope' for '<ID>': "),
        (&["status", "--log-level", "loud"], "[possible values: error, warn, info, debug, trace]"),
        (&["task"], "a command is missing; --help lists the commands"),
        (&[], "a command is missing; --help lists the commands"),
    ];
    for (words, expected) in rows {
        let wrong = Args::try_parse_from(["openfang"].iter().chain(words)).unwrap_err();

        let said = in_a_line(&wrong);

        assert!(said.contains(expected), "{words:?}: {said}");
        assert!(!said.contains('\n') && !said.contains("Usage") && !said.contains("error:"), "{words:?}: {said}");
    }
}

#[test]
fn json_is_wanted_wherever_the_flag_stands_among_our_own_words() {
    let wants = |line: &str| wants_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
    for line in ["openfang --json nonsense", "openfang nonsense --json", "openfang task show nope --json"] {
        assert!(wants(line), "{line}");
    }
    for line in ["openfang nonsense", "openfang mcp add x -- npx --json", "openfang --jsonx"] {
        assert!(!wants(line), "{line}");
    }
}
