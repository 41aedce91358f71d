//! The catalogue: what a reader finds in it is what the reader's cards say.

use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config, ExternalAgent};
use openfang_types::secret::Secret;
use serde_json::Value;

const KEY: &str = "an-api-key-of-some-length";
const PATH: &str = "/.well-known/ai-catalog.json";

/// A server with a public agent, a private one, and an external one that is not public.
async fn server(is_guarded: bool) -> (TestHome, TestServer) {
    server_with(is_guarded, |home| home).await
}

/// The same with more in its home.
async fn server_with(is_guarded: bool, more: impl FnOnce(TestHome) -> TestHome) -> (TestHome, TestServer) {
    let home = TestHome::new().with_direct("open", &["add_numbers"]).with_direct("secret", &["file_*"]);
    let home = more(home);
    let mut a2a = A2aConfig { enabled: true, public_agents: vec!["open".parse().unwrap()], ..A2aConfig::default() };
    a2a.external_agents = vec![ExternalAgent::new("far-away".parse().unwrap(), "http://127.0.0.1:9/".to_owned())];
    let api_key = is_guarded.then(|| Secret::new(KEY.to_owned()));
    let config = Config { a2a, api_key, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    (home, server)
}

fn names(catalogue: &Value) -> Vec<&str> {
    let entries = catalogue["entries"].as_array().unwrap_or_else(|| panic!("{catalogue}"));
    entries.iter().map(|entry| entry["displayName"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_stranger_finds_public_agents_and_a_caller_those_it_may_talk_to() {
    let (_home, server) = server(true).await;

    let public = server.client().get(PATH).await;
    let mine = server.client().bearer(KEY).get(PATH).await;

    assert_eq!(names(&public.json()), ["open"]);
    assert!(!public.body.contains("secret") && !public.body.contains("far-away"), "{}", public.body);
    assert_eq!(public.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(names(&mine.json()), ["far-away", "open", "secret", "starter", "OpenFang"]);
    assert_eq!(mine.header("cache-control"), Some("private, no-cache"));
    for answer in [&public, &mine] {
        assert!(answer.header("vary").unwrap().contains("Authorization"), "{answer:?}");
    }
    let wrong = server.client().bearer("a-key-that-is-not-the-one").get(PATH).await;
    assert_eq!(wrong.status, 401, "a wrong credential shows nothing");
    let bob = server
        .client()
        .bearer(&crate::inflight::key_of(&server, "bob", "agent:secret").await)
        .get(PATH)
        .await;
    assert_eq!(names(&bob.json()), ["secret", "OpenFang"]);
    server.stop().await;
}

#[tokio::test]
async fn each_card_is_where_the_catalogue_says_and_an_unchanged_catalogue_is_not_sent_again() {
    let (_home, server) = server(true).await;
    let client = server.client().bearer(KEY);

    let first = client.get(PATH).await;
    let entry = &first.json()["entries"][1];
    let path = entry["url"]
        .as_str()
        .unwrap()
        .strip_prefix(&format!("http://{}", server.address))
        .unwrap()
        .to_owned();
    let card = client.get(&path).await.json();
    let again = client.clone().with("if-none-match", first.header("etag").unwrap()).get(PATH).await;
    let other = client.get("/.well-known/ard.json").await;

    assert_eq!((&card["name"], &card["description"]), (&entry["displayName"], &entry["description"]));
    assert_eq!(again.status, 304);
    assert_eq!(other.body, first.body);
    server.stop().await;
}

#[tokio::test]
async fn agents_are_found_by_words_as_far_as_the_caller_may_talk_to_them() {
    let manifest = "name = \"translator\"\ndescription = \"Speaks French\"\ntags = [\"Language\"]\n[model]\nprovider = \"direct\"\n";
    let (_home, server) = server_with(true, |home| {
        home.write("agents/translator/agent.toml", manifest);
        home
    })
    .await;
    let operator = openfang_testkit::callers::operator(&server.kernel);
    let client = server.client().bearer(KEY);
    let found = |answer: Value, list: &str| {
        let agents = answer[list].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        agents.iter().map(|agent| agent["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ask = async |query: &str| client.get(&format!("/api/a2a/agents?query={query}")).await.json();

    assert_eq!(found(ask("language").await, "local"), ["translator"]);
    assert_eq!(found(ask("far").await, "agents"), ["far-away"]);
    assert_eq!(found(ask("far").await, "local"), [""; 0]);
    assert_eq!(found(ask("nothing-of-this").await, "agents"), [""; 0]);
    assert_eq!(client.get("/api/a2a/agents?query=").await.status, 400);
    assert_eq!(client.get("/api/a2a/agents").await.json().get("local"), None);
    let tool = |caller: &openfang_kernel::Caller, query: &str| {
        let (kernel, caller, query) = (server.kernel.clone(), caller.clone(), query.to_owned());
        async move { crate::support::call(&kernel, &caller, "agent_find", serde_json::json!({ "query": query })).await }
    };
    let said = tool(&operator, "french").await.unwrap();
    assert_eq!(said.joined_text(), "translator: Speaks French");
    let bob = openfang_testkit::callers::user(&server.kernel, "bob", &["agent:open", "agent_find"]);
    assert!(tool(&bob, "french").await.unwrap().joined_text().contains("no agent matches"));
    assert!(tool(&bob, "add_numbers").await.unwrap().joined_text().contains("no agent matches"), "tools of agents");
    assert!(tool(&bob, &"a ".repeat(600_000)).await.unwrap().is_error);
    assert!(tool(&bob, "  ").await.unwrap().is_error);
    server.stop().await;
}
