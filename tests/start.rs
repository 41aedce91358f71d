//! Starting: a first run, broken configurations, a second server, a crash.

use crate::support::binary::Openfang;

#[test]
fn the_first_start_writes_a_home_and_says_what_to_do_next() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();

    daemon.signal("TERM");
    let ran = daemon.wait();

    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout, "", "standard output is for results");
    for expected in ["http://127.0.0.1:", "agent send starter", "tool call add_numbers", "config.toml"] {
        assert!(ran.stderr.contains(expected), "{expected} is missing in\n{}", ran.stderr);
    }
    for file in ["config.toml", "agents/starter/agent.toml", "data/secret.key"] {
        assert!(openfang.home().join(file).exists(), "{file}");
    }
    assert!(!openfang.home().join("daemon.json").exists(), "a server that has stopped leaves no way to reach it");
}

#[cfg(unix)]
#[test]
fn what_the_home_holds_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let mode = |path: &str| std::fs::metadata(openfang.home().join(path)).unwrap().permissions().mode() & 0o777;

    assert_eq!((mode(""), mode("data")), (0o700, 0o700));
    assert_eq!((mode("config.toml"), mode("data/secret.key"), mode("daemon.json")), (0o600, 0o600, 0o600));
}

#[test]
fn a_broken_configuration_ends_the_start_before_anything_is_bound() {
    let rows = [
        ("api_listn = \"127.0.0.1:1\"", "config.toml:1: api_listn: unknown key; did you mean api_listen?"),
        ("\n[limits]\nbody_byte = 5", "config.toml:3: limits.body_byte: unknown key; did you mean body_bytes?"),
        ("[limitz]\nbody_bytes = 5", "config.toml:1: limitz: unknown key; did you mean limits?"),
        ("api_listen = 50051", "config.toml:1: api_listen: "),
        ("api_listen = \"localhost:50051\"", "config.toml:1: api_listen: \"localhost:50051\" is not a listen address"),
        ("public_url = \"example.org\"", "config.toml:1: public_url: must be an http or https URL"),
        ("[limits]\ntool_timeout_secs = \"1\"", "config.toml:2: limits.tool_timeout_secs: "),
        ("[limits]\nheaders = 0", "config.toml:2: limits.headers: must be at least 1"),
        ("[log]\nlevel = \"loud\"", "config.toml:2: log.level: "),
        ("api_key = \"spaced out\"", "config.toml:1: api_key: must be visible ASCII"),
        ("api_listen = \"127.0.0.1:0", "config.toml:1: "),
    ];
    for (text, expected) in rows {
        let openfang = Openfang::new();
        openfang.write("config.toml", text);

        for arguments in [&["start"][..], &["config", "check"], &["tool", "list"]] {
            let ran = openfang.run(arguments);
            assert_eq!(ran.code, 64, "{text} {arguments:?}: {ran:?}");
            assert!(ran.stderr.contains(expected), "{expected} is missing in\n{}", ran.stderr);
        }
        assert!(!openfang.home().join("daemon.json").exists());
    }
}

#[test]
fn a_variable_or_flag_that_is_wrong_is_named() {
    let openfang = Openfang::new();

    let variable = openfang.run_with(("OPENFANG_API_LISTN", "127.0.0.1:0"), &["config", "check"]);
    assert_eq!(variable.code, 64);
    assert!(
        variable
            .stderr
            .contains("environment variable OPENFANG_API_LISTN: api_listn: unknown key"),
        "{}",
        variable.stderr
    );
    let flag = openfang.run(&["start", "--listen", "nowhere"]);
    assert_eq!(flag.code, 2, "a wrong flag is wrong usage");
    assert!(flag.stderr.contains("nowhere") && flag.stderr.contains("--listen"), "{}", flag.stderr);
}

#[test]
fn a_second_server_on_the_same_home_is_refused_and_a_busy_port_is_named() {
    let openfang = Openfang::new();
    let daemon = openfang.start();

    let second = openfang.run(&["start", "--listen", "127.0.0.1:0"]);
    assert_ne!(second.code, 0);
    assert!(second.stderr.contains(&daemon.pid().to_string()), "{}", second.stderr);
    let other_home = Openfang::new();
    let busy = other_home.run(&["start", "--listen", &daemon.address().to_string()]);
    assert_ne!(busy.code, 0);
    assert!(busy.stderr.contains(&daemon.address().to_string()), "{}", busy.stderr);
}

#[test]
fn after_a_crash_the_stale_daemon_file_is_in_nobodys_way() {
    let openfang = Openfang::new();
    let mut daemon = openfang.start();
    daemon.signal("KILL");
    daemon.wait();
    assert!(openfang.home().join("daemon.json").exists());

    let call = openfang.run(&["tool", "call", "add_numbers", "--args", "{\"a\":3,\"b\":7}"]);
    assert_eq!((call.code, call.stdout.trim()), (0, "10"), "{call:?}");
    assert_eq!(openfang.run(&["status"]).code, 3);
    let _daemon = openfang.start();
    assert_eq!(openfang.run(&["status"]).code, 0);
}
