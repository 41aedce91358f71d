//! A server in a sandbox reads, writes and dials what it was given, and nothing else.

use std::net::TcpListener;

use serde_json::json;

use crate::support::binary::{Openfang, Ran};

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn prober() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/gateway/servers/prober.py");
    std::fs::canonicalize(path).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_sandboxed_server_has_what_it_was_given_and_an_open_one_has_everything() {
    let openfang = Openfang::new();
    let _daemon = openfang.start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = |name: &str| openfang.scratch(name).to_str().unwrap().to_owned();
    for name in ["given", "written", "hidden"] {
        std::fs::create_dir(place(name)).unwrap();
        std::fs::write(format!("{}/file", place(name)), "x").unwrap();
    }
    let tries = json!([
        ["read", format!("{}/file", place("given"))],
        ["write", format!("{}/file", place("given"))],
        ["write", format!("{}/file", place("written"))],
        ["read", format!("{}/file", place("hidden"))],
        ["list", place("hidden")],
        ["read", openfang.home().join("daemon.json")],
        ["dial", listener.local_addr().unwrap().to_string()],
    ]);
    let outcomes = |server: &str| {
        let arguments = json!({ "tries": tries }).to_string();
        let ran = ok(openfang.run(&["tool", "call", &format!("mcp_{server}_attempt"), "--args", &arguments, "--json"]));
        let text = ran.json()["content"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Vec<String>>(&text).unwrap()
    };
    let (script, given, written) = (prober(), place("given"), place("written"));
    let walls = ["--sandbox", "--read", &script, "--read", &given, "--write", &written];
    let add = |name: &str, options: &[&str]| {
        let words = ["mcp", "add", name].into_iter().chain(options.iter().copied());
        let words: Vec<&str> = words.chain(["--", "/usr/bin/python3", "-B", &script]).collect();
        ok(openfang.run(&words))
    };

    add("open", &[]);
    add("closed", &walls);
    add("online", &[&walls[..], &["--network"]].concat());

    assert_eq!(outcomes("open"), ["done"; 7]);
    let refused = "PermissionError";
    assert_eq!(outcomes("closed"), ["done", refused, "done", refused, refused, refused, refused]);
    assert_eq!(outcomes("online"), ["done", refused, "done", refused, refused, refused, "done"]);
    let shown = ok(openfang.run(&["mcp", "show", "closed"])).stdout;
    assert!(shown.contains("no network") && shown.contains(&given), "{shown}");
    let remote = openfang.run(&["mcp", "add", "x", "--sandbox", "--url", "http://127.0.0.1:9/"]);
    assert_eq!(remote.code, 2, "{remote:?}");
}
