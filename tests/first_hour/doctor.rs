//! `openfang doctor` on broken homes: it names each fault and the command that fixes it.

use std::os::unix::fs::PermissionsExt as _;

use super::fixture::{ANY_PORT, Machine, ok};
use crate::support::binary::Ran;

fn set_up() -> Machine {
    let machine = Machine::new();
    ok(machine.init(&[]));
    ok(machine.run(&["tool", "call", "add_numbers", "a=1", "b=2"]));
    machine
}

fn set_mode(machine: &Machine, path: &str, mode: u32) {
    let path = machine.openfang.home().join(path);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn append_config(machine: &Machine, text: &str) {
    let path = machine.openfang.home().join("config.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, format!("{text}\n{before}")).unwrap();
}

/// Runs doctor and expects a failure with these words.
#[track_caller]
fn fails(machine: &Machine, fact: &str, fix: &str) -> Ran {
    let ran = machine.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let line = ran.stdout.lines().position(|line| line.starts_with("fail") && line.contains(fact));
    let line = line.unwrap_or_else(|| panic!("no failure with {fact:?} in\n{}", ran.stdout));
    let next = ran.stdout.lines().nth(line + 1).unwrap();
    assert!(next.contains("fix: ") && next.contains(fix), "{fix:?} in {next:?}");
    ran
}

#[test]
fn a_sound_home_has_no_failures() {
    let machine = set_up();

    let ran = ok(machine.run(&["doctor"]));

    assert!(ran.stdout.contains("no failures") || ran.stdout.contains("no problems"), "{}", ran.stdout);
    for check in ["home", "secret.key", "config", "agents", "database", "audit", "daemon"] {
        assert!(
            ran.stdout.lines().any(|line| line.starts_with("ok") && line.contains(check)),
            "{check}: {}",
            ran.stdout
        );
    }
    let json = ok(machine.run(&["doctor", "--json"]));
    assert_eq!(json.json()["ok"], true);
}

#[test]
fn without_a_home_it_says_how_to_make_one_and_makes_none() {
    let machine = Machine::new();

    let ran = ok(machine.run(&["doctor"]));

    assert!(ran.stdout.contains("does not exist yet") && ran.stdout.contains("openfang init"), "{ran:?}");
    assert!(!machine.openfang.home().exists());
}

#[test]
fn modes_that_are_too_wide_are_found_and_fixed() {
    let machine = set_up();
    set_mode(&machine, "", 0o755);
    set_mode(&machine, "data/secret.key", 0o644);
    set_mode(&machine, "agents", 0o775);
    fails(&machine, "is open to other users", "chmod 700");
    fails(&machine, "can be used by other users", "chmod 600");
    fails(&machine, "is writable by its group", "chmod 755");

    let fixed = ok(machine.run(&["doctor", "--fix"]));

    assert!(fixed.stdout.contains("fixed: chmod 600"), "{fixed:?}");
    ok(machine.run(&["doctor"]));
}

#[test]
fn faults_of_the_configuration_come_with_their_line() {
    let unknown = set_up();
    append_config(&unknown, "api_listn = \"127.0.0.1:1\"");
    fails(&unknown, "did you mean api_listen?", "config check");

    let unparsable = set_up();
    append_config(&unparsable, "api_listen = ");
    fails(&unparsable, "config.toml", "config check");

    let exposed = set_up();
    exposed.listen_on(ANY_PORT, "192.0.2.7:50051");
    fails(&exposed, "api_listen", "api_key");
}

#[test]
fn an_agent_that_does_not_load_is_named() {
    let machine = set_up();
    machine.openfang.write("agents/broken/agent.toml", "name = \"broken\"\nmodle = 3\n");

    fails(&machine, "broken", "config check");
}

#[test]
fn a_damaged_or_lost_database_and_a_lost_key_are_found() {
    let damaged = set_up();
    let path = damaged.openfang.home().join("data/openfang.db");
    let _ = std::fs::remove_file(damaged.openfang.home().join("data/openfang.db-wal"));
    std::fs::write(&path, "this is no database, and it is long enough to be looked at").unwrap();
    fails(&damaged, "openfang.db", "restore");

    let lost = set_up();
    std::fs::remove_file(lost.openfang.home().join("data/secret.key")).unwrap();
    fails(&lost, "secret.key is missing", "home accept");
}

#[test]
fn a_port_that_is_taken_is_found() {
    let machine = set_up();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    machine.listen_on(ANY_PORT, &address);

    fails(&machine, "cannot listen on", "api_listen");
}

#[test]
fn what_a_daemon_left_behind_is_found_and_fixed() {
    let machine = set_up();
    let mut daemon = machine.openfang.start();
    daemon.signal("KILL");
    daemon.wait();
    let ran = ok(machine.run(&["doctor"]));
    assert!(ran.stdout.contains("is left of a daemon that is gone"), "{}", ran.stdout);

    let fixed = ok(machine.run(&["doctor", "--fix"]));
    assert!(fixed.stdout.contains("fixed: rm "), "{fixed:?}");
    assert!(!machine.openfang.home().join("daemon.json").exists());

    machine.openfang.write("daemon.json", "{");
    set_mode(&machine, "daemon.json", 0o600);
    fails(&machine, "is not a daemon file", "rm ");
}

#[test]
fn servers_that_cannot_start_are_named_with_the_reason() {
    let machine = set_up();
    append_config(&machine, "");
    let path = machine.openfang.home().join("config.toml");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str(
        "\n[[mcp_servers]]\nname = \"gone\"\ntransport = { type = \"stdio\", command = \"no-such-program\" }\n\
         \n[[mcp_servers]]\nname = \"unset\"\nenv = [\"NO_SUCH_VARIABLE\"]\ntransport = { type = \"stdio\", command = \"sh\" }\n\
         \n[[mcp_servers]]\nname = \"loose\"\ntransport = { type = \"stdio\", command = \"npx\", args = [\"-y\", \"some-server\"] }\n",
    );
    std::fs::write(path, text).unwrap();

    fails(&machine, "no program `no-such-program`", "install it");
    fails(&machine, "NO_SUCH_VARIABLE is not set", "set it");
    let ran = machine.run(&["doctor"]);
    assert!(ran.stdout.contains("fetches the newest some-server"), "{}", ran.stdout);
    assert!(ran.stdout.contains("without one, with all that your user can do: gone, unset, loose"), "{}", ran.stdout);
    assert!(ran.stdout.contains("mcp add gone --replace --sandbox"), "{}", ran.stdout);
}

#[test]
fn a_program_that_starts_a_binary_that_is_gone_is_found() {
    let machine = set_up();
    machine.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"openfang": {"command": "/nowhere/openfang", "args": ["mcp", "--tools"]}}}"#,
    );

    fails(&machine, "/nowhere/openfang, which does not exist", "connect cursor");
    ok(machine.run(&["connect", "cursor"]));
    let ran = ok(machine.run(&["doctor"]));
    assert!(ran.stdout.contains("Cursor starts /"), "{}", ran.stdout);
    assert!(ran.stdout.contains(" tools in "), "{}", ran.stdout);
}
