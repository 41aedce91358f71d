//! The OpenAPI document is valid, and the answers of the server are what it says.

use std::cell::Cell;

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use serde_json::{Value, json};

use crate::http::any_port;
use crate::support::peers::openapi::problems;

/// The document, and a client whose answers are held to it.
struct Described {
    document: Value,
    client: Client,
    compared: Cell<usize>,
}

impl Described {
    /// Sends a request, and compares the answer with the schema of the route.
    async fn ask(&self, method: &str, path: &str, route: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string());
        let answer = self.client.send(method, path, body.as_deref()).await;
        let json = answer.json();
        let responses = &self.document["paths"][route][method.to_lowercase()]["responses"];
        assert!(responses.is_object(), "{method} {route} is not described");
        let status = answer.status.to_string();
        let place = if responses[&status].is_object() {
            format!("#/paths/{}/{}/responses/{status}", escaped(route), method.to_lowercase())
        } else {
            "#/components/responses/Error".to_owned()
        };
        let mut schema = self.document.clone();
        schema["$ref"] = json!(format!("{place}/content/application~1json/schema"));
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{method} {path} {}: {wrong:?} in {json}", answer.status);
        self.compared.set(self.compared.get() + 1);
        json
    }

    async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, path.split('?').next().unwrap_or_default(), None).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ask("POST", path, path, Some(body)).await
    }
}

/// A path as a member of a JSON pointer in a URL.
fn escaped(path: &str) -> String {
    path.replace('/', "~1").replace('{', "%7B").replace('}', "%7D")
}

/// Objects have no members but those that are named.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("properties").is_some_and(Value::is_object) && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
            object.values_mut().for_each(close);
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_document_is_valid_openapi() {
    assert_eq!(problems(&openfang_api::openapi_document()), "");
}

#[tokio::test]
async fn answers_have_the_members_that_the_document_names_and_no_others() {
    let home = TestHome::new();
    let server = TestServer::start(home.boot_with(any_port()).start().unwrap()).await;
    let client = server.client().bearer(server.kernel.daemon_token().expose());
    let served = client.get("/api/openapi.json").await.json();
    assert_eq!(served, openfang_api::openapi_document());
    let mut document = served;
    close(&mut document["components"]["schemas"]);
    let api = Described { document, client, compared: Cell::new(0) };

    api.get("/health?challenge=x").await;
    api.get("/api/me").await;
    api.get("/api/agents").await;
    api.ask("GET", "/api/agents/starter", "/api/agents/{name}", None).await;
    api.ask("GET", "/api/agents/nobody", "/api/agents/{name}", None).await;
    let message = json!({ "text": "/add_numbers {\"a\":3,\"b\":7}", "messageId": "m" });
    let sent = api
        .ask("POST", "/api/agents/starter/message", "/api/agents/{name}/message", Some(message))
        .await;
    let task = sent["task"]["id"].as_str().unwrap();
    api.ask("GET", &format!("/api/tasks/{task}"), "/api/tasks/{id}", None).await;
    api.ask("POST", &format!("/api/tasks/{task}/cancel"), "/api/tasks/{id}/cancel", Some(json!({})))
        .await;
    api.get("/api/tasks?includeHistory=true&includeArtifacts=true").await;
    api.get("/api/tools").await;
    api.ask("GET", "/api/tools/add_numbers", "/api/tools/{name}", None).await;
    let arguments = json!({ "arguments": { "a": 1, "b": 2 } });
    api.ask("POST", "/api/tools/add_numbers", "/api/tools/{name}", Some(arguments)).await;
    api.ask("GET", "/api/policy/starter/add_numbers", "/api/policy/{agent}/{tool}", None)
        .await;
    api.get("/api/config/status").await;
    api.post("/api/config/reload", json!({})).await;
    users(&api).await;
    servers(&api).await;
    agents(&api).await;

    assert!(api.compared.get() >= 40, "{}", api.compared.get());
    server.stop().await;
}

async fn users(api: &Described) {
    api.post("/api/users", json!({ "name": "ada", "grants": ["add_*"], "password": "correct horse" }))
        .await;
    api.post("/api/users", json!({ "name": "ada" })).await;
    api.get("/api/users").await;
    let grants = Some(json!({ "grants": ["get_*"] }));
    api.ask("POST", "/api/users/ada/grants", "/api/users/{name}/grants", grants).await;
    let password = Some(json!({ "password": null }));
    api.ask("POST", "/api/users/ada/password", "/api/users/{name}/password", password).await;
    let wanted = json!({ "user": "ada", "label": "laptop", "entryLabel": "user", "expiresAt": "2999-01-01T00:00:00Z" });
    let made = api.post("/api/keys", wanted).await;
    api.get("/api/keys").await;
    let id = made["details"]["id"].as_str().unwrap();
    api.ask("DELETE", &format!("/api/keys/{id}"), "/api/keys/{id}", None).await;
    api.ask("DELETE", "/api/users/ada", "/api/users/{name}", None).await;
    api.post("/api/secrets", json!({ "name": "TOKEN", "value": "a-long-secret" })).await;
    let user = Some(json!({ "user": "server:files" }));
    api.ask("POST", "/api/secrets/TOKEN/allow", "/api/secrets/{name}/allow", user).await;
    api.get("/api/secrets").await;
    api.ask("DELETE", "/api/secrets/TOKEN", "/api/secrets/{name}", None).await;
}

async fn servers(api: &Described) {
    let entry = json!({ "name": "far", "transport": { "type": "http", "url": "http://127.0.0.1:9/mcp" } });
    api.post("/api/mcp/servers", entry).await;
    api.get("/api/mcp/servers").await;
    let (one, route) = ("/api/mcp/servers/far", "/api/mcp/servers/{name}");
    api.ask("GET", one, route, None).await;
    for (method, what, body) in [
        ("GET", "log", None),
        ("GET", "review", None),
        ("POST", "approve", Some(json!({}))),
        ("POST", "settings", Some(json!({ "enabled": false }))),
    ] {
        api.ask(method, &format!("{one}/{what}"), &format!("{route}/{what}"), body).await;
    }
    api.ask("DELETE", one, route, None).await;
}

async fn agents(api: &Described) {
    api.post("/api/a2a/agents", json!({ "name": "far", "url": "http://127.0.0.1:9" })).await;
    api.get("/api/a2a/agents").await;
    api.ask("GET", "/api/a2a/agents/far", "/api/a2a/agents/{name}", None).await;
    api.ask("DELETE", "/api/a2a/agents/far", "/api/a2a/agents/{name}", None).await;
}
