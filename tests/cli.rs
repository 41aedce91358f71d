//! The command line, through a server and without one.

use std::time::{Duration, Instant};

use crate::support::binary::Openfang;

const ADD: [&str; 5] = ["tool", "call", "add_numbers", "--args", "{\"a\":3,\"b\":7}"];

fn through_both(test: impl Fn(&Openfang)) {
    let alone = Openfang::new();
    test(&alone);
    let served = Openfang::new();
    let _daemon = served.start();
    test(&served);
}

#[test]
fn a_tool_call_prints_its_result() {
    through_both(|openfang| {
        let ran = openfang.run(&ADD);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "10\n"), "{ran:?}");
        let json = openfang.run(&[&ADD[..], &["--json"]].concat());
        assert_eq!(json.json()["structuredContent"]["result"], 10);
    });
}

#[test]
fn a_message_to_the_starter_gives_a_completed_task() {
    through_both(|openfang| {
        let json = openfang.run(&["agent", "send", "starter", "/add_numbers {\"a\":3,\"b\":7}", "--json"]);
        let task = &json.json()["task"];
        assert_eq!(
            (task["status"]["state"].as_str(), task["artifacts"][0]["name"].as_str()),
            (Some("completed"), Some("add_numbers-result"))
        );
        let text = openfang.run(&["agent", "send", "starter", "Ada"]);
        assert_eq!(text.code, 0);
        assert!(text.stdout.contains("Hello, Ada!"), "{text:?}");
    });
}

#[test]
fn what_goes_wrong_is_said_with_a_next_step_and_an_exit_code() {
    through_both(|openfang| {
        let rows: [(&[&str], i32, &str); 7] = [
            (&["tool", "call", "nothing"], 1, "openfang tool list"),
            (&["tool", "call", "add_numbers", "--args", "{\"a\":1}"], 1, "\"b\" is a required property"),
            (&["tool", "call", "add_numbers", "--args", "{"], 2, "JSON"),
            (&["agent", "send", "nobody", "hi"], 1, "openfang agent list"),
            (&["agent", "send", "starter", "/nothing"], 1, "there is no tool nothing"),
            (&["policy", "explain", "starter", "nothing"], 1, "there is no tool nothing"),
            (&["tool", "clal"], 2, "call"),
        ];
        for (arguments, code, expected) in rows {
            let ran = openfang.run(arguments);
            assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
            assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        }
    });
}

#[test]
fn wrong_usage_is_json_where_json_was_asked_for_and_help_stays_text() {
    let openfang = Openfang::new();
    let rows: [(&[&str], &str); 5] = [
        (&["--json", "nonsense"], "unrecognized subcommand 'nonsense'"),
        (&["--json", "task", "show", "nope"], "write a task id"),
        (&["task", "show", "--json"], "<ID>"),
        (&["tool", "call", "add_numbers", "--arg", "{}", "--json"], "--args"),
        (&["--json", "task"], "a command is missing"),
    ];
    for (arguments, expected) in rows {
        let ran = openfang.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        let error = serde_json::from_str::<serde_json::Value>(&ran.stderr).unwrap()["error"].take();
        assert_eq!(error["code"], "usage", "{arguments:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{arguments:?}: {error}");
    }
    for (arguments, code) in [(&["--json", "--help"][..], 0), (&["--json", "--version"], 0), (&["nonsense"], 2)] {
        let ran = openfang.run(arguments);
        let said = [ran.stdout, ran.stderr].concat();
        assert_eq!(ran.code, code, "{arguments:?}: {said}");
        assert!(serde_json::from_str::<serde_json::Value>(&said).is_err(), "{arguments:?}: {said}");
    }
}

#[test]
fn lists_and_details_are_shown_to_people_and_programs() {
    through_both(|openfang| {
        assert!(openfang.run(&["tool", "list"]).stdout.contains("add_numbers"));
        assert_eq!(openfang.run(&["tool", "list", "--json"]).json()["tools"].as_array().unwrap().len(), 28);
        let through = openfang.run(&["tool", "list", "--agent", "starter", "--json"]);
        assert_eq!(through.json()["tools"].as_array().unwrap().len(), 5);
        assert!(openfang.run(&["tool", "show", "add_numbers"]).stdout.contains("Adds two numbers."));
        assert!(openfang.run(&["agent", "list"]).stdout.contains("starter"));
        assert!(openfang.run(&["agent", "show", "starter"]).stdout.contains("get_greeting"));
        let policy = openfang.run(&["policy", "explain", "starter", "add_numbers"]);
        assert!(policy.stdout.contains("reads"), "{policy:?}");
        assert_eq!(openfang.run(&["policy", "explain", "starter", "add_numbers", "--json"]).json()["granted"], true);
    });
}

#[test]
fn tasks_are_listed_shown_watched_and_canceled_through_the_server() {
    let openfang = Openfang::new();
    openfang.write(
        "agents/waiter/agent.toml",
        "name = \"waiter\"\ndescription = \"waits\"\n[model]\nprovider = \"script\"",
    );
    openfang.write("agents/waiter/script.toml", "[[rules]]\nsteps = [{ wait_for_cancel = true }]");
    let _daemon = openfang.start();

    let sent = openfang.run(&["agent", "send", "waiter", "go", "--no-wait", "--json"]);
    let id = sent.json()["task"]["id"].as_str().unwrap().to_owned();
    assert!(openfang.run(&["task", "list"]).stdout.contains(&id));
    let begun = Instant::now();
    let canceled = openfang.run(&["task", "cancel", &id]);
    assert_eq!(canceled.code, 0, "{canceled:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "cancel itself takes less than a second");
    assert_eq!(openfang.run(&["task", "show", &id, "--json"]).json()["task"]["status"]["state"], "canceled");
    let watched = openfang.run(&["task", "watch", &id]);
    assert!(watched.stdout.contains("canceled"), "{watched:?}");
    let again = openfang.run(&["task", "cancel", &id]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("already canceled"), "{}", again.stderr);
}

#[test]
fn a_task_made_without_a_server_is_there_for_the_next_command_and_for_a_server() {
    let openfang = Openfang::new();
    let sent = openfang.run(&["agent", "send", "starter", "Ada", "--json"]);
    let id = sent.json()["task"]["id"].as_str().unwrap().to_owned();

    assert!(openfang.run(&["task", "list"]).stdout.contains(&id));
    assert_eq!(openfang.run(&["task", "show", &id, "--json"]).json()["task"]["status"]["state"], "completed");
    let _daemon = openfang.start();
    assert_eq!(openfang.run(&["task", "show", &id, "--json"]).json()["task"]["status"]["state"], "completed");
}

#[test]
fn work_that_must_outlive_the_command_needs_a_server() {
    let openfang = Openfang::new();

    let ran = openfang.run(&["agent", "send", "starter", "Ada", "--no-wait"]);

    assert_eq!(ran.code, 69, "{ran:?}");
    assert!(ran.stderr.contains("openfang start"), "{}", ran.stderr);
}

#[test]
fn status_and_stop_know_whether_a_server_runs() {
    let openfang = Openfang::new();
    assert_eq!(openfang.run(&["status"]).code, 3);
    assert_eq!(openfang.run(&["stop"]).code, 0);

    let mut daemon = openfang.start();
    let status = openfang.run(&["status", "--json"]);
    assert_eq!(
        (status.code, status.json()["address"].as_str()),
        (0, Some(&*daemon.address().to_string())),
        "{status:?}"
    );
    let stop = openfang.run(&["stop"]);
    assert_eq!(stop.code, 0, "{stop:?}");
    assert_eq!(daemon.wait().code, 0);
    assert_eq!(openfang.run(&["status"]).code, 3);
}

#[test]
fn config_is_checked_shown_and_described_and_secrets_are_not_printed() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "api_key = \"canary-0123456789\"\n[limits]\nheaders = 7\n");

    assert_eq!(openfang.run(&["config", "check"]).code, 0);
    assert!(openfang.run(&["config", "path"]).stdout.trim().ends_with("config.toml"));
    for arguments in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = openfang.run(arguments);
        assert!(shown.stdout.contains("headers") && shown.stdout.contains('7'), "{shown:?}");
        assert!(!shown.stdout.contains("canary"), "{shown:?}");
    }
    let schema = openfang.run(&["config", "schema"]).json();
    assert_eq!(schema["properties"]["limits"]["properties"]["headers"]["type"], "integer");
}

#[test]
fn the_wire_is_shown_without_the_token() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let file = std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap();
    let token = serde_json::from_str::<serde_json::Value>(&file).unwrap()["token"]
        .as_str()
        .unwrap()
        .to_owned();

    let ran = openfang.run(&[&ADD[..], &["--trace-wire"]].concat());

    assert_eq!(ran.stdout, "10\n");
    assert!(ran.stderr.contains("/api/tools/add_numbers"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(&token));
}

#[test]
fn what_is_not_a_terminal_gets_no_colour_and_completions_can_be_made() {
    let openfang = Openfang::new();
    for arguments in [&["tool", "list"][..], &["--help"], &["tool", "call", "nothing"]] {
        let ran = openfang.run(arguments);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{arguments:?}: {ran:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(openfang.run(&["completions", shell]).stdout.contains("openfang"), "{shell}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let openfang = Openfang::new();
    let commands: [&[&str]; 17] = [
        &[],
        &["start"],
        &["stop"],
        &["status"],
        &["agent", "list"],
        &["agent", "show"],
        &["agent", "send"],
        &["tool", "list"],
        &["tool", "show"],
        &["tool", "call"],
        &["task", "list"],
        &["task", "show"],
        &["task", "watch"],
        &["task", "cancel"],
        &["config", "check"],
        &["policy", "explain"],
        &["completions"],
    ];
    for command in commands {
        let ran = openfang.run(&[command, &["--help"]].concat());
        assert_eq!(ran.code, 0);
        let says = ran.stdout.to_lowercase();
        assert!(says.contains("example") || says.contains("first steps"), "{command:?}:\n{}", ran.stdout);
    }
}
