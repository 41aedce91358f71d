//! Addresses: verbs that no route takes, paths that try to be others, a house without A2A, and one where it is elsewhere.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::limits::Limits;
use openfang_types::secret::Secret;
use serde_json::{Value, json};

use super::calls::every;
use super::hostile::{names, total};
use super::wire::{agents, ask, begin, code, config, limits, request, said, server, state, until};

const CARDS: [&str; 5] = [
    "/.well-known/agent.json",
    "/.well-known/agent-card.json",
    "/a2a/agents",
    "/a2a/agents/worker/.well-known/agent-card.json",
    "/a2a/strict/.well-known/agent-card.json",
];

#[tokio::test]
async fn every_route_takes_its_own_verbs_and_no_others() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    until(&client, &task, "TASK_STATE_WORKING").await;
    let before = total(&client).await;
    let calls = every(&names(&task, "waits"));
    let mut paths: Vec<String> = calls.iter().map(|call| call.path.split('?').next().unwrap().to_owned()).collect();
    paths.sort();
    paths.dedup();
    for path in &paths {
        for verb in ["HEAD", "PUT", "DELETE", "PATCH", "TRACE", "GET", "POST", "BREW"] {
            let is_taken = calls.iter().any(|call| call.verb == verb && call.path.split('?').next() == Some(path));
            if is_taken {
                continue;
            }
            let answer = client.send(verb, path, None).await;
            // Who may read may also ask whether there is something to read.
            let is_head = verb == "HEAD" && answer.status == 200 && answer.body.is_empty();
            assert!(is_head || matches!(answer.status, 404 | 405), "{verb} {path}: {answer:?}");
            assert!(answer.status != 405 || answer.header("allow").is_some(), "{verb} {path}: {answer:?}");
        }
    }
    for path in CARDS {
        assert_eq!(client.get(path).await.status, 200, "{path}");
        for verb in ["PUT", "DELETE", "PATCH", "POST"] {
            let answer = client.send(verb, path, Some("{}")).await;
            assert!(matches!(answer.status, 404 | 405), "{verb} {path}: {answer:?}");
        }
    }
    assert_eq!((total(&client).await, state(&client, &task).await.as_str()), (before, "TASK_STATE_WORKING"));
    server.stop().await;
}

#[tokio::test]
async fn paths_that_try_to_be_others_lead_nowhere() {
    let (_home, server) = server().await;
    let client = server.client();
    let task = begin(&client, "waits", "go").await;
    until(&client, &task, "TASK_STATE_WORKING").await;
    let long = "x".repeat(8_000);
    let slashes = "/".repeat(4_000);
    let nowhere = [
        "//a2a".to_owned(),
        "/a2a//".to_owned(),
        "/a2a/rest".to_owned(),
        "/a2a/rest/".to_owned(),
        "/a2a/rest//".to_owned(),
        format!("/a2a/rest//tasks/{task}"),
        format!("/a2a/rest/tasks//{task}"),
        format!("/a2a/rest/tasks/{task}/"),
        format!("/a2a/rest/tasks/{task}//pushNotificationConfigs"),
        format!("/a2a/rest/tasks/{task}:"),
        format!("/a2a/rest/tasks/{task}:delete"),
        format!("/a2a/rest/tasks/{task}%00"),
        format!("/a2a/rest/tasks/{task}%2fpushNotificationConfigs"),
        format!("/a2a/rest/%2e%2e/rest/tasks/{task}"),
        format!("/a2a/rest/../rest/tasks/{task}"),
        format!("/a2a/rest/./tasks/{task}"),
        format!("/a2a/rest/%2e/tasks/{task}"),
        format!("/a2a/rest/v2/tasks/{task}"),
        format!("/a2a/rest/V1/tasks/{task}"),
        format!("/a2a/rest/worker/tasks/{task}"),
        format!("/a2a/agents/worker/tasks/{task}"),
        format!("/a2a/agents/%77orker/tasks/{task}"),
        format!("/a2a/agents/../tasks/{task}"),
        format!("/a2a/agents/%2e%2e/tasks/{task}"),
        format!("/a2a/tasks/%2e%2e/{task}"),
        format!("/a2a/tasks/{task}/../{task}"),
        format!("/a2a/tasks/{task}%2fcancel"),
        "/a2a/tasks/".to_owned(),
        "/a2a/tasks/%".to_owned(),
        "/a2a/tasks/%ff%fe".to_owned(),
        "/A2A".to_owned(),
        "/a2ax".to_owned(),
        format!("/a2a/rest/tasks/{long}"),
        format!("/a2a/tasks/{long}"),
        format!("/a2a/agents/{long}"),
        format!("/a2a/rest{slashes}tasks"),
    ];
    for path in nowhere {
        for verb in ["GET", "POST"] {
            let answer = client.send(verb, &path, None).await;
            let shown = &path[..path.len().min(90)];
            assert!(matches!(answer.status, 404 | 405), "{verb} {shown}: {answer:?}");
            assert!(answer.body.len() < 1_000 && !answer.body.contains("waits"), "{verb} {shown}: {answer:?}");
        }
    }
    // What is only written otherwise is the same.
    let written = task.replace('-', "%2D");
    assert_eq!(client.get(&format!("/a2a/rest/tasks/{written}")).await.json()["id"], task.as_str());
    assert_eq!(client.get(&format!("/a2a/tasks/{written}")).await.json()["id"], task.as_str());
    assert_eq!(state(&client, &task).await, "TASK_STATE_WORKING");
    server.stop().await;
}

#[tokio::test]
async fn a_path_that_leads_to_no_agent_says_where_the_agents_are() {
    for listen_path in ["/a2a", "/deep/agents-here"] {
        let home = agents(TestHome::new());
        let a2a = A2aConfig { listen_path: listen_path.to_owned(), ..config().a2a };
        let server = TestServer::start(home.boot_with(Config { a2a, ..config() }).start().unwrap()).await;
        let client = server.client();
        for (verb, below) in [
            ("POST", "/agents/nobody"),
            ("POST", "/agents/NO%20NAME"),
            ("GET", "/agents/nobody/tasks"),
            ("GET", "/agents/nobody/.well-known/agent-card.json"),
            ("GET", "/agents/NO%20NAME/.well-known/agent.json"),
            ("GET", "/nowhere"),
            ("POST", "/agents/"),
            ("GET", "/tasks/1/nowhere"),
        ] {
            let answer = client.send(verb, &format!("{listen_path}{below}"), Some("{}")).await;
            let (error, hint) = (answer.json()["error"].clone(), format!("GET {listen_path}/agents lists the agents"));
            assert_eq!((answer.status, &error["code"]), (404, &json!("no_such_route")), "{verb} {below}: {answer:?}");
            assert!(error["message"].as_str().unwrap().contains(&hint), "{verb} {below}: {error}");
        }
        assert_eq!(client.get(&format!("{listen_path}/agents")).await.status, 200);
        let elsewhere = client.get(&format!("{listen_path}x")).await;
        assert!(elsewhere.body.contains("GET /api/tools"), "{elsewhere:?}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_house_without_a2a_says_so() {
    let home = agents(TestHome::new());
    let config = Config { a2a: A2aConfig { enabled: false, ..A2aConfig::default() }, ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let client = server.client();
    let calls = every(&names("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "worker"));
    for call in &calls {
        let answer = call.send(&client).await;
        assert_eq!(answer.status, 404, "{} {}: {answer:?}", call.verb, call.path);
        assert!(answer.body.contains("[a2a]"), "{} {}: {answer:?}", call.verb, call.path);
    }
    for path in CARDS.into_iter().chain(["/a2a/nowhere"]) {
        let answer = client.get(path).await;
        assert_eq!((answer.status, answer.body.contains("[a2a]")), (404, true), "{path}: {answer:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn all_of_a2a_moves_with_its_path() {
    let home = agents(TestHome::new());
    let a2a = A2aConfig { listen_path: "/deep/agents-here".to_owned(), ..config().a2a };
    let server = TestServer::start(home.boot_with(Config { a2a, ..config() }).start().unwrap()).await;
    let client = server.client();
    let send = request(1, "SendMessage", json!({"tenant": "worker", "message": said("m", "/current_time")}));
    let sent = client.post("/deep/agents-here", &send).await.json();
    assert_eq!(sent["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{sent}");
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    for call in every(&names(task, "worker")) {
        let old = call.send(&client).await;
        assert_eq!(old.status, 404, "{} {}: {old:?}", call.verb, call.path);
    }
    for path in ["rest/tasks", "rest/v1/tasks", "agents/worker/tasks", "agents", "strict/.well-known/agent-card.json"] {
        assert_eq!(client.get(&format!("/deep/agents-here/{path}")).await.status, 200, "{path}");
    }
    for path in [format!("rest/tasks/{task}"), format!("tasks/{task}"), format!("rest/v1/tasks/{task}")] {
        assert_eq!(client.get(&format!("/deep/agents-here/{path}")).await.json()["id"], task, "{path}");
    }
    let card = client.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["url"], format!("http://{}/deep/agents-here", server.address), "{card}");
    assert_eq!(client.post("/", &send).await.json()["result"]["task"]["id"], task, "the root is still a door");
    server.stop().await;
}

/// Every text in a card that is an address.
fn addresses(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("://") => into.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| addresses(one, into)),
        Value::Object(all) => all.values().for_each(|one| addresses(one, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn with_a_key_only_the_public_cards_are_open_and_no_header_changes_their_addresses() {
    let home = agents(TestHome::new());
    let config = Config {
        api_key: Some(Secret::new("0123456789abcdef0123".to_owned())),
        public_url: Some("https://agents.example.org".to_owned()),
        allowed_hosts: vec!["evil.example.com".to_owned()],
        ..config()
    };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let (stranger, admin) = (server.client(), server.client().bearer("0123456789abcdef0123"));
    for call in every(&names("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "worker")) {
        let answer = call.send(&stranger).await;
        assert_eq!(answer.status, 401, "{} {}: {answer:?}", call.verb, call.path);
        assert!(answer.header("www-authenticate").is_some(), "{} {}", call.verb, call.path);
    }
    let extended = |client: Client| async move { client.get("/a2a/rest/extendedAgentCard").await };
    assert_eq!(extended(stranger.clone()).await.status, 401);
    assert_eq!(extended(admin.clone()).await.status, 200);
    for path in ["/.well-known/agent.json", "/.well-known/agent-card.json", "/a2a/strict/.well-known/agent-card.json"] {
        let plain = stranger.get(path).await;
        assert_eq!(plain.status, 200, "{path}: {plain:?}");
        let mut urls = Vec::new();
        addresses(&plain.json(), &mut urls);
        assert!(!urls.is_empty() && urls.iter().all(|url| url.starts_with("https://agents.example.org/")), "{urls:?}");
        let spoofed = stranger
            .clone()
            .with("host", "evil.example.com")
            .with("x-forwarded-host", "evil.example.net")
            .with("forwarded", "host=evil.example.net;proto=http");
        assert_eq!(spoofed.get(path).await.body, plain.body, "{path}");
    }
    let got = ask(&admin, "GetExtendedAgentCard", json!({})).await;
    assert!(got["result"]["skills"].is_array() && !got.to_string().contains("evil"), "{got}");
    assert_eq!(code(&admin.post("/a2a", &request(1, "GetTask", json!({"id": "x"}))).await), -32001);
    server.stop().await;
}

#[tokio::test]
async fn no_form_of_a_wrong_credential_opens_any_route() {
    let home = agents(TestHome::new());
    let limits =
        Limits { rate_per_peer: 1_000_000, rate_per_peer_burst: 1_000_000, failed_credential_cost: 1, ..limits() };
    let key = "0123456789abcdef0123";
    let config = Config { api_key: Some(Secret::new(key.to_owned())), limits, ..config() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let right = format!("Bearer {key}");
    let wrong = [
        vec![""],
        vec!["Bearer"],
        vec!["Bearer "],
        vec!["Bearer wrong"],
        vec!["bearer wrong"],
        vec!["Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM6"],
        vec![key],
        vec![right.as_str(), "Bearer wrong"],
        vec!["Bearer wrong", right.as_str()],
    ];
    let calls = every(&names("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "worker"));
    for call in &calls {
        for headers in &wrong {
            let client = headers.iter().fold(server.client(), |client, value| client.with("authorization", value));
            let answer = call.send(&client).await;
            assert_eq!(answer.status, 401, "{} {} {headers:?}: {answer:?}", call.verb, call.path);
            assert!(answer.header("www-authenticate").is_some(), "{} {} {headers:?}", call.verb, call.path);
        }
        let joint = if call.path.contains('?') { '&' } else { '?' };
        for name in ["key", "api_key", "access_token", "token", "authorization"] {
            let asked = super::calls::Call { path: format!("{}{joint}{name}={key}", call.path), ..call.clone() };
            assert_eq!(asked.send(&server.client()).await.status, 401, "a key in a query is none: {}", asked.path);
        }
    }
    server.stop().await;
}
