//! What is wrong changes nothing, and is told.

use super::fixture::{UNWATCHED, add_agent, agents, operator, replace, running, settings, until};
use crate::support::binary::Openfang;

#[tokio::test]
async fn a_signal_with_a_broken_file_changes_nothing_and_names_the_fault() {
    let (openfang, mut daemon) = running(UNWATCHED);
    let client = operator(&openfang, &daemon);
    for (broken, fault) in [
        ("[limits]\nbody_byts = 1\n", "config.toml:2: limits.body_byts: unknown key; did you mean body_bytes?"),
        ("  \n", "config.toml:1: the file is empty"),
    ] {
        replace(&openfang, "config.toml", broken);
        add_agent(&openfang, "late", "get_greeting");
        daemon.signal("HUP");
        until("status has the fault", || settings(&openfang)["rejected"].as_str()?.contains(fault).then_some(()));

        assert_eq!(agents(&openfang), ["starter"]);
        assert_eq!(client.get("/health").await.status, 200);
        assert!(client.get("/metrics").await.body.contains("\nopenfang_config_rejected 1"));
        let asked = openfang.run(&["reload"]);
        assert_eq!(asked.code, 64, "{asked:?}");
        assert!(asked.stderr.contains(fault), "{asked:?}");
    }

    std::fs::remove_file(openfang.home().join("config.toml")).unwrap();
    let missing = openfang.run(&["reload"]);
    assert!(missing.code == 64 && missing.stderr.contains("config.toml cannot be read"), "{missing:?}");
    replace(&openfang, "config.toml", UNWATCHED);
    assert_eq!(openfang.run(&["reload"]).code, 0);
    assert_eq!(agents(&openfang), ["late", "starter"]);
    assert!(settings(&openfang)["rejected"].is_null());
    assert!(client.get("/metrics").await.body.contains("\nopenfang_config_rejected 0"));
    daemon.signal("TERM");
    let log = daemon.wait().stderr;
    assert!(log.contains("limits.body_byts: unknown key"), "{log}");
}

#[test]
fn one_broken_agent_stops_neither_the_start_nor_the_others() {
    let openfang = Openfang::new();
    openfang.write("agents/calc/agent.toml", "name = \"calc\"\ndescription = \"d\"\nmodle = 1\n");
    openfang
        .write("agents/script/agent.toml", "name = \"script\"\ndescription = \"d\"\n[model]\nprovider = \"script\"\n");
    openfang.write("agents/script/script.toml", "[[rules]]\nsteps = [{ leave = false }]\n");
    add_agent(&openfang, "starter", "get_greeting");
    let daemon = openfang.start();
    let fault = "agents/calc/agent.toml:3: modle: unknown key; did you mean model?";

    assert_eq!(agents(&openfang), ["starter"]);
    let listed = openfang.run(&["agent", "list"]);
    assert!(listed.stderr.contains(fault) && listed.stderr.contains("script.toml: rule 1, step 1"), "{listed:?}");
    let status = openfang.run(&["status"]);
    assert!(status.stdout.contains(fault), "{status:?}");
    assert_eq!(openfang.run(&["agent", "send", "starter", "Ada"]).code, 0);
    drop(daemon);

    openfang.write("config.toml", "api_listen = 5\nbogus = 1\n[limits]\nbody_bytes = \"x\"\n");
    let checked = openfang.run(&["config", "check"]);
    assert_eq!(checked.code, 64, "{checked:?}");
    for fault in ["config.toml:1: api_listen", "config.toml:2: bogus", "config.toml:4: limits.body_bytes", fault] {
        assert!(checked.stderr.contains(fault), "{fault} is not in {checked:?}");
    }
    assert!(checked.stderr.contains("script.toml: rule 1, step 1"), "{checked:?}");
}

#[test]
fn a_check_says_which_value_the_environment_overlays() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "[log]\nlevel = \"info\"\n");

    let checked = openfang.run_with(("OPENFANG_LOG__LEVEL", "debug"), &["config", "check"]);

    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stderr.contains("log.level is set by environment variable OPENFANG_LOG__LEVEL"), "{checked:?}");
}

#[cfg(unix)]
#[test]
fn files_that_everybody_may_write_are_not_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let (openfang, _daemon) = running(UNWATCHED);
    let config = openfang.home().join("config.toml");
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o666)).unwrap();

    let ran = openfang.run(&["reload"]);

    assert_eq!(ran.code, 64, "{ran:?}");
    assert!(ran.stderr.contains("is writable by everybody"), "{ran:?}");
}

#[test]
fn one_broken_server_does_not_stop_the_start() {
    let openfang = Openfang::new();
    let good = "[[mcp_servers]]\nname = \"good\"\ntransport = { type = \"http\", url = \"http://127.0.0.1:9/mcp\" }\n";
    let bad = "[[mcp_servers]]\nname = \"bad\"\ntransport = { type = \"http\", url = \"ftp://x\" }\n";
    let worse = "[[mcp_servers]]\nname = \"worse\"\ncolour = 1\n";
    openfang.write("config.toml", &format!("{bad}{good}{worse}"));
    let _daemon = openfang.start();

    let failed = settings(&openfang)["failedServers"].clone();
    let named: Vec<&str> = failed.as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["bad", "worse"], "{failed}");
    let listed = openfang.run(&["mcp", "list", "--json"]).json();
    assert_eq!(listed["configured"].as_array().unwrap().len(), 1, "{listed}");
    let checked = openfang.run(&["config", "check"]);
    assert!(checked.code == 64 && checked.stderr.contains("config.toml:9: mcp_servers[2].colour"), "{checked:?}");
}
