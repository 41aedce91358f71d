//! Logging in and out.

use openfang_types::config::Config;
use serde_json::json;

use super::*;

#[tokio::test]
async fn who_knows_the_password_gets_a_cookie_and_loses_it_by_logging_out() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["get_*", "agent:starter"]).await;
    let login = site
        .server
        .client()
        .post("/api/login", &json!({ "user": "ada", "password": PASSWORD }))
        .await;

    assert_eq!((login.status, login.json()), (200, json!({ "user": "ada" })), "{login:?}");
    assert_eq!(login.header("cache-control"), Some("no-store"));
    let set = login.header("set-cookie").unwrap();
    let (cookie, rest) = set.split_once(';').unwrap();
    assert!(cookie.starts_with("openfang_session=") && cookie.len() > 50, "{cookie}");
    assert_eq!(rest, " HttpOnly; SameSite=Lax; Path=/; Max-Age=604800");
    let page = site.with_cookie(cookie);
    let me = page.get("/api/me").await.json();
    assert_eq!(me, json!({ "user": "ada", "standing": "user", "grants": ["get_*", "agent:starter"] }));

    let out = page.post("/api/logout", &json!({})).await;
    assert_eq!(out.json(), json!({ "loggedOut": true }));
    assert!(out.header("set-cookie").unwrap().starts_with("openfang_session=; "));
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    let after = page.get("/api/me").await;
    assert_eq!(
        (after.status, after.json()["error"]["message"].as_str().unwrap()),
        (401, "the login has ended: log in again")
    );
    site.server.stop().await;
}

#[tokio::test]
async fn over_https_the_cookie_is_for_https_only_and_its_pages_may_call() {
    let home = TestHome::new();
    let config = Config { public_url: Some("https://fang.example.org".into()), ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    add(&server.kernel, "ada", &["*"]).await;
    let client = server
        .client()
        .with("host", "fang.example.org")
        .with("origin", "https://fang.example.org");

    let login = client.post("/api/login", &json!({ "user": "ada", "password": PASSWORD })).await;

    let set = login.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-openfang_session=") && set.ends_with("; Secure"), "{set}");
    let cookie = set.split(';').next().unwrap();
    let call = json!({ "arguments": { "a": 1, "b": 2 } });
    assert_eq!(client.clone().with("cookie", cookie).post("/api/tools/add_numbers", &call).await.status, 200);
    let plain = cookie.replace("__Host-", "");
    assert_eq!(client.with("cookie", &plain).post("/api/tools/add_numbers", &call).await.status, 401);
    server.stop().await;
}

#[tokio::test]
async fn a_wrong_password_an_unknown_name_and_a_user_without_one_look_the_same() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["*"]).await;
    add(site.kernel(), "bob", &["*"]).await;
    let bob = "bob".parse().unwrap();
    site.kernel()
        .set_user_password(&callers::operator(site.kernel()), &bob, None)
        .await
        .unwrap();
    let mut seen = Vec::new();
    let rows =
        [("ada", "wrong horse"), ("eve", PASSWORD), ("bob", PASSWORD), ("", ""), ("ada", ""), ("admin", PASSWORD)];
    for (user, password) in rows {
        let answer = site
            .server
            .client()
            .post("/api/login", &json!({ "user": user, "password": password }))
            .await;
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{user:?}");
        let mut body = answer.json();
        body["error"]["trace"] = json!(null);
        seen.push(body);
    }
    assert!(seen.iter().all(|body| *body == seen[0]), "{seen:?}");
    site.server.stop().await;
}

#[tokio::test]
async fn who_guesses_passwords_is_told_to_wait() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["*"]).await;
    let guess = json!({ "user": "ada", "password": "wrong horse" });

    let mut statuses = Vec::new();
    while statuses.len() < 60 && !statuses.contains(&429) {
        statuses.push(site.server.client().post("/api/login", &guess).await.status);
    }

    assert!(statuses.len() > 10 && statuses.ends_with(&[429]), "{statuses:?}");
    log_in(&site.server.client().from("127.0.0.2"), "ada").await;
    site.server.stop().await;
}

#[tokio::test]
async fn what_is_no_login_is_refused_before_anything_is_hashed() {
    let site = Site::start().await;
    add(site.kernel(), "ada", &["*"]).await;
    let client = site.server.client();
    let right = json!({ "user": "ada", "password": PASSWORD }).to_string();
    let rows: [(Client, &str, &str, u16); 7] = [
        (client.clone().with("content-type", "text/plain"), "POST", &right, 415),
        (client.clone().with("content-type", "application/x-www-form-urlencoded"), "POST", "user=ada", 415),
        (client.clone().with("origin", "https://evil.com"), "POST", &right, 403),
        (client.clone(), "POST", "{\"user\":\"ada\",\"password\":5}", 400),
        (client.clone(), "POST", "{\"user\":\"ada\",\"password\":\"x\",\"more\":1}", 400),
        (client.clone(), "POST", &format!("{{\"user\":\"ada\",\"password\":\"{}\"}}", "x".repeat(20_000)), 413),
        (client, "GET", "", 405),
    ];
    for (client, method, body, status) in rows {
        let answer = client.send(method, "/api/login", Some(body).filter(|body| !body.is_empty())).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (status, None), "{method} {body}");
        assert!(!answer.body.contains(PASSWORD));
    }
    site.server.stop().await;
}

#[tokio::test]
async fn logins_are_in_the_audit_log_without_names_that_are_nobodys() {
    let site = Site::start().await;
    add(site.kernel(), "ada@example.org", &["*"]).await;
    let cookie = log_in(&site.server.client(), "ada@example.org").await;
    for (user, password) in [("ada@example.org", "wrong horse"), ("my-password-in-the-wrong-field", PASSWORD)] {
        site.server
            .client()
            .post("/api/login", &json!({ "user": user, "password": password }))
            .await;
    }
    site.with_cookie(&cookie).post("/api/logout", &json!({})).await;

    site.kernel().close().await;
    let log = openfang_kernel::maintenance::AuditLog::open(&site._home.home()).unwrap();
    let rows: Vec<_> = log.tail(Some(0), 100).unwrap().iter().map(|entry| entry.row().unwrap()).collect();
    let told: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {} {}", row.owner, row.subject, json!(row.outcome)))
        .collect();
    assert_eq!(
        told,
        [
            "admin add user ada@example.org \"started\"",
            "admin add user ada@example.org \"succeeded\"",
            "ada@example.org login \"succeeded\"",
            "ada@example.org login {\"refused\":\"wrong_login\"}",
            "nobody login {\"refused\":\"wrong_login\"}",
            "ada@example.org logout \"succeeded\"",
        ]
    );
    site.server.stop().await;
}
