//! A task as both generations write it.

use serde_json::{Value, json};

use super::*;

fn task(state: CallTaskState) -> CallTask {
    CallTask {
        id: "t".to_owned(),
        created_at: "2026-11-18T12:00:00Z".parse().unwrap(),
        updated_at: "2026-11-18T12:00:01Z".parse().unwrap(),
        ttl: Duration::from_secs(60),
        poll: Duration::from_millis(500),
        message: Some("thinking".to_owned()),
        state,
    }
}

fn written(state: CallTaskState, revision: Revision) -> Value {
    serde_json::to_value(ShownTask { task: &task(state), revision, is_detailed: true }).unwrap()
}

#[test]
fn the_extension_has_what_came_of_a_task_beside_it() {
    let done = || CallTaskState::Completed(Box::new(ToolOutput::error("no")));
    let shown = written(done(), Revision::V2026_07_28);
    assert_eq!(
        shown,
        json!({
            "taskId": "t", "status": "completed", "statusMessage": "thinking",
            "createdAt": "2026-11-18T12:00:00Z", "lastUpdatedAt": "2026-11-18T12:00:01Z",
            "ttlMs": 60_000, "pollIntervalMs": 500,
            "result": { "content": [{ "type": "text", "text": "no" }], "isError": true },
        })
    );
    let failed = written(CallTaskState::Failed(McpError::Internal), Revision::V2026_07_28);
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
}

#[test]
fn the_core_of_2025_11_25_calls_a_failed_tool_failed_and_keeps_the_result_elsewhere() {
    let shown = written(CallTaskState::Completed(Box::new(ToolOutput::error("no"))), Revision::V2025_11_25);
    assert_eq!(
        (&shown["status"], &shown["ttl"], &shown["pollInterval"]),
        (&json!("failed"), &json!(60_000), &json!(500))
    );
    assert_eq!(shown.get("result"), None);
    assert_eq!(written(CallTaskState::Canceled, Revision::V2025_11_25)["status"], "cancelled");
}

#[test]
fn questions_stand_under_their_keys() {
    let schema = json!({ "type": "object" });
    let requests = BTreeMap::from([("q1".to_owned(), InputRequest::elicitation("Sure?", &schema))]);
    let shown = written(CallTaskState::InputRequired(requests), Revision::V2026_07_28);
    assert_eq!(shown["status"], "input_required");
    assert_eq!(shown["inputRequests"]["q1"]["method"], "elicitation/create");
    assert_eq!(shown["inputRequests"]["q1"]["params"]["message"], "Sure?");
}
