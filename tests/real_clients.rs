//! Real clients, with the SDKs people use: each lists and calls an agent and a tool, over HTTP and over stdio, and
//! everything we said to it fits the official schema of its revision.

use serde_json::{Value, json};

use crate::support::binary::Openfang;
use crate::support::peers::{Era, Peer, inspector};
use crate::support::recorder::{Heard, Recorder};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// The job of every client, done.
#[track_caller]
fn assert_done(done: &Value, version: &str) {
    assert_eq!(done["protocolVersion"], version, "{done}");
    let tools = done["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("openfang_agent_starter")) && tools.contains(&json!("add_numbers")), "{done}");
    let calls = done["calls"].as_array().unwrap();
    assert_eq!(calls[0]["content"][0]["text"], "Hello, Ada!", "{done}");
    assert_eq!(calls[1]["content"][0]["text"], "10", "{done}");
    assert_eq!(calls[1]["structuredContent"], json!({"result": 10}), "{done}");
    assert_eq!(calls[2]["isError"], true, "{done}");
    assert_eq!(done["gotPrompts"][0]["messages"].as_array().map(Vec::len), Some(1), "{done}");
}

fn over_http(peer: Peer, era: Era, version: &str) {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    let recorder = Recorder::before(daemon.address());

    let done = job(peer.http(&recorder.url("/mcp"))).era(era).run();

    assert_done(&done, version);
    assert!(recorder.assert_good() >= 5);
}

fn over_stdio(peer: Peer, era: Era, version: &str) {
    let openfang = Openfang::new();
    let (said, heard) = (openfang.scratch("said"), openfang.scratch("heard"));
    let script = format!(
        "tee -a '{}' | '{}' mcp --tools | tee -a '{}'",
        heard.display(),
        env!("CARGO_BIN_EXE_openfang"),
        said.display()
    );
    let home = openfang.home();

    let drive = job(peer.stdio(&["/bin/sh", "-c", &script])).env("OPENFANG_HOME", home.to_str().unwrap());
    let done = drive.env("PATH", "/usr/bin:/bin").era(era).run();

    assert_done(&done, version);
    let mut messages = Heard::default();
    messages.client(&lines(&heard));
    messages.server(&lines(&said), None);
    assert!(messages.assert_good() >= 5);
}

fn job(drive: crate::support::peers::Drive) -> crate::support::peers::Drive {
    drive
        .call("openfang_agent_starter", &json!({"message": "Ada"}))
        .call("add_numbers", &json!({"a": 3, "b": 7}))
        .call("add_numbers", &json!({"a": "three"}))
        .prompt("agent-starter", &json!({"message": "hello"}))
}

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

macro_rules! clients {
    ($($name:ident: $peer:expr, $era:expr, $version:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn works_over_http() {
                over_http($peer, $era, $version);
            }

            #[test]
            fn works_over_stdio() {
                over_stdio($peer, $era, $version);
            }
        })*
    };
}

clients! {
    python_mcp_by_itself: Peer::PythonMcp, Era::Auto, MODERN;
    python_mcp_legacy: Peer::PythonMcp, Era::Legacy, LEGACY;
    python_mcp_modern: Peer::PythonMcp, Era::Modern, MODERN;
    fastmcp: Peer::FastMcp, Era::Auto, MODERN;
    fastmcp_legacy: Peer::FastMcp, Era::Legacy, LEGACY;
    typescript_1: Peer::Sdk1, Era::Auto, LEGACY;
    typescript_2_by_itself: Peer::Sdk2, Era::Auto, MODERN;
    typescript_2_legacy: Peer::Sdk2, Era::Legacy, LEGACY;
    rmcp_by_itself: Peer::Rmcp, Era::Auto, MODERN;
    rmcp_legacy: Peer::Rmcp, Era::Legacy, LEGACY;
}

#[test]
fn the_typescript_client_works_over_the_first_transport_too() {
    let openfang = Openfang::new();
    let daemon = openfang.start();

    let recorder = Recorder::before(daemon.address());

    let done = job(Peer::Sdk1.sse(&recorder.url("/sse"))).run();

    assert_done(&done, LEGACY);
    assert!(recorder.assert_good() >= 5);
}

#[test]
fn a_real_client_needs_the_key_where_there_is_one_and_reads_its_tasks_with_it() {
    let openfang = Openfang::new();
    openfang.write("config.toml", "api_key = \"0123456789abcdef\"\n");
    let daemon = openfang.start();
    let url = format!("http://{}/mcp", daemon.address());
    let keyed = || Peer::PythonMcp.http(&url).bearer("0123456789abcdef");

    let refused = Peer::PythonMcp.http(&url).fails();
    let done = keyed().call("openfang_agent_starter", &json!({"message": "Ada"})).run();
    let listed = openfang.run(&["--json", "task", "list"]).json();
    let uri = format!("openfang://tasks/{}", listed["tasks"][0]["id"].as_str().unwrap());
    let read = keyed().read(&uri).run();

    assert!(!refused.is_empty(), "whoever has no key is told so");
    assert_eq!(done["calls"][0]["content"][0]["text"], "Hello, Ada!");
    assert!(read["read"][0].to_string().contains("completed"), "{read}");
}

#[test]
fn a_question_of_an_agent_reaches_the_user_of_a_real_client_in_both_eras() {
    let openfang = Openfang::new();
    openfang
        .write("agents/asks/agent.toml", "name = \"asks\"\ndescription = \"asks\"\n[model]\nprovider = \"script\"\n");
    openfang.write(
        "agents/asks/script.toml",
        "[[rules]]\nwhen = { turn = 1 }\nsteps = [{ status = { state = \"input-required\", message = \"how many?\" } }]\n\
         [[rules]]\nwhen = { turn = 2 }\nsteps = [{ chunk = \"thank you\" }]\n",
    );
    let daemon = openfang.start();
    for (peer, era) in
        [(Peer::PythonMcp, Era::Auto), (Peer::PythonMcp, Era::Legacy), (Peer::Sdk1, Era::Auto), (Peer::Sdk2, Era::Auto)]
    {
        let recorder = Recorder::before(daemon.address());

        let done = peer
            .http(&recorder.url("/mcp"))
            .era(era)
            .elicit(&json!({"reply": "3"}))
            .call("openfang_agent_asks", &json!({"message": "apples"}))
            .run();

        assert_eq!(done["calls"][0]["content"][0]["text"], "thank you", "{peer:?} {era:?} {done}");
        recorder.assert_good();
    }
}

#[test]
fn progress_reaches_a_real_client_and_its_cancel_stops_the_agent() {
    let openfang = Openfang::new();
    openfang.write(
        "agents/waits/agent.toml",
        "name = \"waits\"\ndescription = \"waits\"\n[model]\nprovider = \"script\"\n",
    );
    openfang
        .write("agents/waits/script.toml", "[[rules]]\nsteps = [{ chunk = \"begun\" }, { wait_for_cancel = true }]\n");
    let daemon = openfang.start();
    for (peer, era) in [(Peer::PythonMcp, Era::Auto), (Peer::Sdk1, Era::Auto), (Peer::Sdk2, Era::Auto)] {
        let done = peer
            .http(&format!("http://{}/mcp", daemon.address()))
            .era(era)
            .progress()
            .cancel_after(std::time::Duration::from_millis(500))
            .call("openfang_agent_waits", &json!({"message": "x"}))
            .run();

        assert_eq!(done["calls"][0]["cancelled"], true, "{peer:?} {done}");
    }
    let listed = openfang.run(&["--json", "task", "list"]).json();
    let states: Vec<&Value> = listed["tasks"].as_array().unwrap().iter().map(|task| &task["status"]["state"]).collect();
    assert_eq!(states, [&json!("canceled"); 3], "{listed}");
}

#[test]
fn the_inspector_lists_and_calls_in_both_eras_and_finds_our_tools_portable() {
    let openfang = Openfang::new();
    let daemon = openfang.start();
    // A conversation of its own each: they use the same ids.
    let inspect = |options: &[&str]| {
        let recorder = Recorder::before(daemon.address());
        let ran = inspector(&[&recorder.url("/mcp"), "--transport", "http"], options);
        assert!(recorder.assert_good() >= 1);
        ran
    };
    for era in [&[][..], &["--protocol-era", "modern"]] {
        let listed = inspect(&[&["--method", "tools/list"], era].concat());
        assert_eq!(listed.code, 0, "{listed:?}");
        assert!(listed.stdout.contains("openfang_agent_starter"), "{listed:?}");
        let call = ["--method", "tools/call", "--tool-name", "add_numbers", "--tool-arg", "a=3", "b=7"];
        let called = inspect(&[&call, era].concat());
        assert!(called.code == 0 && called.stdout.contains("10"), "{called:?}");
    }
    let strict = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!(strict.code, 0, "{strict:?}");
    assert!(!strict.stdout.contains("schemaFindings") && !strict.stderr.contains("Warning"), "{strict:?}");
    let stdio = inspector(&[env!("CARGO_BIN_EXE_openfang"), "mcp", "--tools"], &["--method", "tools/list"]);
    assert_eq!(stdio.code, 0, "{stdio:?}");
}
