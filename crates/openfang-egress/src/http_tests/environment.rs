//! What the environment may not change: proxies in it are ignored (A2C-08), and a machine without trust roots still
//! reaches plain http. Each test runs itself once more with the environment set.

use std::process::Command;
use std::time::Duration;

use crate::http::{HttpError, Patience};

use super::peer::{Peer, World, answer};

const AGAIN: &str = "OPENFANG_TEST_URL";

/// The URL, in the process that runs the test once more.
#[expect(clippy::disallowed_methods, reason = "the environment is what is tested, in a process of its own")]
fn url_of_the_second_run() -> Option<String> {
    std::env::var(AGAIN).ok()
}

/// Runs one of these tests once more, with a URL and an environment.
#[expect(clippy::disallowed_methods, reason = "the environment is what is tested, in a process of its own")]
fn again(test: &str, url: &str, environment: &[(&str, &str)]) {
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("{module}::{test}")]);
    again
        .env(AGAIN, url)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(environment.iter().copied());
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn proxies_in_the_environment_are_ignored() {
    if let Some(url) = url_of_the_second_run() {
        let world = World::new(&["127.0.0.1"]);
        assert_eq!(world.whole(world.operator(&url)).await.unwrap(), "direct");
        assert_eq!(world.whole(world.foreign(&url)).await.unwrap(), "direct");
        // A proxy would answer the CONNECT of https; the peer waits for the end of what is no request.
        let patience = Patience { connect: Duration::from_millis(100), ..Patience::default() };
        let secure = world.operator(&url.replace("http:", "https:")).patience(patience);
        let error = world.send(secure).await.unwrap_err();
        assert!(matches!(error, HttpError::ConnectTimeout { .. }), "{error:?}");
        return;
    }
    let peer = Peer::saying(answer(200, "", b"direct"));
    let proxy = Peer::saying(answer(200, "", b"by proxy"));
    let proxy_url = proxy.url("");
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

    again("proxies_in_the_environment_are_ignored", &peer.url("/"), &names.map(|name| (name, proxy_url.as_str())));

    assert_eq!((peer.accepted(), proxy.accepted()), (3, 0));
}

#[tokio::test]
async fn a_machine_without_trust_roots_reaches_plain_http_and_says_why_not_https() {
    if let Some(url) = url_of_the_second_run() {
        let world = World::new(&[]);
        assert_eq!(world.whole(world.operator(&url)).await.unwrap(), "plain");
        let error = world.send(world.operator(&url.replace("http:", "https:"))).await.unwrap_err();
        assert!(matches!(error, HttpError::Setup { .. }), "{error:?}");
        return;
    }
    let peer = Peer::saying(answer(200, "", b"plain"));
    let nowhere = [("SSL_CERT_FILE", "/nonexistent/file"), ("SSL_CERT_DIR", "/nonexistent/directory")];

    again("a_machine_without_trust_roots_reaches_plain_http_and_says_why_not_https", &peer.url("/"), &nowhere);

    assert_eq!(peer.accepted(), 1);
}
