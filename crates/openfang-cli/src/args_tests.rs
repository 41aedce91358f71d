//! The command line as it can be typed: every help text has an example, and every example can be typed.

use clap::CommandFactory as _;

use openfang_types::task::TaskState;

use super::*;
use crate::error::Exit;

fn parsed(words: &[&str]) -> Result<Args, clap::Error> {
    Args::try_parse_from(std::iter::once("openfang").chain(words.iter().copied()))
}

/// The commands that do something, each with the words that lead to it.
fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let path = format!("{path} {}", below.get_name());
        if below.has_subcommands() {
            leaves(below, &path, found);
        } else {
            found.push((path, below.clone()));
        }
    }
}

/// The words of our part of a shell line, as far as our examples need it.
fn words_of(line: &str) -> Vec<String> {
    let ours = &line[line.find("openfang").unwrap()..];
    let ours = ours.split([')', '<']).next().unwrap().split(" > ").next().unwrap();
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in ours.trim().chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn every_command_has_help_with_an_example_that_can_be_typed() {
    let mut found = Vec::new();
    leaves(&Args::command(), "openfang", &mut found);

    assert!(found.len() >= 25, "{}", found.len());
    for (path, command) in found {
        assert!(command.get_about().is_some(), "{path} says nothing");
        let help = command.get_after_help().unwrap_or_else(|| panic!("{path} has no example")).to_string();
        let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(!examples.is_empty(), "{path} has no example");
        for example in examples {
            assert!(example.contains(&path), "{example} is not an example of {path}");
            let words = words_of(example);
            Args::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        }
    }
}

#[test]
fn the_examples_of_the_top_can_be_typed() {
    for line in EXIT_CODES.split("Examples:").nth(1).unwrap().trim().lines() {
        Args::try_parse_from(words_of(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn the_help_lists_every_exit_code() {
    let all = [
        Exit::Ok,
        Exit::Failed,
        Exit::Usage,
        Exit::NotRunning,
        Exit::Config,
        Exit::NoDaemon,
        Exit::Interrupted,
        Exit::Terminated,
    ];
    for exit in all {
        let code = exit.code().to_string();
        assert!(EXIT_CODES.split(|c: char| !c.is_ascii_digit()).any(|number| number == code), "{code}");
    }
}

#[test]
fn global_flags_may_stand_before_and_after_the_command() {
    let before = parsed(&["--json", "--home", "/h", "--log-level", "debug", "-q", "--trace-wire", "status"]).unwrap();
    let after = parsed(&["status", "--json", "--home", "/h", "--log-level", "debug", "-q", "--trace-wire"]).unwrap();

    for args in [before, after] {
        let Global { home, json, trace_wire, in_process: _, log_level, quiet, url: _ } = args.global;
        assert_eq!((home.as_deref(), log_level.as_deref()), (Some("/h".as_ref()), Some("debug")));
        assert!(json && trace_wire && quiet);
    }
}

#[test]
fn a_single_dash_stands_for_standard_input() {
    let call = parsed(&["tool", "call", "x", "--args", "-"]).unwrap();
    assert!(matches!(call.command, Command::Tool(ToolCommand::Call { args: Some(args), .. }) if args == "-"));

    let send = parsed(&["agent", "send", "x", "-"]).unwrap();
    assert!(matches!(send.command, Command::Agent(AgentCommand::Send(SendArgs { text, .. })) if text == "-"));
}

#[test]
fn what_is_wrong_is_wrong_usage_and_says_what_would_be_right() {
    let rows: [(&[&str], &str); 8] = [
        (&["agent", "show", "UPPER"], "lower case letters"),
        (&["task", "show", "42"], "write a task id"),
        (&["tool", "call", "a b"], "use letters"),
        (&["task", "list", "--state", "done"], "input-required"),
        (&["task", "list", "--limit", "0"], "1.."),
        (&["start", "--listen", "localhost"], "a port"),
        (&["agent", "send", "x", "y", "--no-wait", "--stream"], "cannot be used with"),
        (&["status", "--log-level", "loud"], "debug"),
    ];
    for (words, expected) in rows {
        let error = parsed(words).unwrap_err();

        assert_eq!(error.exit_code(), i32::from(Exit::Usage.code()));
        assert!(error.to_string().contains(expected), "{words:?}: {error}");
    }
}

#[test]
fn every_state_can_be_asked_for() {
    for state in TaskState::ALL {
        let args = parsed(&["task", "list", "--state", state.as_str()]).unwrap();

        assert!(matches!(args.command, Command::Task(TaskCommand::List(list)) if list.state == Some(state)));
    }
}

#[test]
fn approve_is_still_understood_as_accept() {
    for word in ["accept", "approve"] {
        let args = parsed(&["mcp", word, "files", "read_file"]).unwrap();

        let Command::Mcp(args) = args.command else { panic!("{args:?}") };
        assert!(matches!(args.command, Some(McpCommand::Accept { tool: Some(tool), .. }) if tool == "read_file"));
    }
}
