//! `web_search` with providers on loopback.

use openfang_testkit::raw_agent::{RawAgent, whole};
use openfang_testkit::receiver::Post;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::{Config, SearchConfig, SearchProvider, WebConfig};
use serde_json::json;

use super::doors::{Site, command_line, config};
use crate::support::call;

const KEY: &str = "search-key-0123456789";

/// A server that is every provider, each at a path.
async fn providers() -> RawAgent {
    RawAgent::new(|post: Post| async move {
        let (_, path) = post.line.split_once(' ').unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let json = "content-type: application/json\r\n";
        let hit = json!({ "url": "https://a.example/", "title": "A", "content": format!("for {query}") });
        let bad = json!({ "url": "javascript:alert(1)", "title": "B", "content": "" });
        match path {
            "/searx/search" => whole(200, json, json!({ "results": [bad, hit] }).to_string().as_bytes()),
            "/closed/search" => whole(403, "", b""),
            "/busy/search" => whole(429, "", b""),
            "/html/search" => whole(200, "content-type: text/html\r\n", b"<html>log in</html>"),
            "/large/search" => whole(200, json, &vec![b' '; 3 * 1024 * 1024]),
            "/brave" if post.header("x-subscription-token") == Some(KEY) => {
                whole(200, json, json!({ "web": { "results": [hit] } }).to_string().as_bytes())
            }
            "/tavily" if post.header("authorization") == Some(&format!("Bearer {KEY}")) => {
                whole(200, json, json!({ "results": [hit] }).to_string().as_bytes())
            }
            "/brave" | "/tavily" => whole(401, "", b""),
            "/robots" => whole(202, "", b""),
            _ => whole(404, "", b""),
        }
    })
    .await
}

fn searching(web: &RawAgent, path: &str) -> SearchConfig {
    SearchConfig {
        searxng_url: format!("{}{path}", web.url()),
        duckduckgo_url: format!("{}/robots", web.url()),
        ..SearchConfig::default()
    }
}

fn with(search: SearchConfig, config: Config) -> Config {
    Config { web: WebConfig { search, ..WebConfig::default() }, ..config }
}

#[tokio::test]
async fn every_interface_searches_for_those_who_may() {
    let web = providers().await;
    let site = Site::start(with(searching(&web, "/searx/"), config())).await;
    let arguments = json!({ "query": "tea & cake", "max_results": 3 });

    for (interface, said) in site.call("web_search", &arguments).await {
        assert!(said.contains("for q=tea+%26+cake") && said.contains("https://a.example/"), "{interface}: {said}");
        assert!(!said.contains("javascript"), "{interface}: {said}");
    }
    let asked = web.heard().len();
    for (interface, said) in site.call_refused("web_search", &arguments).await {
        assert!(!said.contains("a.example"), "{interface}: {said}");
    }
    assert_eq!((asked, web.heard().len()), (4, 4));
    site.stop().await;
}

#[tokio::test]
async fn what_every_provider_lacks_is_said_and_one_that_refuses_robots_is_left_alone() {
    let web = providers().await;
    for (path, expected) in [
        ("/closed", "add json to search.formats"),
        ("/busy", "quota is used up"),
        ("/html", "not the JSON of a search"),
        ("/large", "larger than"),
        ("/nothing", "it answers 404"),
    ] {
        let home = TestHome::new();
        let kernel = home.boot_with(with(searching(&web, path), Config::default())).start().unwrap();
        let operator = callers::operator(&kernel);
        let search = async || call(&kernel, &operator, "web_search", json!({ "query": "q" })).await.unwrap();

        let said = search().await.joined_text();
        for fact in [expected, "set BRAVE_API_KEY", "set TAVILY_API_KEY", "takes this server for a robot"] {
            assert!(said.contains(fact), "{path}: {said}");
        }
        let again = search().await;
        assert!(again.is_error && again.joined_text().contains("refused an earlier search"), "{}", again.joined_text());
    }
    assert_eq!(web.heard().iter().filter(|post| post.line.contains("/robots")).count(), 5);
}

#[tokio::test]
async fn searches_that_make_no_sense_are_refused_before_anybody_is_asked() {
    let web = providers().await;
    let home = TestHome::new();
    let mut search = searching(&web, "/searx");
    search.providers = vec![SearchProvider::SearxNg];
    let kernel = home.boot_with(with(search, Config::default())).start().unwrap();
    let operator = callers::operator(&kernel);
    for arguments in [
        json!({}),
        json!({ "query": " " }),
        json!({ "query": "x".repeat(2_049) }),
        json!({ "query": "x", "max_results": 0 }),
        json!({ "query": "x", "max_results": 21 }),
    ] {
        let ended = call(&kernel, &operator, "web_search", arguments.clone()).await;
        assert!(ended.map_or(true, |output| output.is_error), "{arguments}");
    }
    assert_eq!(web.heard().len(), 0);
}

// The command line is waited for on a thread of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_environment_reaches_its_provider_and_is_named_in_no_error() {
    let web = providers().await;
    for (provider, variable) in [("brave", "BRAVE_API_KEY"), ("tavily", "TAVILY_API_KEY")] {
        let url = format!("{}/{provider}", web.url());
        let openfang =
            command_line(&format!("[web.search]\nproviders = [\"{provider}\"]\n{provider}_url = \"{url}\"\n"));
        let search = ["tool", "call", "web_search", "query=tea"];

        let found = openfang.run_with((variable, KEY), &search);
        assert!(found.code == 0 && found.stdout.contains("https://a.example/"), "{found:?}");
        let wrong = openfang.run_with((variable, "another-key-987654"), &search);
        assert!(wrong.code == 1 && wrong.stderr.contains("check the key"), "{wrong:?}");
        assert!(!(wrong.stdout + &wrong.stderr).contains("another-key"));
        let none = openfang.run(&search);
        assert!(none.code == 1 && none.stderr.contains(&format!("set {variable}")), "{none:?}");
    }
}
