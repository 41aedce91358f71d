//! Guessing passwords: what it costs the guesser, and that it costs nobody else anything.

use futures_util::future::{join, join_all};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::*;

fn guess(user: &str) -> Value {
    json!({ "user": user, "password": "wrong horse" })
}

fn right(user: &str) -> Value {
    json!({ "user": user, "password": PASSWORD })
}

async fn site_with(limits: Limits) -> Site {
    let home = TestHome::new();
    let kernel = home.boot_with(Config { limits, ..crate::http::any_port() }).start().unwrap();
    let site = Site { server: TestServer::start(kernel).await, _home: home };
    add(site.kernel(), "ada", &["*"]).await;
    site
}

#[tokio::test]
async fn a_guess_beyond_the_budget_of_its_peer_is_refused_also_when_it_is_right() {
    let site = site_with(Limits { login_attempts_per_peer: 3, ..Limits::default() }).await;
    let (here, there) = (site.server.client(), site.server.client().from("127.0.0.2"));

    for _ in 0..3 {
        assert_eq!(here.post("/api/login", &guess("ada")).await.status, 401);
    }
    let refused = here.post("/api/login", &right("ada")).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (429, None), "{refused:?}");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(here.post("/api/login", &guess("somebody-else")).await.status, 429, "whatever name is guessed at");

    log_in(&there, "ada").await;
    site.server.stop().await;
}

#[tokio::test]
async fn a_login_that_was_right_costs_nothing() {
    let site =
        site_with(Limits { login_attempts_per_peer: 2, login_attempts_per_account: 2, ..Limits::default() }).await;
    for _ in 0..5 {
        log_in(&site.server.client(), "ada").await;
    }
    site.server.stop().await;
}

#[tokio::test]
async fn an_honest_login_beside_48_guessing_clients_succeeds() {
    let site = site_with(Limits { login_attempts_per_peer: 8, ..Limits::default() }).await;
    let guesser = |n: usize| {
        let client = site.server.client();
        async move {
            let mut statuses = Vec::new();
            for _ in 0..4 {
                statuses.push(client.post("/api/login", &guess(&format!("user-{n}"))).await.status);
            }
            statuses
        }
    };
    let honest = site.server.client().from("127.0.0.2");

    let (guessed, _cookie) = join(join_all((0..48).map(guesser)), log_in(&honest, "ada")).await;

    let hashed = guessed.iter().flatten().filter(|status| **status == 401).count();
    assert_eq!(hashed, 8, "{guessed:?}");
    assert!(guessed.iter().flatten().all(|status| matches!(status, 401 | 429)), "{guessed:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn strangers_who_guess_at_an_account_do_not_lock_its_owner_out() {
    let site = site_with(Limits { login_attempts_per_account: 3, ..Limits::default() }).await;
    let client = |from: &str| site.server.client().from(from);
    let cookie = log_in(&client("127.0.0.2"), "ada").await;

    let mut statuses = Vec::new();
    for n in 1..3 {
        for _ in 0..3 {
            statuses.push(client(&format!("127.0.1.{n}")).post("/api/login", &guess("ada")).await.status);
        }
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 2, "{statuses:?}");
    assert_eq!(client("127.0.1.2").post("/api/login", &right("ada")).await.status, 429, "{statuses:?}");

    log_in(&client("127.0.0.2"), "ada").await;
    log_in(&client("127.0.0.3"), "ada").await;
    let page = client("127.0.1.2").with("cookie", &cookie);
    log_in(&page, "ada").await;
    let other = page.post("/api/login", &right("bob")).await;
    assert_eq!(other.status, 401, "the cookie is ada's: bob has a budget of its own");
    site.server.stop().await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_attempts_and_so_has_the_proxy() {
    let home = TestHome::new();
    let limits = Limits { login_attempts_per_peer: 2, ..Limits::default() };
    let trusted_proxies = vec!["127.0.0.0/30".parse().unwrap()];
    let config = Config { limits, trusted_proxies, ..crate::http::any_port() };
    let site = Site { server: TestServer::start(home.boot_with(config).start().unwrap()).await, _home: home };
    add(site.kernel(), "ada", &["*"]).await;
    let behind = |proxy: &str, client: &str| site.server.client().from(proxy).with("x-forwarded-for", client);
    let exhaust = async |client: &Client| {
        let mut statuses = Vec::new();
        for body in [guess("ada"), guess("ada"), right("ada")] {
            statuses.push(client.post("/api/login", &body).await.status);
        }
        statuses
    };

    assert_eq!(exhaust(&behind("127.0.0.1", "198.51.100.7")).await, [401, 401, 429]);
    for same in [behind("127.0.0.2", "198.51.100.7"), behind("127.0.0.1", "192.0.2.1, 198.51.100.7, 127.0.0.3")] {
        assert_eq!(same.post("/api/login", &right("ada")).await.status, 429, "whichever proxy it came through");
    }
    log_in(&behind("127.0.0.1", "198.51.100.8"), "ada").await;

    let own = site.server.client().with("forwarded", "for=198.51.100.9");
    assert_eq!(exhaust(&own).await, [401, 401, 429]);
    log_in(&behind("127.0.0.1", "198.51.100.9"), "ada").await;
    log_in(&site.server.client().from("127.0.0.9").with("x-forwarded-for", "198.51.100.7"), "ada").await;
    site.server.stop().await;
}

#[tokio::test]
async fn who_comes_through_a_trusted_proxy_is_never_taken_for_this_machine() {
    let home = TestHome::new();
    let config = Config { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let (proxy, here) = (server.client(), server.client().from("127.0.0.2"));

    assert_eq!(here.get("/api/tools").await.status, 200, "nobody has a credential, so loopback comes in");
    for client in
        [proxy.clone(), proxy.clone().with("x-forwarded-for", "127.0.0.1"), proxy.with("x-forwarded-for", "x")]
    {
        assert_eq!(client.get("/api/tools").await.status, 401);
    }
    server.stop().await;
}

#[tokio::test]
async fn the_command_line_stays_the_operator_when_a_proxy_on_this_machine_is_trusted() {
    let home = TestHome::new();
    let config = Config { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let cli = server.client().bearer(server.kernel.daemon_token().expose());
    let program = |name: &str| json!({"name": name, "transport": {"type": "stdio", "command": "true"}});

    let added = cli.post("/api/mcp/servers", &program("own")).await;
    assert!(added.status < 300, "{added:?}");
    for trace in ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-proto"] {
        let relayed = cli.clone().with(trace, "127.0.0.1").post("/api/mcp/servers", &program("relayed")).await;
        assert_eq!(relayed.status, 403, "{trace}: {relayed:?}");
    }
    server.stop().await;
}

/// Whether too many wait already.
fn is_turned_away(answer: &openfang_testkit::http::Answer) -> bool {
    answer.status == 429 && answer.body.contains("login_busy")
}

/// More than may wait.
const GUESSERS: usize = openfang_types::limits::PASSWORD_QUEUE + 100;

#[tokio::test]
async fn guesses_of_many_fresh_peers_fill_the_queue_for_themselves_only() {
    let site = site_with(Limits { login_attempts_per_peer: 2, ..Limits::default() }).await;
    let (known, stranger) = (site.server.client().from("127.0.0.2"), site.server.client().from("127.0.0.3"));
    log_in(&known, "ada").await;
    let is_full = tokio::sync::Notify::new();
    let guesser = |n: usize| {
        let client = site.server.client().from(&format!("127.9.{}.{}", n / 100, n % 100 + 1));
        let is_full = &is_full;
        async move {
            let answer = client.post("/api/login", &guess(&format!("user-{n}"))).await;
            if is_turned_away(&answer) {
                is_full.notify_one();
            }
            answer
        }
    };
    let honest = async {
        is_full.notified().await;
        join(known.post("/api/login", &right("ada")), stranger.post("/api/login", &right("ada"))).await
    };

    let (guessed, (known, stranger)) = join(join_all((0..GUESSERS).map(guesser)), honest).await;

    assert_eq!((known.status, stranger.status), (200, 200), "{known:?} {stranger:?}");
    assert!(guessed.iter().all(|answer| answer.status == 401 || is_turned_away(answer)), "{guessed:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn a_login_that_was_refused_because_too_many_wait_costs_nothing() {
    let site =
        site_with(Limits { login_attempts_per_peer: 1, login_attempts_per_account: 1, ..Limits::default() }).await;
    let attempt = |n: usize| {
        let client = site.server.client().from(&format!("127.9.{}.{}", n / 200, n % 200 + 1));
        async move { (n, client.post("/api/login", &right(&format!("user-{n}"))).await) }
    };

    // Many more than may wait, because some are answered before the last ones arrive.
    let first = join_all((0..4 * openfang_types::limits::PASSWORD_QUEUE).map(attempt)).await;
    let refused: Vec<usize> = first.iter().filter(|(_, answer)| is_turned_away(answer)).map(|(n, _)| *n).collect();
    assert!(!refused.is_empty(), "{first:?}");
    let again = join_all(refused.into_iter().take(20).map(attempt)).await;

    assert!(again.iter().all(|(_, answer)| answer.status == 401), "each was charged once, for its hash: {again:?}");
    site.server.stop().await;
}
