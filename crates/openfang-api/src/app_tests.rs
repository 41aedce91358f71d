//! The table against the layers: who is let in where, whatever is sent.

use std::net::SocketAddr;

use http::header::{ALLOW, HOST, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use openfang_testkit::TestHome;
use openfang_types::config::{A2aConfig, Config};
use openfang_types::secret::Secret;

use super::*;

const KEY: &str = "the-right-key-of-this-test";

#[path = "app_users_tests.rs"]
mod users;

struct Site {
    app: Arc<App>,
    kernel: Kernel,
    _home: TestHome,
}

impl Site {
    fn new(api_key: Option<&str>) -> Self {
        let home = TestHome::new();
        let config = Config {
            api_key: api_key.map(|key| Secret::new(key.to_owned())),
            a2a: A2aConfig { enabled: true, ..A2aConfig::default() },
            ..Config::default()
        };
        let kernel = home.boot_with(config).start().unwrap();
        let front = Arc::new(Front::new(kernel.clone(), SocketAddr::from((Ipv4Addr::LOCALHOST, 50051))));
        Self { app: Arc::new(App::new(&front)), kernel, _home: home }
    }

    async fn ask(&self, method: &Method, path: &str, authorization: &[&str]) -> Response {
        self.ask_from(Ipv4Addr::LOCALHOST, method, path, authorization).await
    }

    async fn ask_from(&self, peer: Ipv4Addr, method: &Method, path: &str, authorization: &[&str]) -> Response {
        let headers: Vec<_> = authorization.iter().map(|value| ("authorization", *value)).collect();
        self.ask_with(peer, method, path, &headers).await
    }

    async fn ask_with(
        &self,
        peer: Ipv4Addr,
        method: &Method,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Response {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, "localhost")
            .body(Body::empty())
            .unwrap();
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        let Ok(answer) = Arc::clone(&self.app).answer(Peer(IpAddr::V4(peer)), request).await;
        answer
    }
}

fn rows() -> Vec<(Method, String, Access)> {
    let fill = |path: &str| path.replace("{id}", "00000000-0000-0000-0000-000000000001").replace(['{', '}'], "");
    let row = |route: Route| route.methods.iter().map(move |method| (method.clone(), fill(route.path), route.access));
    routes::table().into_iter().flat_map(row).collect()
}

#[tokio::test]
async fn without_a_credential_every_route_but_the_public_ones_answers_401() {
    let site = Site::new(Some(KEY));
    let mut public = Vec::new();
    for (method, path, access) in rows() {
        let status = site.ask(&method, &path, &[]).await.status();
        match access {
            Access::Public | Access::Known => {
                assert_ne!(status, StatusCode::UNAUTHORIZED, "{method} {path}");
                assert!(!status.is_server_error(), "{method} {path}");
                public.push(path);
            }
            Access::Credential | Access::Admin => assert_eq!(status, StatusCode::UNAUTHORIZED, "{method} {path}"),
        }
    }
    assert_eq!(
        public,
        [
            "/health",
            "/api/login",
            "/.well-known/agent.json",
            "/.well-known/agent-card.json",
            "/a2a/strict/.well-known/agent-card.json",
            "/a2a/agents/name/.well-known/agent-card.json",
            "/a2a/agents/name/.well-known/agent.json",
            "/.well-known/jwks.json",
            "/.well-known/ai-catalog.json",
            "/.well-known/ard.json",
            "/a2a/push/00000000-0000-0000-0000-000000000001"
        ],
        "a new public route is a decision: add it here and in the documentation"
    );
}

#[test]
fn the_readme_names_every_route_that_is_open_without_a_credential() {
    let readme = include_str!("../../../docs/configuration.md");
    let named = readme.split("every route needs a credential except:").nth(1).unwrap();
    let named = named.split("\n\n").next().unwrap();
    for route in routes::table() {
        let is_open = matches!(route.access, Access::Public | Access::Known);
        let is_named = named.contains(&format!("{}`", route.path));
        assert_eq!(is_named, is_open, "{}", route.path);
    }
}

#[tokio::test]
async fn with_the_key_every_route_lets_in_and_says_what_it_takes() {
    let site = Site::new(Some(KEY));
    for (method, path, _) in rows() {
        let status = site.ask(&method, &path, &[&format!("Bearer {KEY}")]).await.status();
        assert_ne!(status, StatusCode::UNAUTHORIZED, "{method} {path}");
        assert!(!status.is_server_error(), "{method} {path}: {status}");
    }
    let wrong = site.ask(&Method::PUT, "/api/tools/add_numbers", &[&format!("Bearer {KEY}")]).await;
    assert_eq!(wrong.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(wrong.headers()[ALLOW], "GET, POST");
}

#[tokio::test]
async fn a_credential_that_is_not_exactly_right_is_refused_everywhere() {
    let wrong: [&[&str]; 10] = [
        &[""],
        &["Bearer"],
        &["Bearer "],
        &["Bearer wrong"],
        &["Basic dGhlLXJpZ2h0LWtleS1vZi10aGlzLXRlc3Q="],
        &[KEY],
        &["Bearer the-right-key-of-this-tes"],
        &["Bearer THE-RIGHT-KEY-OF-THIS-TEST"],
        &["Bearer the-right-key-of-this-test", "Bearer the-right-key-of-this-test"],
        &["Bearer the-right-key-of-this-test, Bearer x"],
    ];
    for authorization in wrong {
        let site = Site::new(Some(KEY));
        // A guesser of its own for each row: who guesses often is told something else.
        for ((method, path, access), guesser) in rows().into_iter().zip(1..) {
            if access == Access::Public {
                continue;
            }
            let guesser = Ipv4Addr::new(127, 0, 0, guesser);
            let answer = site.ask_from(guesser, &method, &path, authorization).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{authorization:?} at {path}");
            assert!(answer.headers().contains_key(WWW_AUTHENTICATE));
        }
    }
    let site = Site::new(Some(KEY));
    for path in ["/api/tools?api_key=the-right-key-of-this-test", "/api/tools?token=the-right-key-of-this-test"] {
        assert_eq!(site.ask(&Method::GET, path, &[]).await.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let lower = site.ask(&Method::GET, "/api/tools", &[&format!("bearer {KEY}")]).await;
    assert_eq!(lower.status(), StatusCode::OK, "the scheme's case does not matter, says RFC 9110");
}

#[tokio::test]
async fn an_unknown_path_tells_a_stranger_nothing() {
    let site = Site::new(Some(KEY));

    assert_eq!(site.ask(&Method::GET, "/api/nothing", &[]).await.status(), StatusCode::UNAUTHORIZED);
    let known = site.ask(&Method::GET, "/api/nothing", &[&format!("Bearer {KEY}")]).await;
    assert_eq!(known.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_a_configured_credential_only_loopback_comes_in() {
    let site = Site::new(None);
    let elsewhere = Ipv4Addr::new(192, 0, 2, 7);

    assert_eq!(site.ask(&Method::GET, "/api/tools", &[]).await.status(), StatusCode::OK);
    let stranger = site.ask_from(elsewhere, &Method::GET, "/api/tools", &[]).await;
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    let guess = site.ask(&Method::GET, "/api/tools", &["Bearer guess"]).await;
    assert_eq!(guess.status(), StatusCode::UNAUTHORIZED, "a wrong credential is worse than none");
}

#[tokio::test]
async fn who_guesses_too_often_is_told_to_wait_even_on_loopback() {
    let site = Site::new(Some(KEY));
    let mut refused = None;
    for _ in 0..50 {
        let answer = site.ask(&Method::GET, "/api/tools", &["Bearer guess"]).await;
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("fifty guesses at once are too many");
    assert!(refused.headers().contains_key("retry-after"));
    let right = site.ask(&Method::GET, "/api/tools", &[&format!("Bearer {KEY}")]).await;
    assert_eq!(right.status(), StatusCode::OK, "no process of this machine can lock its owner out");
}

#[tokio::test]
async fn a_fast_guesser_from_elsewhere_does_not_learn_that_a_guess_was_right() {
    let site = Site::new(Some(KEY));
    let elsewhere = Ipv4Addr::new(192, 0, 2, 7);
    let guess = async |key: &str| {
        site.ask_from(elsewhere, &Method::GET, "/api/tools", &[&format!("Bearer {key}")])
            .await
            .status()
    };
    while guess("wrong").await != StatusCode::TOO_MANY_REQUESTS {}

    assert_eq!(guess(KEY).await, StatusCode::TOO_MANY_REQUESTS);
}

/// Over HTTP/1 the parser counts them, over HTTP/2 nobody else does.
#[tokio::test]
async fn a_request_of_too_many_headers_is_refused_at_every_route() {
    let site = Site::new(None);
    let most = openfang_types::limits::Limits::default().headers;
    // One of them is the host.
    let headers = |count: usize| vec![("x-filler", "y"); count - 1];

    for (method, path, _) in rows() {
        let refused = site.ask_with(Ipv4Addr::LOCALHOST, &method, &path, &headers(most + 1)).await;
        assert_eq!(refused.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "{method} {path}");
    }
    let fits = site.ask_with(Ipv4Addr::LOCALHOST, &Method::GET, "/health", &headers(most)).await;
    assert_eq!(fits.status(), StatusCode::OK);
}
