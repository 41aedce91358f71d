//! A daemon in the background, its variables from a file, and a line for each request.

use super::fixture::ok;
use crate::support::binary::Openfang;

#[test]
fn a_daemon_in_the_background_listens_when_the_command_ends_and_one_that_fails_says_why() {
    let openfang = Openfang::new();

    let started = ok(openfang.run(&["start", "--background", "--listen", "0", "--json"]));
    let address = started.json()["address"].as_str().unwrap().to_owned();
    let status = ok(openfang.run(&["status", "--json"])).json();
    let twice = openfang.run(&["start", "--background"]);
    ok(openfang.run(&["logs"]));
    ok(openfang.run(&["stop"]));

    assert_eq!(status["address"], address);
    assert!(twice.code == 1 && twice.stderr.contains("already running"), "{twice:?}");
    openfang.write("config.toml", "nonsense = 1\n");
    let failed = openfang.run(&["start", "--background"]);
    assert!(
        failed.code == 1 && failed.stderr.contains("did not start") && failed.stderr.contains("nonsense"),
        "{failed:?}"
    );
    assert_eq!(openfang.run(&["status"]).code, 3);
}

#[test]
fn variables_of_the_home_reach_the_daemon_only_and_only_from_a_private_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let openfang = Openfang::new();
    openfang.write(".env", "# for the daemon\nOPENFANG_LIMITS__AGENT_DEPTH=3\nOPENFANG_LOG__REQUESTS=true\n");
    let file = openfang.home().join(".env");
    let readable = openfang.try_start(None).err().unwrap();
    assert!(readable.code == 64 && readable.stderr.contains("chmod 600"), "{readable:?}");

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    ok(openfang.run(&["start", "--background", "--listen", "0"]));
    ok(openfang.run(&["tool", "call", "add_numbers", "a=3", "b=7"]));
    let logs = ok(openfang.run(&["logs", "--json"])).stdout;
    ok(openfang.run(&["stop"]));

    let line = logs
        .lines()
        .find(|line| line.contains("/api/tools/{name}"))
        .unwrap_or_else(|| panic!("{logs}"));
    for member in ["\"caller\":\"admin\"", "\"door\":\"cli\"", "\"status\":200", "\"trace\":", "\"ms\":"] {
        assert!(line.contains(member), "{member} in {line}");
    }
    let shown = ok(openfang.run(&["config", "show", "--json"])).json();
    assert_ne!(shown["limits"]["agent_depth"], 3, "a command does not read the file");
}

#[test]
fn a_command_that_reads_leaves_no_home_behind_and_shows_what_a_new_one_has() {
    let openfang = Openfang::new();
    for (command, shown) in [
        (&["tool", "list"][..], "add_numbers"),
        (&["agent", "show", "starter"], "get_greeting"),
        (&["task", "list"], "STATE"),
        (&["policy", "explain", "starter", "add_numbers"], "granted"),
        (&["mcp", "list"], ""),
        (&["user", "list"], "GRANTS"),
    ] {
        let ran = ok(openfang.run(command));
        assert!(ran.stdout.contains(shown) && ran.stderr.contains("there is no home at"), "{command:?}: {ran:?}");
        assert!(!openfang.home().exists(), "{command:?}");
    }
    assert!(ok(openfang.run(&["tool", "list", "--json"])).stderr.is_empty());
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    assert!(openfang.home().join("config.toml").exists());
}
