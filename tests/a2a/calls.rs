//! Every call that can be made: each method of each dialect, over each binding that has it.

use openfang_a2a::dialect::Dialect;
use openfang_a2a::operation::Method;
use openfang_testkit::http::{Answer, Client};
use serde_json::{Value, json};

use super::wire::{fresh, request};

/// What the calls are about.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) agent: String,
    pub(super) task: String,
    pub(super) push: String,
    pub(super) context: String,
    pub(super) page: String,
    pub(super) url: String,
}

/// One call, ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) dialect: Dialect,
    pub(super) method: Method,
    pub(super) verb: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
}

impl Call {
    /// Sends it.
    pub(super) async fn send(&self, client: &Client) -> Answer {
        let body = self.body.as_ref().map(Value::to_string);
        self.send_body(client, body.as_deref()).await
    }

    /// Sends it with another body.
    pub(super) async fn send_body(&self, client: &Client, body: Option<&str>) -> Answer {
        let client = self.headers.iter().fold(client.clone(), |client, (name, value)| client.with(name, value));
        client.send(self.verb, &self.path, body).await
    }

    /// What its parameters are in; on HTTP+JSON the body itself.
    pub(super) fn is_rpc(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body["jsonrpc"].is_string())
    }
}

/// All of them.
pub(super) fn every(names: &Names) -> Vec<Call> {
    let mut calls = Vec::new();
    for dialect in Dialect::ALL {
        for (name, method) in dialect.methods() {
            let body = || Some(request(1, name, params(dialect, *method, names)));
            let call =
                |headers| Call { dialect, method: *method, verb: "POST", path: "/a2a".into(), headers, body: body() };
            calls.push(call(Vec::new()));
            // A name that two dialects share is read as the one that is stated.
            let version = match dialect {
                Dialect::V01 => "0.1",
                Dialect::V03 => "0.3",
                Dialect::V10 | Dialect::V03Proto | Dialect::OpenFang => continue,
            };
            calls.push(call(vec![("a2a-version", version.to_owned())]));
        }
    }
    let agent = &names.agent;
    for (base, dialect) in [
        ("/a2a/rest".to_owned(), Dialect::V10),
        ("/a2a/rest/v1".to_owned(), Dialect::V03Proto),
        (format!("/a2a/rest/{agent}"), Dialect::V10),
        (format!("/a2a/rest/{agent}/v1"), Dialect::V03Proto),
        (format!("/a2a/agents/{agent}"), Dialect::V10),
        (format!("/a2a/agents/{agent}/v1"), Dialect::V03Proto),
    ] {
        calls.extend(Method::ALL.into_iter().flat_map(|method| rest(&base, dialect, method, names)));
    }
    calls.extend(openfang(names));
    calls
}

/// The ways to ask for a method over HTTP+JSON.
fn rest(base: &str, dialect: Dialect, method: Method, names: &Names) -> Vec<Call> {
    let Names { task, push, context, page, .. } = names;
    let call = |verb, path: String, body| {
        let path = format!("{base}/{path}");
        Call { dialect, method, verb, path, headers: Vec::new(), body }
    };
    let configs = format!("tasks/{task}/pushNotificationConfigs");
    let card = if dialect == Dialect::V10 { "extendedAgentCard" } else { "card" };
    match method {
        Method::Send => vec![call("POST", "message:send".into(), Some(params(dialect, method, names)))],
        Method::Stream => vec![call("POST", "message:stream".into(), Some(params(dialect, method, names)))],
        Method::Get => vec![call("GET", format!("tasks/{task}"), None)],
        Method::List => vec![
            call("GET", format!("tasks?contextId={context}"), None),
            call("GET", format!("tasks?pageToken={page}"), None),
        ],
        Method::Cancel => vec![call("POST", format!("tasks/{task}:cancel"), Some(json!({})))],
        Method::Subscribe => vec![
            call("GET", format!("tasks/{task}:subscribe"), None),
            call("POST", format!("tasks/{task}:subscribe"), Some(json!({}))),
        ],
        Method::SetPush => vec![call("POST", configs, Some(params(dialect, method, names)))],
        Method::ListPush => vec![call("GET", configs, None)],
        Method::GetPush => vec![call("GET", format!("{configs}/{push}"), None)],
        Method::DeletePush => vec![call("DELETE", format!("{configs}/{push}"), None)],
        Method::ExtendedCard => vec![call("GET", card.into(), None)],
    }
}

fn openfang(names: &Names) -> Vec<Call> {
    let call = |method, verb, path: String, body| Call {
        dialect: Dialect::OpenFang,
        method,
        verb,
        path,
        headers: Vec::new(),
        body,
    };
    let task = &names.task;
    let send = request(1, "tasks/send", params(Dialect::V01, Method::Send, names));
    vec![
        call(Method::Send, "POST", "/a2a/tasks/send".into(), Some(send)),
        call(Method::Get, "GET", format!("/a2a/tasks/{task}"), None),
        call(Method::Cancel, "POST", format!("/a2a/tasks/{task}/cancel"), None),
    ]
}

/// The parameters of a method, or the body that stands for them.
pub(super) fn params(dialect: Dialect, method: Method, names: &Names) -> Value {
    match dialect {
        Dialect::V10 => newest(method, names),
        Dialect::V03 => older(method, names),
        Dialect::V03Proto => older_proto(method, names),
        Dialect::V01 | Dialect::OpenFang => oldest(method, names),
    }
}

fn newest(method: Method, Names { task, push, context, page, url, .. }: &Names) -> Value {
    match method {
        Method::Send | Method::Stream => {
            let parts = json!([{"text": "hello"}, {"data": {"a": 1}}, {"raw": "aGk=", "filename": "f", "mediaType": "text/plain"}]);
            let message = json!({"messageId": fresh(), "role": "ROLE_USER", "parts": parts, "taskId": task});
            json!({"message": message, "configuration": {"historyLength": 1, "acceptedOutputModes": ["text/plain"]}, "metadata": {"m": 1}})
        }
        Method::Get => json!({"id": task, "historyLength": 1}),
        Method::Cancel | Method::Subscribe => json!({"id": task}),
        Method::List => json!({"contextId": context, "pageToken": page, "pageSize": 5}),
        Method::SetPush => json!({"taskId": task, "id": push, "url": url, "token": "t"}),
        Method::GetPush | Method::DeletePush => json!({"taskId": task, "id": push}),
        Method::ListPush => json!({"taskId": task}),
        Method::ExtendedCard => json!({}),
    }
}

fn older(method: Method, Names { task, push, url, .. }: &Names) -> Value {
    match method {
        Method::Send | Method::Stream => {
            let parts = json!([{"kind": "text", "text": "hello"}, {"kind": "file", "file": {"name": "f", "mimeType": "text/plain", "bytes": "aGk="}}]);
            let message =
                json!({"kind": "message", "messageId": fresh(), "role": "user", "parts": parts, "taskId": task});
            json!({"message": message, "configuration": {"blocking": true, "acceptedOutputModes": ["text/plain"]}})
        }
        Method::Get => json!({"id": task, "historyLength": 1}),
        Method::SetPush => json!({"taskId": task, "pushNotificationConfig": {"id": push, "url": url}}),
        Method::GetPush | Method::DeletePush => json!({"id": task, "pushNotificationConfigId": push}),
        Method::Cancel | Method::Subscribe | Method::ListPush | Method::List => json!({"id": task}),
        Method::ExtendedCard => json!({}),
    }
}

fn older_proto(method: Method, names: &Names) -> Value {
    let Names { task, push, url, .. } = names;
    match method {
        Method::Send | Method::Stream => {
            let content = json!([{"text": "hello"}, {"data": {"data": {"a": 1}}}]);
            let message = json!({"messageId": fresh(), "role": "ROLE_USER", "content": content, "taskId": task});
            json!({"message": message, "configuration": {"blocking": true}})
        }
        Method::SetPush => {
            let name = format!("tasks/{task}/pushNotificationConfigs/{push}");
            json!({"config": {"name": name, "pushNotificationConfig": {"id": push, "url": url}}, "configId": push})
        }
        Method::Get
        | Method::List
        | Method::Cancel
        | Method::Subscribe
        | Method::GetPush
        | Method::ListPush
        | Method::DeletePush
        | Method::ExtendedCard => json!({}),
    }
}

fn oldest(method: Method, Names { task, url, .. }: &Names) -> Value {
    match method {
        Method::Send | Method::Stream => {
            let parts = json!([{"type": "text", "text": "hello"}, {"type": "data", "data": {"a": 1}}]);
            json!({"id": task, "message": {"role": "user", "parts": parts}, "historyLength": 1, "metadata": {"m": 1}})
        }
        Method::SetPush => json!({"id": task, "pushNotificationConfig": {"url": url}}),
        Method::Get
        | Method::List
        | Method::Cancel
        | Method::Subscribe
        | Method::GetPush
        | Method::ListPush
        | Method::DeletePush
        | Method::ExtendedCard => json!({"id": task}),
    }
}
