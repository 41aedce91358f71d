//! What a server says in its errors, in the log of the daemon and in what commands print.

use std::time::Instant;

use crate::support::binary::Openfang;

const RAW: [char; 6] = ['\u{1b}', '\u{9b}', '\u{202e}', '\u{200b}', '\r', '\u{7f}'];

fn forger(options: &str) -> String {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gateway/servers/forger.py");
    format!(
        "[[mcp_servers]]\nname = \"forger\"\n[mcp_servers.transport]\ntype = \"stdio\"\n\
         command = \"/usr/bin/python3\"\nargs = [\"-B\", {script:?}, {options}]\n"
    )
}

#[test]
fn the_error_of_a_server_forges_no_line_of_the_log() {
    for format in ["text", "json"] {
        let openfang = Openfang::new();
        let asked = openfang.scratch("asked");
        openfang.write("config.toml", &format!("[log]\nformat = \"{format}\"\n\n{}", forger(&format!("{asked:?}"))));
        let mut daemon = openfang.start();
        let begun = Instant::now();
        while !asked.exists() {
            assert!(begun.elapsed().as_secs() < 30, "the server was not asked again");
            std::thread::yield_now();
        }

        daemon.signal("TERM");
        let log = daemon.wait().stderr;

        assert!(log.contains("does not say what changed") && log.contains("forged"), "{log}");
        assert!(!log.contains(RAW), "{format}: {log:?}");
        assert!(log.lines().all(|line| !line.starts_with("2026-01-01T00:00:00Z")), "{format}: {log}");
    }
}

#[test]
fn the_error_of_a_server_is_escaped_in_every_form_of_an_error() {
    let openfang = Openfang::new();
    openfang.write("config.toml", &forger("\"--deaf\""));

    let text = openfang.run(&["mcp", "test", "forger"]);
    let json = openfang.run(&["mcp", "test", "forger", "--json"]);
    let typed = openfang.run(&["mcp", "test", "--\u{1b}[2J\u{202e}"]);
    let typed_json = openfang.run(&["mcp", "test", "--\u{1b}[2J\u{202e}", "--json"]);

    for ran in [&text, &json, &typed, &typed_json] {
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(!ran.stderr.contains(RAW) && !ran.stdout.contains(RAW), "{ran:?}");
    }
    for ran in [&text, &json] {
        assert!(ran.stderr.contains("forged") || ran.stdout.contains("forged"), "{ran:?}");
    }
    serde_json::from_str::<serde_json::Value>(&typed_json.stderr).unwrap();
}
