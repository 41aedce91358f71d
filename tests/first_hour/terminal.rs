//! What one reads at the terminal: short arguments, suggestions, ids, exit codes and interrupts.

use std::io::{Read as _, Write as _};

use super::fixture::{Machine, ok};
use crate::support::binary::Openfang;

#[test]
fn a_tool_is_called_with_pairs_and_shows_how_to_call_it() {
    let openfang = Openfang::new();

    assert_eq!(ok(openfang.run(&["tool", "call", "add_numbers", "a=3", "b=7"])).stdout, "10\n");
    let shown = ok(openfang.run(&["tool", "show", "add_numbers"]));
    assert!(shown.stderr.contains("openfang tool call add_numbers a=1 b=1"), "{shown:?}");
    let rows: [(&[&str], i32, &str); 3] = [
        (&["tool", "call", "add_numbers", "a=three", "b=7"], 2, "a is a number"),
        (&["tool", "call", "add_numbers", "3", "7"], 2, "name=value"),
        (&["tool", "call", "add_numbers", "a=3"], 1, "tool show add_numbers"),
    ];
    for (arguments, code, expected) in rows {
        let ran = openfang.run(arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
}

#[test]
fn a_mistyped_name_is_answered_with_the_right_one_and_an_absurd_one_is_not() {
    let openfang = Openfang::new();
    ok(openfang.run(&["user", "add", "ada", "--grant", "add_numbers"]));
    let rows: [(&[&str], &str); 6] = [
        (
            &["tool", "call", "add_nubmers", "a=1", "b=2"],
            "there is no tool add_nubmers (did you mean add_numbers?); `openfang tool list`",
        ),
        (&["tool", "show", "add_number"], "did you mean add_numbers?"),
        (
            &["agent", "send", "startr", "Ada"],
            "there is no agent startr (did you mean starter?); `openfang agent list`",
        ),
        (&["agent", "show", "starte"], "did you mean starter?"),
        (&["user", "grant", "adda", "get_*"], "did you mean ada?"),
        (&["mcp", "--agent", "startr"], "did you mean starter?"),
    ];
    for (arguments, expected) in rows {
        let ran = openfang.run(arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {ran:?}");
    }
    let absurd = openfang.run(&["tool", "call", "xyz"]);
    assert!(absurd.stderr.contains("there is no tool xyz; `openfang tool list`"), "{absurd:?}");
}

#[test]
fn a_task_is_named_by_its_end_or_as_last() {
    let openfang = Openfang::new();
    let none = openfang.run(&["task", "show", "last"]);
    assert!(none.stderr.contains("there is no task yet"), "{none:?}");
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    let sent = ok(openfang.run(&["agent", "send", "starter", "Grace", "--json"])).json();
    let id = sent["task"]["id"].as_str().unwrap().to_owned();

    for name in [id.as_str(), &id[..id.len() - 1], &id[id.len() - 8..], "last"] {
        let shown = ok(openfang.run(&["task", "show", name]));
        assert!(shown.stdout.contains("Grace") && shown.stdout.contains(&id), "{name}: {shown:?}");
        assert!(shown.stdout.contains("ago)") || shown.stdout.contains("just now)"), "{shown:?}");
    }
    assert!(openfang.run(&["task", "show", "ffffffff"]).stderr.contains("no task begins or ends with"));
    let listed = ok(openfang.run(&["task", "list"]));
    assert!(listed.stdout.contains(" ago") || listed.stdout.contains("just now"), "{listed:?}");
}

#[test]
fn an_answer_comes_with_the_names_of_its_artifacts_and_a_failed_tool_fails_the_command() {
    let openfang = Openfang::new();

    let sent = ok(openfang.run(&["agent", "send", "starter", "/add_numbers {\"a\": 3, \"b\": 7}"]));
    assert_eq!(sent.stdout, "10\n");
    assert!(sent.stderr.contains("add_numbers-result:"), "{sent:?}");
    let failed = openfang.run(&["agent", "send", "starter", "/add_numbers {\"a\": \"x\"}"]);
    assert_eq!(failed.code, 1, "{failed:?}");
}

#[test]
fn a_task_of_another_agent_is_named_as_such() {
    let openfang = Openfang::new();
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    openfang.write(
        "agents/other/agent.toml",
        "name = \"other\"\n[model]\nprovider = \"direct\"\n[capabilities]\ntools = [\"get_greeting\"]\n",
    );

    let ran = openfang.run(&["agent", "send", "other", "--task", "last", "Ada"]);

    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("belongs to the agent starter"), "{ran:?}");
}

/// An agent that takes its time.
const SLOW: &str = "[[rules]]\nsteps = [{ delay_ms = 60000 }, { chunk = \"done\" }]\n";

#[test]
fn ctrl_c_says_what_goes_on_and_how_to_stop_it() {
    let machine = Machine::new();
    let openfang = &machine.openfang;
    openfang.write(
        "agents/slow/agent.toml",
        "name = \"slow\"\ndescription = \"Takes its time.\"\n[model]\nprovider = \"script\"\n",
    );
    openfang.write("agents/slow/script.toml", SLOW);
    let _daemon = openfang.start();
    let mut child = openfang.on_terminal("agent send slow hello");
    let mut terminal = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 256];
    while !shown.contains("slow works on task") {
        let read = terminal.read(&mut bytes).unwrap();
        assert!(read > 0, "{shown}");
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }

    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    terminal.read_to_string(&mut shown).unwrap();

    assert!(shown.contains("goes on in the daemon"), "{shown}");
    assert!(shown.contains("stop it:  openfang task cancel"), "{shown}");
    child.wait().unwrap();
    ok(openfang.run(&["task", "cancel", "last"]));
}

#[test]
fn the_entry_that_a_terminal_shows_is_complete() {
    let openfang = Openfang::new();
    let mut child = openfang.on_terminal("mcp");
    let mut terminal = child.stdout.take().unwrap();
    child.stdin.take().unwrap().write_all(b"\x04").unwrap();
    let mut shown = String::new();
    let _ = terminal.read_to_string(&mut shown);
    child.wait().unwrap();

    assert!(shown.contains("\"--tools\"") && shown.contains("\"--home\""), "{shown}");
    assert!(shown.contains(env!("CARGO_BIN_EXE_openfang")), "{shown}");
    assert!(shown.contains("openfang connect"), "{shown}");
}
