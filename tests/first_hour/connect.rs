//! `openfang connect`: what is written, what is never written, and that undo gives back every byte.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::fixture::{Machine, SETTINGS, ok};

#[test]
fn every_program_of_the_table_is_connected_and_undo_gives_back_every_byte() {
    let machine = Machine::new();
    for (_, path, text) in SETTINGS {
        machine.write(path, text);
    }
    let before = machine.files();

    let dry = ok(machine.run(&["connect", "--all", "--dry-run"]));
    assert_eq!(machine.files(), before, "a dry run writes nothing");
    assert!(dry.stdout.contains("Cursor: would write"), "{dry:?}");
    assert!(!machine.openfang.home().exists(), "a dry run makes no home");

    let written = ok(machine.run(&["connect", "--all", "--json"]));
    let files = written.json()["files"].as_array().unwrap().clone();
    assert_eq!(files.len(), SETTINGS.len(), "{files:#?}");
    for file in &files {
        let client = file["client"].as_str().unwrap();
        match client {
            "goose" | "continue" => assert_eq!(file["state"], "printed", "{file}"),
            _ => {
                assert_eq!(file["state"], "written", "{file}");
                assert!(file["tools"].as_u64().unwrap() > 5, "{file}");
            }
        }
    }
    let again = ok(machine.run(&["connect", "--all", "--json"]));
    for file in again.json()["files"].as_array().unwrap() {
        assert_ne!(file["state"], "written", "running it twice changes nothing: {file}");
    }
    // What was there is still there.
    assert!(machine.read(".config/Code/User/mcp.json").contains("// mine"));
    assert!(machine.read(".codex/config.toml").contains("# kept"));
    assert!(machine.read(".codeium/windsurf/mcp_config.json").starts_with('\u{feff}'));

    ok(machine.run(&["connect", "--undo", "--all"]));

    assert_eq!(machine.files(), before);
}

#[test]
fn files_and_directories_that_were_made_go_again() {
    let machine = Machine::new();

    ok(machine.run(&["connect", "cursor", "zed", "codex", "antigravity"]));
    let entry: Value = serde_json::from_str(&machine.read(".cursor/mcp.json")).unwrap();
    let entry = &entry["mcpServers"]["openfang"];
    assert!(entry["command"].as_str().unwrap().starts_with('/'), "{entry}");
    assert_eq!(entry["args"][0], "mcp");
    assert_eq!(entry["args"][1], "--tools");
    assert_eq!(entry["args"][3], machine.openfang.home().to_str().unwrap());
    ok(machine.run(&["connect", "--undo", "--all"]));

    assert_eq!(std::fs::read_dir(machine.user()).unwrap().count(), 0, "{:?}", machine.files());
}

#[test]
fn a_file_that_somebody_changed_since_loses_only_our_entry() {
    let machine = Machine::new();
    machine
        .write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n");
    ok(machine.run(&["connect", "cursor"]));
    let connected = machine.read(".cursor/mcp.json");
    machine.write(".cursor/mcp.json", &connected.replace("\"x\"", "\"changed\""));

    let undone = ok(machine.run(&["connect", "--undo", "cursor"]));

    assert!(undone.stdout.contains("removed the entry"), "{undone:?}");
    let expected = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"changed\"\n    }\n  }\n}\n";
    assert_eq!(machine.read(".cursor/mcp.json"), expected);
}

#[test]
fn a_file_that_does_not_parse_or_has_something_else_there_is_never_written() {
    let rows = [
        (".cursor/mcp.json", "cursor", "{ \"mcpServers\": { ", "not valid JSON"),
        (".cursor/mcp.json", "cursor", "{ mcpServers: {} }", "not valid JSON"),
        (".cursor/mcp.json", "cursor", "{ \"mcpServers\": [] }", "`mcpServers` in it is not an object"),
        (".cursor/mcp.json", "cursor", "[]", "`the file` in it is not an object"),
        (".cursor/mcp.json", "cursor", "{ \"mcpServers\": {}, \"mcpServers\": {} }", "twice"),
        (".codex/config.toml", "codex", "[mcp_servers.a\n", "not valid TOML"),
        (".codex/config.toml", "codex", "mcp_servers = 3\n", "`mcp_servers` in it is not an object"),
    ];
    for (path, client, text, expected) in rows {
        let machine = Machine::new();
        machine.write(path, text);

        let ran = machine.run(&["connect", client]);

        assert_eq!(ran.code, 1, "{text}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{text}: {ran:?}");
        assert_eq!(machine.read(path), text);
    }
}

#[test]
fn an_entry_of_somebody_else_is_replaced_only_when_asked() {
    let machine = Machine::new();
    let theirs = "{\n  \"mcpServers\": {\n    \"openfang\": {\n      \"command\": \"something\"\n    }\n  }\n}\n";
    machine.write(".cursor/mcp.json", theirs);

    let refused = machine.run(&["connect", "cursor"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("--replace"), "{refused:?}");
    assert_eq!(machine.read(".cursor/mcp.json"), theirs);

    ok(machine.run(&["connect", "cursor", "--replace"]));
    assert!(!machine.read(".cursor/mcp.json").contains("something"));
    ok(machine.run(&["connect", "--undo", "cursor"]));
    assert_eq!(machine.read(".cursor/mcp.json"), theirs);
}

#[test]
fn a_link_stays_a_link_and_the_mode_of_a_file_stays() {
    let machine = Machine::new();
    let real = machine.write("dotfiles/cursor.json", "{}\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(machine.user().join(".cursor")).unwrap();
    let link = machine.user().join(".cursor/mcp.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();

    ok(machine.run(&["connect", "cursor"]));

    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(machine.read("dotfiles/cursor.json").contains("--tools"));
    ok(machine.run(&["connect", "--undo", "cursor"]));
    assert_eq!(machine.read("dotfiles/cursor.json"), "{}\n");
}

#[test]
fn the_preview_leaves_out_secrets_and_backups_are_for_their_owner_alone() {
    let machine = Machine::new();
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"env\": {\n        \"API_TOKEN\": \"hunter2-hunter2\"\n      }\n    }\n  }\n}\n";
    machine.write(".cursor/mcp.json", text);

    let on_one_line = r#"{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "hunter2-hunter2"}}}}"#;
    machine.write(".kiro/settings/mcp.json", on_one_line);

    let ran = ok(machine.run(&["connect", "cursor"]));
    let other = ok(machine.run(&["connect", "kiro"]));

    assert!(!format!("{ran:?} {other:?}").contains("hunter2"), "{ran:?} {other:?}");
    assert!(ran.stdout.contains("+    \"openfang\": {") || ran.stdout.contains("+      \"command\""), "{}", ran.stdout);
    assert!(ran.stderr.contains("openfang connect --undo cursor"), "{ran:?}");
    let backups = machine.openfang.home().join("connect/cursor");
    for backup in std::fs::read_dir(backups).unwrap().flatten() {
        assert_eq!(backup.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(backup.path()).unwrap(), text);
    }
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step() {
    let machine = Machine::new();
    let rows: [(&[&str], i32, &str); 6] = [
        (&["connect"], 2, "no program is found"),
        (&["connect", "cursr"], 2, "cursor"),
        (&["connect", "claude-desktop", "--project"], 2, "leave --project out"),
        (&["connect", "claude-desktop", "--http"], 1, "leave --http out"),
        (&["connect", "--undo"], 2, "--all"),
        (&["connect", "cursor", "--agent", "nobody"], 1, "there is no agent nobody"),
    ];
    for (arguments, code, expected) in rows {
        let ran = machine.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
    std::fs::create_dir_all(machine.user().join(".cursor")).unwrap();
    let several = machine.run(&["connect"]);
    assert!(several.stderr.contains("found: cursor"), "{several:?}");
}

#[test]
fn the_url_of_the_daemon_is_written_with_a_key_that_undo_revokes() {
    let machine = Machine::new();
    let daemon = machine.openfang.start();
    ok(machine.run(&["user", "add", "ada", "--grant", "add_numbers"]));

    let ran = ok(machine.run(&["connect", "cursor", "--http", "--key", "ada"]));

    let entry: Value = serde_json::from_str(&machine.read(".cursor/mcp.json")).unwrap();
    let entry = &entry["mcpServers"]["openfang"];
    assert_eq!(entry["url"], format!("http://{}/mcp", daemon.address()));
    let key = entry["headers"]["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
    assert!(!format!("{ran:?}").contains(key), "the key is not shown");
    assert!(ran.stdout.contains("\"Authorization\": \"...\""), "the header is part of the diff: {ran:?}");
    assert!(ok(machine.run(&["key", "list"])).stdout.contains("connect cursor"));
    let revoked = || ok(machine.run(&["key", "list"])).stdout.matches("revoked").count();
    assert_eq!(revoked(), 0);
    ok(machine.run(&["connect", "cursor", "--http", "--key", "ada"]));
    assert_eq!(revoked(), 1, "the key of an entry that is replaced is worth nothing");
    ok(machine.run(&["connect", "--undo", "cursor"]));
    assert_eq!(revoked(), 2);
    assert!(!machine.user().join(".cursor").exists());
}

#[test]
fn the_list_says_what_is_installed_and_connected() {
    let machine = Machine::new();
    ok(machine.run(&["connect", "cursor"]));
    machine.write(".config/zed/settings.json", "{");

    let listed = ok(machine.run(&["connect", "--list"]));

    let line = |word: &str| listed.stdout.lines().find(|line| line.starts_with(word)).unwrap().to_owned();
    assert!(line("cursor").split_whitespace().take(3).eq(["cursor", "yes", "yes"]), "{}", line("cursor"));
    assert!(line("zed").contains("unreadable"), "{}", line("zed"));
    assert!(line("kiro").split_whitespace().take(3).eq(["kiro", "no", "no"]), "{}", line("kiro"));
}

/// A command like that of Claude Code: it owns its file, and writes it in its own way.
const CLAUDE: &str = r#"#!/bin/sh
exec python3 -c 'import json, os, sys
path = os.path.expanduser("~/.claude.json")
settings = json.load(open(path))
settings.setdefault("mcpServers", {})[sys.argv[5]] = json.loads(sys.argv[6])
settings["writtenBy"] = "claude"
json.dump(settings, open(path, "w"))' "$@"
"#;

#[test]
fn claude_code_writes_its_own_file_where_its_command_is_there() {
    let machine = Machine::new();
    let before = "{\n  \"numStartups\": 3\n}";
    machine.write(".claude.json", before);
    let program = machine.write("bin/claude", CLAUDE);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let user = machine.user();
    let path = format!("{}/bin:/usr/bin:/bin", user.display());
    let variables = [("HOME", user.to_str().unwrap()), ("PATH", path.as_str())];

    ok(machine.openfang.run_with_all(&variables, &["connect", "claude-code"]));
    assert!(machine.read(".claude.json").contains("\"writtenBy\": \"claude\""));
    assert!(machine.read(".claude.json").contains("--tools"));
    ok(machine.openfang.run_with_all(&variables, &["connect", "--undo", "claude-code"]));

    assert_eq!(machine.read(".claude.json"), before);
}
