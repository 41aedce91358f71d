//! Small things of which one person in ten trips over each.

use super::fixture::{Machine, ok};
use crate::support::binary::{Openfang, Ran};

/// Starts a daemon, stops it with a signal, and returns what it printed.
fn started(openfang: &Openfang) -> Ran {
    let mut daemon = openfang.start();
    daemon.signal("TERM");
    daemon.wait()
}

#[test]
fn a_program_that_is_not_there_is_named_when_its_server_is_added_without_a_daemon() {
    let openfang = Openfang::new();

    let added = openfang.run(&["mcp", "add", "files", "--", "no-such-program"]);

    assert_eq!(added.code, 1, "{added:?}");
    assert!(added.stderr.contains("files cannot start: no program `no-such-program`"), "{added:?}");
    assert!(added.stderr.contains("mcp remove files"), "{added:?}");
    let json = openfang.run(&["mcp", "add", "other", "--json", "--", "no-such-program"]);
    assert!(json.json()["problem"].as_str().unwrap().contains("no-such-program"), "{json:?}");
    ok(openfang.run(&["mcp", "add", "shell", "--", "sh"]));
}

#[test]
fn a_start_that_fails_leaves_the_hints_for_the_first_one_that_does_not() {
    let openfang = Openfang::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let failed = openfang.run(&["start", "--listen", &address]);
    assert!(failed.code == 1 && failed.stderr.contains("cannot listen on"), "{failed:?}");
    let first = started(&openfang);
    assert!(first.stderr.contains("Next, in another terminal:"), "{first:?}");
    assert!(!first.stderr.contains("created config.toml"), "it was there already: {first:?}");

    ok(openfang.run(&["tool", "call", "add_numbers", "a=1", "b=2"]));
    assert!(!started(&openfang).stderr.contains("Next, in another terminal:"));
}

#[test]
fn with_json_logs_there_is_nothing_but_json_on_standard_error() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "[log]\nformat = \"json\"\n");

    let ran = started(&openfang);

    assert!(ran.stderr.lines().count() >= 3, "{ran:?}");
    for line in ran.stderr.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    assert!(ran.stderr.contains("\"listening\"") && ran.stderr.contains("\"stopped\""), "{ran:?}");
}

#[test]
fn a_server_that_stays_down_says_why_once_and_a_restart_says_its_cause() {
    let openfang = Openfang::new();
    openfang.write(
        "config.toml",
        "[[mcp_servers]]\nname = \"gone\"\ntransport = { type = \"stdio\", command = \"/nowhere/x\" }\n",
    );
    let listed = ok(openfang.run(&["tool", "list", "--in-process"]));
    assert!(listed.stderr.matches("no program `/nowhere/x`").count() <= 1, "{listed:?}");
    let mut daemon = openfang.start();
    let log = || ok(openfang.run(&["mcp", "logs", "gone"])).stdout;
    let starts = || {
        openfang.run(&["mcp", "show", "gone", "--json"]).json()["connected"]["starts"]
            .as_u64()
            .unwrap()
    };

    while starts() < 3 {}

    assert_eq!(log().matches("no program `/nowhere/x`").count(), 1, "{}", log());
    openfang.run(&["mcp", "restart", "gone"]);
    assert!(log().contains("starting: somebody asked for a restart"), "{}", log());
    daemon.signal("TERM");
    let said = daemon.wait().stderr;
    assert!(said.matches("an MCP server is down").count() <= 2, "{said}");
}

#[test]
fn homes_that_cannot_be_used_are_named_with_a_way_out() {
    let machine = Machine::new();
    let openfang = &machine.openfang;
    let rows: [(&str, &str, &str); 4] = [
        ("daemon.json", "{", "is not a daemon file"),
        ("daemon.json", "[]", "is not a daemon file"),
        ("config.toml", "api_listen = 5\n", "config.toml:1"),
        ("home.json", "{", "openfang home accept"),
    ];
    for (file, text, expected) in rows {
        let kept = std::fs::read(openfang.home().join(file)).ok();
        ok(openfang.run(&["agent", "list"]));
        openfang.write(file, text);
        let path = openfang.home().join(file);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();

        let ran = openfang.run(&["agent", "send", "starter", "Ada"]);

        assert_ne!(ran.code, 0, "{file}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{file}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        match kept {
            Some(bytes) => std::fs::write(path, bytes).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
    }
    let file = openfang.scratch("file");
    std::fs::write(&file, "").unwrap();
    let ran = openfang.run(&["--home", file.to_str().unwrap(), "agent", "send", "starter", "Ada"]);
    assert!(ran.code == 64 && ran.stderr.contains("is not a directory; choose another home with --home"), "{ran:?}");
}

#[test]
fn a_test_of_a_server_leaves_the_connection_of_the_daemon_alone() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let script = openfang.scratch("server.sh");
    let quick = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gateway/servers/quick.sh");
    std::fs::copy(quick, &script).unwrap();
    ok(openfang.run(&["mcp", "add", "box", "--", "/bin/sh", script.to_str().unwrap(), "box"]));

    ok(openfang.run(&["mcp", "test", "box"]));
    // In place of the file, and not into it: the shell that runs may still be reading.
    std::fs::write(openfang.scratch("other"), "exit 3\n").unwrap();
    std::fs::rename(openfang.scratch("other"), &script).unwrap();
    let broken = openfang.run(&["mcp", "test", "box"]);

    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.stderr.contains("cannot connect to box") && broken.stderr.contains("goes on"), "{broken:?}");
    let shown = ok(openfang.run(&["mcp", "show", "box", "--json"])).json();
    assert_eq!((&shown["connected"]["state"], &shown["connected"]["starts"]), (&"ready".into(), &1.into()), "{shown}");
    assert!(ok(openfang.run(&["tool", "call", "mcp_box_hello"])).stdout.contains("hello"));
}
