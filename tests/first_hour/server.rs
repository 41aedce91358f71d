//! The server in the first hour: as a service, its log, its status, backups, completions and help.

use std::io::Read as _;
use std::process::Command;

use super::fixture::{ANY_PORT, Machine, ok};
use crate::support::binary::Openfang;

#[test]
#[expect(clippy::disallowed_methods, reason = "systemd checks its own format")]
fn the_unit_of_the_service_is_what_systemd_wants() {
    let machine = Machine::new();

    let shown = ok(machine.run(&["service", "install", "--dry-run"]));
    assert!(!machine.user().join(".config").exists(), "a dry run writes nothing");
    let written = ok(machine.run(&["service", "install", "--no-start"]));
    assert!(written.stderr.contains("undo: openfang service uninstall"), "{written:?}");

    let unit = machine.user().join(".config/systemd/user/openfang.service");
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), shown.stdout);
    let checked = Command::new("systemd-analyze").args(["verify", "--user"]).arg(&unit).output();
    if let Ok(checked) = checked {
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!said.contains("openfang.service"), "{said}");
    }
    assert!(ok(machine.run(&["service", "status"])).stdout.contains("installed"));
    ok(machine.run(&["service", "uninstall"]));
    assert!(!unit.exists());
    assert_eq!(machine.run(&["service", "status"]).code, 3);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "systemd checks its own format")]
fn the_unit_of_the_machine_has_a_user_and_a_directory_of_its_own() {
    let machine = Machine::new();

    let shown = ok(machine.run(&["service", "install", "--system", "--dry-run"]));

    assert!(shown.stderr.contains("would write /etc/systemd/system/openfang.service"), "{shown:?}");
    for line in ["User=openfang", "StateDirectory=openfang", "ProtectSystem=strict", "WantedBy=multi-user.target"] {
        assert!(shown.stdout.lines().any(|written| written == line), "{line}: {shown:?}");
    }
    assert!(shown.stdout.contains(" --home /var/lib/openfang start\n"), "{shown:?}");
    let unit = machine.openfang.scratch("openfang.service");
    std::fs::write(&unit, &shown.stdout).unwrap();
    if let Ok(checked) = Command::new("systemd-analyze").arg("verify").arg(&unit).output() {
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!said.contains("openfang.service"), "{said}");
    }
}

#[test]
fn the_service_manager_is_told_when_the_server_listens() {
    let openfang = Openfang::new();
    let socket = openfang.scratch("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();

    let _daemon = openfang.try_start(Some(("NOTIFY_SOCKET", socket.to_str().unwrap()))).unwrap();

    let mut message = [0; 64];
    let length = manager.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1");
}

#[test]
fn the_log_in_a_file_is_shown_filtered_and_without_a_file_it_says_how_to_get_one() {
    let openfang = Openfang::new();
    let none = openfang.run(&["logs"]);
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.stderr.contains("file = true"), "{none:?}");
    openfang.write(
        "config.toml",
        "[log]\nfile = true\n[[mcp_servers]]\nname = \"gone\"\ntransport = { type = \"stdio\", command = \"/nowhere/x\" }\n",
    );
    let daemon = openfang.start();
    // The failure of the server is written a moment later.
    while !openfang.run(&["logs", "--server", "gone"]).stdout.contains("gone") {}

    let logs = ok(openfang.run(&["logs", "--level", "warn"]));

    assert!(logs.stdout.lines().all(|line| line.contains("WARN") || line.contains("ERROR")), "{logs:?}");
    assert!(ok(openfang.run(&["logs", "--json", "-n", "1"])).json()["level"].is_string());
    drop(daemon);
}

#[test]
fn the_status_is_drawn_again_and_again_until_somebody_quits() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    let mut child = openfang.on_terminal("status --watch");
    let mut terminal = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 1024];
    // The first screen has no rates yet.
    while !shown.contains("calls: 0.0 a second") || shown.matches("q quits").count() < 2 {
        let read = terminal.read(&mut bytes).unwrap();
        assert!(read > 0, "{shown}");
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }

    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"q").unwrap();

    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(shown.contains("starter") && shown.contains("1 completed"), "{shown}");
}

#[test]
fn a_backup_has_everything_and_is_restored() {
    let openfang = Openfang::new();
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    let (whole, database) = (openfang.scratch("whole"), openfang.scratch("only.db"));
    let (whole, database) = (whole.to_str().unwrap(), database.to_str().unwrap());
    ok(openfang.run(&["backup", whole]));
    ok(openfang.run(&["backup", database]));
    assert_eq!(openfang.run(&["backup", whole]).code, 2, "nothing is overwritten");
    ok(openfang.run(&["agent", "send", "starter", "Grace"]));
    std::fs::remove_dir_all(openfang.home().join("agents")).unwrap();

    assert_eq!(openfang.run(&["restore", whole]).code, 2, "without a terminal it wants --yes");
    let restored = ok(openfang.run(&["restore", whole, "--yes"]));

    assert!(restored.stderr.contains("what was there is in"), "{restored:?}");
    assert_eq!(ok(openfang.run(&["task", "list", "--json"])).json()["total"], 1);
    assert!(ok(openfang.run(&["agent", "list"])).stdout.contains("starter"));
    ok(openfang.run(&["restore", database, "--yes"]));
    ok(openfang.run_with(("OPENFANG_API_LISTEN", ANY_PORT), &["doctor", "--offline"]));
    let _daemon = openfang.start();
    let refused = openfang.run(&["restore", whole, "--yes"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("openfang stop"), "{refused:?}");
    assert!(openfang.run(&["restore", "/nowhere", "--yes"]).stderr.contains("does not exist"));
}

#[test]
fn each_restore_keeps_what_it_replaces() {
    let openfang = Openfang::new();
    ok(openfang.run(&["agent", "send", "starter", "Ada"]));
    let backup = openfang.scratch("whole");
    ok(openfang.run(&["backup", backup.to_str().unwrap()]));
    let kept = |beginning: &str| {
        let found = std::fs::read_dir(openfang.home()).unwrap().map(|entry| entry.unwrap().file_name());
        found.filter(|name| name.to_str().unwrap().starts_with(beginning)).count()
    };

    for number in 1..=3 {
        ok(openfang.run(&["restore", backup.to_str().unwrap(), "--yes"]));
        assert_eq!(kept("replaced-"), number);
    }
    assert_eq!(kept("restoring-"), 0);
    ok(openfang.run(&["agent", "send", "starter", "Grace"]));
    assert_eq!(ok(openfang.run(&["task", "list", "--json"])).json()["total"], 2);
}

/// What bash would offer after these words.
#[expect(clippy::disallowed_methods, reason = "completions are for a shell")]
fn offered(machine: &Machine, words: &[&str]) -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_openfang"));
    let script = ok(machine.run(&["completions", "bash"])).stdout;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let ask = format!(
        "{script}\nCOMP_WORDS=(openfang {}); COMP_CWORD={}; COMP_TYPE=9; _clap_complete_openfang openfang; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len()
    );
    let output = Command::new("bash")
        .args(["-c", &ask])
        .env_clear()
        .env("OPENFANG_HOME", machine.openfang.home())
        .env("PATH", format!("{}:/usr/bin:/bin", binary.parent().unwrap().display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_shell_completes_commands_and_the_names_of_agents_tools_and_servers() {
    let machine = Machine::new();
    ok(machine.init(&[]));
    ok(machine.run(&["mcp", "add", "files", "--", "sh"]));

    assert!(offered(&machine, &["conn"]).contains("connect"));
    assert!(offered(&machine, &["agent", "send", "st"]).contains("starter"));
    assert!(offered(&machine, &["chat", "st"]).contains("starter"));
    assert!(offered(&machine, &["tool", "call", "add_"]).contains("add_numbers"));
    assert!(offered(&machine, &["mcp", "show", "f"]).contains("files"));
    assert!(offered(&machine, &["connect", "curs"]).contains("cursor"));
    ok(machine.run(&["completions", "bash", "--install"]));
    let place = machine.user().join(".local/share/bash-completion/completions/openfang");
    assert!(place.exists());
    ok(machine.run(&["completions", "bash", "--undo"]));
    assert!(!place.exists());
}

/// What zsh does with candidates; outside of a line that is edited it can only be asked for them.
const ZSH: &str = "\
    autoload -U compinit; compinit -D; source \"$1\"\n\
    _describe() { print -l ${(P)3} }\n\
    words=(openfang agent send st); CURRENT=4; _clap_dynamic_completer_openfang";

#[test]
#[expect(clippy::disallowed_methods, reason = "completions are for a shell")]
fn zsh_and_fish_read_their_completions_and_offer_names() {
    let machine = Machine::new();
    ok(machine.init(&[]));
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_openfang")).parent().unwrap();
    let script = |shell: &str| {
        let path = machine.openfang.scratch(shell);
        std::fs::write(&path, ok(machine.run(&["completions", shell])).stdout).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (zsh, fish) = (script("zsh"), script("fish"));
    let ask = "source $argv[1]; complete -C 'openfang agent send st'";
    for (shell, words) in [
        ("zsh", vec!["-n", &zsh]),
        ("zsh", vec!["-fc", ZSH, "zsh", &zsh]),
        ("fish", vec!["--no-config", "--no-execute", &fish]),
        ("fish", vec!["--no-config", "-c", ask, &fish]),
    ] {
        let mut command = Command::new(shell);
        command.args(&words).env_clear();
        command
            .env("HOME", machine.user())
            .env("OPENFANG_HOME", machine.openfang.home())
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{words:?}: {output:?}");
        assert!(words.len() < 4 || said.contains("starter"), "{words:?}: {output:?}");
    }
}

#[test]
fn the_help_has_headings_and_own_options_apart_from_those_of_every_command() {
    let openfang = Openfang::new();

    let top = ok(openfang.run(&["--help"])).stdout;
    for heading in ["Set up:", "Use:", "Server:", "Access:", "Data:", "Options of every command:", "Exit codes:"] {
        assert!(top.contains(heading), "{heading}: {top}");
    }
    let call = ok(openfang.run(&["tool", "call", "--help"])).stdout;
    let (own, global) = call.split_once("Options of every command:").unwrap();
    assert!(own.contains("--args") && !own.contains("--trace-wire"), "{call}");
    assert!(global.contains("--trace-wire"), "{call}");
}

#[test]
fn small_things_are_understood() {
    let openfang = Openfang::new();
    ok(openfang.run(&["agent", "list"]));
    let example = ok(openfang.run(&["config", "example"])).stdout;
    assert!(example.contains("api_listen"), "{example}");
    let shown = openfang.run_with(("OPENFANG_LOG__LEVEL", "debug"), &["config", "show"]);
    assert!(shown.stdout.contains("# log.level comes from environment variable OPENFANG_LOG__LEVEL"), "{shown:?}");
    for name in ["a", "b", "c"] {
        ok(openfang.run(&["mcp", "add", name, "--", "sh"]));
    }
    let removed = openfang.run(&["mcp", "remove", "a", "b", "x"]);
    assert_eq!(removed.code, 1, "{removed:?}");
    assert!(removed.stdout.contains("removed a, b") && removed.stderr.contains("no MCP server x"), "{removed:?}");
    let denied = openfang.run(&["policy", "explain", "starter", "file_write"]);
    assert_eq!(denied.code, 1, "{denied:?}");
    let mut daemon = openfang.spawn(&["start", "--listen", "localhost:0"]);
    while openfang.run(&["status"]).code != 0 {}
    ok(openfang.run(&["stop"]));
    daemon.wait().unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "mandoc checks its own format")]
fn mandoc_finds_nothing_wrong_with_the_manual_pages() {
    let openfang = Openfang::new();
    let pages = openfang.scratch("man");

    ok(openfang.run(&["manual", pages.to_str().unwrap()]));

    let files: Vec<_> = std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.join("openfang-secret-set.1").exists() && files.len() > 80, "{}", files.len());
    let checked = Command::new("mandoc").args(["-Tlint", "-Wwarning"]).args(files).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
