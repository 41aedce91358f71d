//! Stored secrets: what refers to them works, and their values are found nowhere else.

use std::collections::BTreeMap;
use std::path::Path;

use openfang_testkit::http::Client;
use serde_json::{Value, json};

use super::fixture::{Machine, gather, ok};
use crate::support::binary::{Daemon, Openfang};

/// No known shape of a token, so that only the vault can know that it is one.
const CANARY: &str = "plain-canary-4711-of-the-vault";
const PROVIDER_CANARY: &str = "plain-canary-4712-of-a-provider";

/// A server that tells its variable to whoever asks, to its log and to errors.
const TELLTALE: &str = r#"
echo "token is $TOKEN" >&2
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case $line in
    *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"telltale","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"tell","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"${#TOKEN} $TOKEN"'"}]}}' ;;
    esac
done
"#;

fn telltale(openfang: &Openfang) -> String {
    let script = openfang.scratch("telltale.sh");
    std::fs::write(&script, TELLTALE).unwrap();
    script.to_str().unwrap().to_owned()
}

fn store(openfang: &Openfang, name: &str, value: &str) {
    let ran = ok(openfang.run_with_input(&["secret", "set", name], format!("{value}\n").as_bytes()));
    assert!(ran.stdout.contains(&format!("stored {name}")), "{ran:?}");
}

fn tell(openfang: &Openfang) -> Value {
    ok(openfang.run(&["tool", "call", "mcp_box_tell", "--json"])).json()
}

fn holds(directory: &Path, needle: &str) -> Vec<std::path::PathBuf> {
    let mut files = BTreeMap::new();
    gather(directory, &mut files);
    let is_in = |bytes: &Vec<u8>| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    files.into_iter().filter(|(_, bytes)| is_in(bytes)).map(|(path, _)| path).collect()
}

/// Everything that this machine shows of its processes to somebody who looks.
fn command_lines() -> String {
    let mut shown = String::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        shown.push_str(&std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default());
    }
    shown
}

fn operator(openfang: &Openfang, daemon: &Daemon) -> Client {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(openfang.home().join("daemon.json")).unwrap()).unwrap();
    daemon.client().bearer(file["token"].as_str().unwrap())
}

#[test]
fn a_server_gets_a_stored_secret_and_it_is_found_nowhere_else() {
    let openfang = Openfang::new();
    openfang.write(
        "config.toml",
        "[log]\nfile = true\nlevel = \"debug\"\n[audit]\narguments = true\n\
         [providers.local]\nwire = \"chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"${secret:PROVIDER}\"\n",
    );
    let daemon = openfang.start();
    store(&openfang, "TOKEN", CANARY);
    store(&openfang, "PROVIDER", PROVIDER_CANARY);
    let script = telltale(&openfang);
    let mut said = vec![ok(openfang.run(&[
        "--trace-wire",
        "mcp",
        "add",
        "box",
        "--env",
        "TOKEN=${secret:TOKEN}",
        "--",
        "/bin/sh",
        &script,
    ]))];

    let answer = tell(&openfang);
    let length = format!("{} ", CANARY.len());
    assert!(answer.to_string().contains(&length), "the server has the secret: {answer}");

    let refused = openfang.run(&["tool", "call", "get_greeting", &format!("name={CANARY}")]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let unknown = openfang.run(&["secret", "remove", "TOKN"]);
    assert!(unknown.stderr.contains("there is no secret TOKN (did you mean TOKEN?)"), "{unknown:?}");
    for command in [
        &["secret", "list"][..],
        &["secret", "list", "--json"],
        &["mcp", "show", "box"],
        &["mcp", "show", "box", "--json"],
        &["mcp", "logs", "box"],
        &["mcp", "list", "--json"],
        &["logs", "-n", "500"],
        &["audit", "tail", "-n", "50"],
        &["audit", "tail", "--json"],
        &["config", "show"],
        &["doctor", "--json"],
        &["status", "--json"],
        &["mcp", "restart", "box"],
        &["model", "test", "local/m"],
        &["model", "list"],
        &["--trace-wire", "model", "test", "local/m"],
        &["audit", "export", "-"],
        &["--trace-wire", "secret", "list"],
    ] {
        said.push(openfang.run(command));
    }
    let printed = format!("{said:?} {unknown:?} {}", command_lines());
    assert!(!printed.contains(CANARY) && !printed.contains(PROVIDER_CANARY), "{printed}");
    assert!(printed.contains("provider:local"), "the provider's key was used: {printed}");
    assert!(printed.contains("bind secret TOKEN for server:box (/bin/sh)"), "{printed}");
    assert!(printed.contains("set secret TOKEN"), "{printed}");
    drop(daemon);
    for canary in [CANARY, PROVIDER_CANARY] {
        assert_eq!(holds(&openfang.home(), canary), [] as [&Path; 0]);
    }

    // The file with the sealed value is of no use without the key.
    std::fs::remove_file(openfang.home().join("data/secret.key")).unwrap();
    assert!(openfang.home().join("data/secrets.json").exists());
}

#[test]
fn a_missing_secret_is_named_and_storing_it_brings_the_server_up() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let script = telltale(&openfang);
    let added = openfang.run(&["mcp", "add", "box", "--env", "TOKEN=${secret:BOX}", "--", "/bin/sh", &script]);
    assert_eq!(added.code, 1, "{added:?}");
    let state = || openfang.run(&["mcp", "show", "box", "--json"]).json()["connected"].clone();
    let failed = state();
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("there is no secret BOX") && reason.contains("openfang secret set BOX"), "{reason}");
    assert_eq!(failed["starts"], 1, "what cannot be used is not tried again and again");

    store(&openfang, "BOX", CANARY);

    while state()["state"] != "ready" {}
    assert!(tell(&openfang).to_string().contains(&CANARY.len().to_string()));
}

#[test]
fn a_secret_does_not_follow_an_entry_to_another_program_until_that_is_allowed() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let script = telltale(&openfang);
    store(&openfang, "TOKEN", CANARY);
    let add = |name: &str, program: &str| {
        openfang.run(&["mcp", "add", name, "--replace", "--env", "TOKEN=${secret:TOKEN}", "--", program, &script])
    };
    ok(add("box", "/bin/sh"));

    let other = add("other", "/bin/sh");
    let moved = add("box", "/usr/bin/sh");

    for (ran, who) in [(&other, "server:other (/bin/sh)"), (&moved, "server:box (/usr/bin/sh)")] {
        assert_eq!(ran.code, 1, "{ran:?}");
        let said = format!("the secret TOKEN belongs to server:box (/bin/sh) and is not given to {who}");
        assert!(ran.stderr.contains(&said), "{ran:?}");
    }
    let allowed = ok(openfang.run(&["secret", "allow", "TOKEN", "server:other"]));
    assert_eq!(allowed.stdout, "TOKEN is used by server:box (/bin/sh), server:other (/bin/sh)\n");
    while openfang.run(&["mcp", "show", "other", "--json"]).json()["connected"]["state"] != "ready" {}
    let nobody = openfang.run(&["secret", "allow", "TOKEN", "server:gone"]);
    assert!(nobody.stderr.contains("server:gone is not configured"), "{nobody:?}");
}

#[tokio::test]
async fn secrets_are_managed_with_the_daemon_token_only() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "api_key = \"0123456789abcdef0123456789abcdef\"\n");
    let daemon = openfang.start();
    let operator = operator(&openfang, &daemon);
    let admin = daemon.client().bearer("0123456789abcdef0123456789abcdef");
    let body = json!({"name": "TOKEN", "value": CANARY});

    let refused = admin.post("/api/secrets", &body).await;
    assert_eq!((refused.status, admin.get("/api/secrets").await.status), (403, 403), "{refused:?}");
    let stored = operator.post("/api/secrets", &body).await;
    assert_eq!(stored.status, 200, "{stored:?}");
    assert!(!operator.get("/api/secrets").await.body.contains(CANARY));
    let short = operator.post("/api/secrets", &json!({"name": "X", "value": "short"})).await;
    assert_eq!(short.status, 400, "{short:?}");
}

#[test]
fn a_command_line_and_files_of_others_cannot_name_a_secret() {
    let machine = Machine::new();
    let openfang = &machine.openfang;
    let shown = openfang.run(&["mcp", "add", "box", "--", "/bin/sh", "-c", "x ${secret:TOKEN}"]);
    assert_ne!(shown.code, 0, "{shown:?}");
    assert!(shown.stderr.contains("would show the secret in the list of processes"), "{shown:?}");
    machine.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "x", "env": {"T": "${env:secret:TOKEN}"}}, "b": {"command": "x", "env": {"T": "${secret:TOKEN}"}}}}"#,
    );
    machine.write(".codex/config.toml", "[mcp_servers.c]\ncommand = \"x\"\nenv = { T = \"${secret:TOKEN}\" }\n");

    let imported = machine.run(&["mcp", "import", "--yes"]);

    for name in ["a", "b", "c"] {
        let line = imported.stdout.lines().find(|line| line.starts_with(&format!("  - {name}:")));
        assert!(line.is_some(), "{imported:?}");
    }
    assert!(!std::fs::read_to_string(openfang.home().join("config.toml")).unwrap().contains("secret:"));
}

#[test]
fn import_stores_tokens_as_secrets() {
    let machine = Machine::new();
    let script = telltale(&machine.openfang);
    let entry = json!({"mcpServers": {"box": {"command": "/bin/sh", "args": [script], "env": {"TOKEN": CANARY}}}});
    machine.write(".cursor/mcp.json", &entry.to_string());

    let imported = ok(machine.run(&["mcp", "import", "--yes"]));

    assert!(imported.stderr.contains("stored box.TOKEN as secrets"), "{imported:?}");
    let config = std::fs::read_to_string(machine.openfang.home().join("config.toml")).unwrap();
    assert!(config.contains("TOKEN=${secret:box.TOKEN}"), "{config}");
    assert_eq!(holds(&machine.openfang.home(), CANARY), [] as [&Path; 0]);
    assert!(tell(&machine.openfang).to_string().contains(&CANARY.len().to_string()));
}

#[test]
fn a_secret_is_typed_without_being_shown() {
    let openfang = Openfang::new();
    let mut child = openfang.on_terminal("secret set TOKEN");
    let mut terminal = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 1024];
    let mut read = |shown: &mut String| {
        let read = std::io::Read::read(&mut terminal, &mut bytes).unwrap_or(0);
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        read
    };
    while !shown.contains("the value of TOKEN: ") {
        assert!(read(&mut shown) > 0, "{shown}");
    }

    std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{CANARY}\n").as_bytes()).unwrap();
    while !shown.contains("stored TOKEN") {
        assert!(read(&mut shown) > 0, "{shown}");
    }

    assert!(!shown.contains(CANARY), "{shown}");
    let _ = child.wait();
}
