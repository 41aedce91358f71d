//! The spelling of what the API answers.

use serde_json::{Value, json};

use super::*;
use crate::event::{EventId, NotAnEventId};
use crate::ids::TaskId;

/// Members that are spelled as the operator writes them in `agent.toml`.
const AS_WRITTEN: [&str; 2] = ["default_tool", "mcp_servers"];

/// Every member of a value, however deep.
fn members(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.push(name.clone());
                members(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| members(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn task() -> Value {
    let message = json!({
        "messageId": "m", "contextId": "c", "role": "agent", "parts": [{"text": "hello"}],
    });
    let status = json!({"state": "completed", "message": message, "timestamp": "2026-07-28T00:00:00Z"});
    json!({
        "id": "01890000-0000-7000-8000-000000000000", "contextId": "c", "agent": "starter", "status": status,
        "history": [message], "artifacts": [{"artifactId": "a", "parts": [{"text": "hello"}]}],
    })
}

/// A sample is read as the command line reads it, and written as the server writes it.
fn written<T: Serialize + for<'a> Deserialize<'a>>(sample: Value) -> Value {
    let read: T = serde_json::from_value(sample.clone()).unwrap_or_else(|error| panic!("{error}: {sample}"));
    serde_json::to_value(read).unwrap()
}

#[test]
fn members_are_camel_case_except_those_that_the_operator_writes() {
    let manifest = json!({
        "name": "a", "description": "d", "model": {"provider": "direct"},
        "capabilities": {"tools": ["x_*"], "mcp_servers": ["s"]}, "default_tool": "x_y",
    });
    let samples = [
        written::<AgentList>(json!({
            "agents": [{"name": "a", "description": "d"}],
            "failed": [{"name": "b", "reason": "r", "isInForce": false}],
        })),
        written::<AgentView>(json!({"agent": manifest, "tools": ["x_y"]})),
        written::<Reply>(json!({"task": task()})),
        written::<TaskView>(json!({"task": task()})),
        written::<TaskPage>(json!({"tasks": [task()], "nextPageToken": "t", "total": 1})),
        written::<Removal<String>>(json!({"removed": "a"})),
        written::<AcceptedTools>(json!({"approved": ["a"]})),
        written::<LogLines>(json!({"lines": ["a"]})),
        written::<UserList<String>>(json!({"users": ["a"]})),
        written::<KeyList<String>>(json!({"keys": ["a"]})),
        written::<ToolList>(json!({"tools": []})),
    ];
    let mut found = Vec::new();
    samples.iter().for_each(|sample| members(sample, &mut found));

    let mut strange: Vec<&String> = found.iter().filter(|name| name.contains('_')).collect();
    strange.sort();
    assert_eq!(strange, AS_WRITTEN.iter().collect::<Vec<_>>());
}

#[test]
fn a_page_without_a_token_is_the_last_one() {
    let page: TaskPage = serde_json::from_value(json!({"tasks": [], "total": 0})).unwrap();
    assert_eq!(page.next_page_token, "");
}

#[test]
fn the_id_of_an_event_reads_back_and_belongs_to_its_task() {
    let task: TaskId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let other: TaskId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
    let id = EventId { task, seq: 7 };

    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!((id.of(task), id.of(other)), (Some(7), None));
    for text in ["", "7", "x:7", &format!("{task}:"), &format!("{task}:-1"), &format!("{task}:7:7")] {
        assert_eq!(text.parse::<EventId>(), Err(NotAnEventId), "{text}");
    }
}
