//! fastmcp as a client that waits for tasks by itself.

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
