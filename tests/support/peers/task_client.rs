//! fastmcp as a client that waits for tasks by itself, and the A2A SDK as a client of tools.

use serde_json::{Value, json};

use super::process::{python, run};

/// What came of each call: what was said, and what was asked before. Questions are answered with `three`.
pub(crate) fn with_tasks(url: &str, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut client = python("python-fastmcp", "client_fastmcp_tasks.py");
    client.arg(url).args(calls.iter().map(|(tool, arguments)| format!("{tool}={arguments}")));
    let ran = run(client);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a call comes to that asked nothing.
pub(crate) fn says(text: &str) -> Value {
    json!({"said": [text], "is_error": false, "asked": []})
}

/// What the Python SDK 1.3 got of the tools of the reference server, as skills of the agent at this URL.
pub(crate) fn with_skills(url: &str) -> Vec<Value> {
    let mut client = python("python-a2a13", "client_a2a13_skills.py");
    client.arg(url);
    let ran = run(client);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
