//! What came back, in the form that all clients print.

use serde_json::{Value, json};

fn state(status: &Value) -> String {
    let name = status["state"].as_str().unwrap_or_default();
    name.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-")
}

fn part(part: &Value) -> Value {
    for kind in ["text", "data"] {
        if let Some(value) = part.get(kind) {
            return json!({ kind: value });
        }
    }
    let mut file = json!({"name": part["filename"], "mediaType": part["mediaType"]});
    match part.get("raw") {
        Some(bytes) => file["bytes"] = bytes.clone(),
        None => file["url"] = part["url"].clone(),
    }
    json!({ "file": file })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn parts(holder: &Value) -> Vec<Value> {
    items(&holder["parts"]).map(part).collect()
}

fn said(status: &Value) -> String {
    items(&status["message"]["parts"]).filter_map(|part| part["text"].as_str()).collect()
}

pub(crate) fn task(task: &Value) -> Value {
    let artifacts: Vec<Value> = items(&task["artifacts"])
        .map(|each| json!({"name": each["name"], "parts": parts(each)}))
        .collect();
    json!({
        "id": task["id"],
        "contextId": task["contextId"],
        "state": state(&task["status"]),
        "said": said(&task["status"]),
        "artifacts": artifacts,
        "history": items(&task["history"]).count(),
    })
}

pub(crate) fn message(message: &Value) -> Value {
    let role = message["role"].as_str().unwrap_or_default().trim_start_matches("ROLE_").to_lowercase();
    json!({"parts": parts(message), "role": role})
}

/// A `StreamResponse`.
pub(crate) fn event(event: &Value) -> Value {
    if let Some(task) = event.get("task") {
        return json!({"event": format!("task:{}", state(&task["status"]))});
    }
    if let Some(said) = event.get("message") {
        return json!({"event": "message", "parts": parts(said)});
    }
    if let Some(update) = event.get("statusUpdate") {
        return json!({"event": format!("status:{}", state(&update["status"]))});
    }
    let update = &event["artifactUpdate"];
    let name = if update["append"] == true { "artifact+" } else { "artifact" };
    json!({"event": name, "parts": parts(&update["artifact"])})
}

/// A stream in short: what came, in order, and the text of it all.
pub(crate) fn heard(events: &[Value]) -> Value {
    let names: Vec<&Value> = events.iter().map(|event| &event["event"]).collect();
    let texts = events
        .iter()
        .flat_map(|event| items(&event["parts"]))
        .filter_map(|part| part["text"].as_str());
    json!({"events": names, "text": texts.collect::<String>(), "final": null})
}

pub(crate) fn card(card: &Value) -> Value {
    let interfaces = items(&card["supportedInterfaces"]);
    json!({
        "name": card["name"],
        "streaming": card["capabilities"]["streaming"] == true,
        "push": card["capabilities"]["pushNotifications"] == true,
        "skills": items(&card["skills"]).map(|skill| &skill["id"]).collect::<Vec<_>>(),
        "interfaces": interfaces
            .map(|each| json!([each["protocolBinding"], each["protocolVersion"], each["url"]]))
            .collect::<Vec<_>>(),
    })
}

pub(crate) fn config(config: &Value) -> Value {
    json!({"id": config["id"], "taskId": config["taskId"], "url": config["url"], "token": config["token"]})
}
