//! Keys, and what their users may see and do.

use openfang_testkit::probes::Probe;
use openfang_types::config::Config;
use openfang_types::taint::Label;
use serde_json::{Value, json};

use super::*;

fn names(list: &Value, member: &str) -> Vec<String> {
    list[member]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_user_sees_and_uses_what_was_granted_and_nothing_else_exists() {
    let home = TestHome::new().with_direct("calc", &["add_*"]);
    let site = Site::with(home, |boot| boot).await;
    add(site.kernel(), "ada", &["get_*", "agent:calc/*"]).await;
    let (key, _) = key_of(site.kernel(), "ada").await;
    let ada = site.with_key(&key);

    assert_eq!(names(&ada.get("/api/tools").await.json(), "tools"), ["get_counter", "get_greeting"]);
    assert_eq!(names(&ada.get("/api/agents").await.json(), "agents"), ["calc"]);
    let refused = ada.post("/api/tools/add_numbers", &json!({ "arguments": { "a": 1, "b": 2 } })).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str().unwrap()), (404, "unknown_tool"));
    let sent = ada
        .post("/api/agents/calc/message", &json!({ "text": "/add_numbers {\"a\":1,\"b\":2}" }))
        .await;
    assert_eq!(sent.json()["task"]["status"]["state"], "completed", "{sent:?}");
    assert_eq!(ada.post("/api/agents/starter/message", &json!({ "text": "hi" })).await.status, 404);
    site.server.stop().await;
}

#[tokio::test]
async fn what_was_not_granted_is_answered_like_what_does_not_exist() {
    let home = TestHome::new()
        .with_direct("calc", &["add_*", "file_read", "is_admin"])
        .with_direct("vault", &["secret_*"]);
    let site = Site::with(home, |boot| boot).await;
    add(site.kernel(), "ada", &["get_*", "agent:calc", "add_*"]).await;
    add(site.kernel(), "bob", &["agent:calc/*"]).await;
    let (ada, bob) = (key_of(site.kernel(), "ada").await.0, key_of(site.kernel(), "bob").await.0);
    let (ada, bob) = (site.with_key(&ada), site.with_key(&bob));
    // What an answer says, but for the name that was asked for and the trace.
    let said = async |who: &Client, path: &str, name: &str| {
        let answer = who.get(&path.replace("{}", name)).await;
        let trace = answer.json()["error"]["trace"].as_str().unwrap_or_default().to_owned();
        (answer.status, answer.body.replace(name, "NAME").replace(&trace, ""))
    };

    for (path, hidden) in [
        ("/api/agents/{}", "vault"),
        ("/api/agents/{}", "starter"),
        ("/api/policy/{}/add_numbers", "vault"),
        ("/api/policy/calc/{}", "file_read"),
        ("/api/policy/calc/{}", "is_admin"),
        ("/api/policy/calc/{}", "file_write"),
        ("/api/tools/{}", "file_read"),
    ] {
        let unknown = said(&ada, path, "nothing").await;
        assert_eq!(said(&ada, path, hidden).await, unknown, "{path} {hidden}");
        assert_eq!(unknown.0, 404, "{path}");
    }
    assert_eq!(
        said(&bob, "/api/policy/calc/{}", "file_write").await,
        said(&bob, "/api/policy/calc/{}", "nothing").await
    );

    let shown = ada.get("/api/agents/calc").await.json();
    assert_eq!(shown["tools"], json!(["add_numbers"]));
    assert_eq!(shown["agent"]["capabilities"], json!({ "tools": ["add_numbers"] }), "{shown}");
    let policy = ada.get("/api/policy/calc/add_numbers").await.json();
    assert_eq!((&policy["granted"], &policy["patterns"]), (&json!(true), &json!(["add_*"])));
    let policy = ada.get("/api/policy/calc/get_greeting").await.json();
    assert_eq!((&policy["granted"], &policy["patterns"]), (&json!(false), &json!([])));
    assert_eq!(bob.get("/api/policy/calc/file_read").await.json()["granted"], true);
    site.server.stop().await;
}

#[tokio::test]
async fn what_one_user_made_is_none_of_anothers() {
    let site = Site::start().await;
    for name in ["ada", "bob"] {
        add(site.kernel(), name, &["agent:starter/*"]).await;
    }
    let (ada, bob) = (key_of(site.kernel(), "ada").await.0, key_of(site.kernel(), "bob").await.0);
    let (ada, bob) = (site.with_key(&ada), site.with_key(&bob));
    let sent = ada.post("/api/agents/starter/message", &json!({ "text": "Ada" })).await.json();
    let id = sent["task"]["id"].as_str().unwrap();

    assert_eq!(ada.get(&format!("/api/tasks/{id}")).await.status, 200);
    for (method, path) in [
        ("GET", format!("/api/tasks/{id}")),
        ("GET", format!("/api/tasks/{id}/events")),
        ("POST", format!("/api/tasks/{id}/cancel")),
    ] {
        assert_eq!(bob.send(method, &path, None).await.status, 404, "{method} {path}");
    }
    assert_eq!(bob.get("/api/tasks").await.json()["total"], 0);
    site.server.stop().await;
}

#[tokio::test]
async fn what_one_user_lets_an_agent_write_another_does_not_read() {
    let home = TestHome::new().with_direct("clerk", &["file_*"]);
    let site = Site::with(home, |boot| boot).await;
    let mut users = Vec::new();
    for name in ["ada", "bob"] {
        add(site.kernel(), name, &["agent:clerk/*"]).await;
        users.push(site.with_key(&key_of(site.kernel(), name).await.0));
    }
    let [ada, bob] = &users[..] else { unreachable!() };
    let ask = async |who: &Client, text: &str| {
        let sent = who.post("/api/agents/clerk/message", &json!({ "text": text })).await.json();
        (sent["task"]["status"]["state"].clone(), sent.to_string())
    };

    let (state, said) = ask(ada, r#"/file_write {"path": "plans.txt", "content": "the moon"}"#).await;

    assert_eq!(state, "completed", "{said}");
    assert!(ask(ada, r#"/file_read {"path": "plans.txt"}"#).await.1.contains("the moon"));
    let (state, said) = ask(bob, r#"/file_read {"path": "plans.txt"}"#).await;
    assert_eq!(state, "failed", "{said}");
    assert!(!said.contains("the moon"), "{said}");
    assert_eq!(ask(bob, r#"/file_write {"path": "plans.txt", "content": "mars"}"#).await.0, "completed");
    assert!(ask(ada, r#"/file_read {"path": "plans.txt"}"#).await.1.contains("the moon"));
    site.server.stop().await;
}

#[tokio::test]
async fn only_the_admin_sees_and_changes_users_and_keys() {
    let key = Secret::new("0123456789abcdef".to_owned());
    let home = TestHome::new();
    let config = Config { api_key: Some(key.clone()), ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let admin = server.client().bearer(key.expose());
    let added = admin
        .post("/api/users", &json!({ "name": "ada", "grants": ["*"], "password": PASSWORD }))
        .await;
    assert_eq!(added.status, 200, "{added:?}");
    assert_eq!(
        (&added.json()["hasPassword"], &added.json()["grants"], &added.json()["keys"]),
        (&json!(true), &json!(["*"]), &json!(0))
    );
    assert!(!added.body.contains("argon2"), "{}", added.body);
    let made = admin.post("/api/keys", &json!({ "user": "ada", "label": "laptop" })).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let (ada, id) = (made.json()["key"].as_str().unwrap().to_owned(), made.json()["details"]["id"].clone());
    let ada = server.client().bearer(&ada);

    let id = id.as_str().unwrap();
    let rows = [
        ("GET", "/api/users".to_owned(), None),
        ("POST", "/api/users".to_owned(), Some(json!({ "name": "eve" }))),
        ("DELETE", "/api/users/ada".to_owned(), None),
        ("POST", "/api/users/ada/grants".to_owned(), Some(json!({ "grants": ["*"] }))),
        ("POST", "/api/users/ada/password".to_owned(), Some(json!({ "password": PASSWORD }))),
        ("GET", "/api/keys".to_owned(), None),
        ("POST", "/api/keys".to_owned(), Some(json!({ "user": "ada" }))),
        ("DELETE", format!("/api/keys/{id}"), None),
    ];
    for (method, path, body) in rows {
        let body = body.map(|body| body.to_string());
        let refused = ada.send(method, &path, body.as_deref()).await;
        assert_eq!(
            (refused.status, refused.json()["error"]["code"].as_str().unwrap()),
            (403, "not_permitted"),
            "{path}"
        );
    }
    let listed = admin.get("/api/keys?user=ada").await.json();
    assert_eq!((&listed["keys"][0]["label"], &listed["keys"][0]["id"]), (&json!("laptop"), &json!(id)));
    assert!(listed["keys"][0]["lastUsed"].is_string(), "{listed}");
    assert_eq!(names(&admin.get("/api/users").await.json(), "users"), ["ada"]);
    server.stop().await;
}

#[tokio::test]
async fn a_key_that_is_revoked_still_says_when_it_was_used() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["*"]).await;
    let (key, id) = key_of(site.kernel(), "ada").await;
    assert_eq!(site.with_key(&key).get("/api/me").await.status, 200);
    let operator = callers::operator(site.kernel());

    site.kernel().revoke_user_key(&operator, &id).await.unwrap();

    let keys = site.kernel().user_keys(&operator, None).await.unwrap();
    assert!(keys.iter().all(|key| key.revoked_at.is_some() && key.last_used.is_some()), "{keys:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn the_counters_name_every_tool_and_are_shown_to_the_admin_and_to_no_user() {
    let key = Secret::new("0123456789abcdef".to_owned());
    let home = TestHome::new();
    let config = Config { api_key: Some(key.clone()), ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let admin = server.client().bearer(key.expose());
    let called = admin.post("/api/tools/add_numbers", &json!({ "arguments": { "a": 1, "b": 2 } })).await;
    assert_eq!(called.status, 200, "{called:?}");
    add(&server.kernel, "ada", &["get_*", "agent:starter/*"]).await;
    let ada = key_of(&server.kernel, "ada").await.0;
    let cookie = log_in(&server.client(), "ada").await;

    for user in [server.client().bearer(&ada), server.client().with("cookie", &cookie)] {
        for verb in ["GET", "HEAD"] {
            let refused = user.send(verb, "/metrics", None).await;
            assert_eq!((refused.status, refused.body.contains("add_numbers")), (403, false), "{refused:?}");
        }
        assert_eq!(user.get("/metrics").await.json()["error"]["code"], "not_permitted");
    }
    assert_eq!(server.client().get("/metrics").await.status, 401);
    assert!(admin.get("/metrics").await.body.contains("tool=\"add_numbers\""));
    server.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_user_or_a_key_is_said_precisely() {
    let key = Secret::new("0123456789abcdef".to_owned());
    let home = TestHome::new();
    let config = Config { api_key: Some(key.clone()), ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let admin = server.client().bearer(key.expose());
    assert_eq!(admin.post("/api/users", &json!({ "name": "ada" })).await.status, 200);
    let rows = [
        ("POST", "/api/users", json!({ "name": "ada" }), 409, "user_exists"),
        ("POST", "/api/users", json!({ "name": "Admin" }), 422, "reserved_name"),
        ("POST", "/api/users", json!({ "name": "local" }), 422, "reserved_name"),
        ("POST", "/api/users", json!({ "name": "a/b" }), 400, "bad_request"),
        ("POST", "/api/users", json!({ "name": "eve", "grants": ["agent:"] }), 422, "invalid_grant"),
        ("POST", "/api/users", json!({ "name": "eve", "password": "short" }), 422, "invalid_password"),
        ("POST", "/api/users", json!({ "name": "eve", "admin": true }), 400, "bad_request"),
        ("POST", "/api/users/eve/grants", json!({ "grants": [] }), 404, "unknown_user"),
        ("POST", "/api/users/ada/grants", json!({ "grants": ["a b"] }), 422, "invalid_grant"),
        ("DELETE", "/api/users/eve", json!(null), 404, "unknown_user"),
        ("POST", "/api/keys", json!({ "user": "eve" }), 404, "unknown_user"),
        ("POST", "/api/keys", json!({ "user": "ada", "label": "x".repeat(81) }), 422, "invalid_label"),
        ("POST", "/api/keys", json!({ "user": "ada", "label": "a\nb" }), 422, "invalid_label"),
        ("POST", "/api/keys", json!({ "user": "ada", "entryLabel": "operator" }), 422, "invalid_entry_label"),
        ("DELETE", "/api/keys/ffffffffffff", json!(null), 404, "unknown_key"),
        ("DELETE", "/api/keys/ofk_secret", json!(null), 400, "bad_request"),
        ("GET", "/api/keys?user=eve", json!(null), 404, "unknown_user"),
    ];
    for (method, path, body, status, code) in rows {
        let body = Some(body.to_string()).filter(|body| body != "null");
        let answer = admin.send(method, path, body.as_deref()).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["code"].as_str().unwrap()),
            (status, code),
            "{method} {path} {body:?}"
        );
        assert!(!answer.body.contains("ofk_secret"), "{answer:?}");
    }
    assert_eq!(names(&admin.get("/api/users").await.json(), "users"), ["ada"], "what is refused leaves nothing");
    server.stop().await;
}

#[tokio::test]
async fn a_key_may_say_that_its_requests_are_not_to_be_trusted() {
    let site = Site::with(TestHome::new(), |boot| boot.tool(Probe::shell().boxed())).await;
    add(site.kernel(), "ada", &["probe_*"]).await;
    let (trusted, _) = key_of(site.kernel(), "ada").await;
    let wanted = KeyWanted {
        user: "ada".parse().unwrap(),
        label: String::new(),
        entry_label: Some(Label::UntrustedAgent),
        profile: None,
        expires_at: None,
    };
    let made = site.kernel().create_user_key(&callers::operator(site.kernel()), wanted).await.unwrap();
    let (trusted, untrusted) = (site.with_key(&trusted), site.with_key(made.key.expose()));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let call = json!({ "arguments": {} });
    let listed = async |client: &Client| {
        let answer = client
            .clone()
            .with("accept", "application/json, text/event-stream")
            .post("/mcp", &list)
            .await;
        answer.body.contains("probe_shell")
    };

    assert_eq!(trusted.post("/api/tools/probe_shell", &call).await.status, 200);
    assert_eq!(untrusted.post("/api/tools/probe_shell", &call).await.status, 403);
    assert!(listed(&trusted).await);
    assert!(!listed(&untrusted).await, "a list that was made for one key is not shown to another");
    assert!(listed(&trusted).await);
    site.server.stop().await;
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_not_listened_on_without_a_credential() {
    let home = TestHome::new();
    let everywhere = || Config { api_listen: "0.0.0.0:0".parse().unwrap(), ..Config::default() };
    let kernel = home.boot_with(everywhere()).start().unwrap();

    let refused = openfang_api::Server::bind(kernel.clone()).await.err().unwrap().to_string();
    assert!(refused.contains("api_key") && refused.contains("openfang user add"), "{refused}");
    assert!(kernel.exposure().is_some());

    add(&kernel, "ada", &["*"]).await;
    assert!(kernel.exposure().is_none());
    assert!(openfang_api::Server::bind(kernel).await.is_ok());
    let again = home.boot_with(everywhere()).start().unwrap();
    assert!(again.exposure().is_none(), "also after the next start");
}
