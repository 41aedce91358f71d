//! The table against users: their keys, their cookies, and what other sites make a browser send.

use axum::body::to_bytes;
use openfang_kernel::users::{KeyWanted, UserWanted};
use openfang_testkit::callers;
use serde_json::Value;

use super::*;

const PASSWORD: &str = "correct horse";

/// A site without an `api_key`, and a user who may do everything a user may.
struct Peopled {
    site: Site,
    key: String,
    cookie: String,
}

impl Peopled {
    async fn new() -> Self {
        let site = Site::new(None);
        let operator = callers::operator(&site.kernel);
        let wanted = UserWanted {
            name: "ada".parse().unwrap(),
            grants: vec!["*".into(), "agent:starter/*".into()],
            password: Some(Secret::new(PASSWORD.into())),
            again: false,
        };
        site.kernel.add_user(&operator, wanted).await.unwrap();
        let wanted = KeyWanted {
            user: "ada".parse().unwrap(),
            label: String::new(),
            entry_label: None,
            profile: None,
            expires_at: None,
        };
        let made = site.kernel.create_user_key(&operator, wanted).await.unwrap();
        let mut peopled = Self { site, key: made.key.expose().to_owned(), cookie: String::new() };
        peopled.log_in().await;
        peopled
    }

    async fn log_in(&mut self) {
        let password = Secret::new(PASSWORD.into());
        let here = openfang_kernel::users::LoginPeer { is_known: false, lately: 0, network: [127, 0, 0, 1].into() };
        let entered = self.site.kernel.log_in(self.site.kernel.trace(), "ada", password, here).await.unwrap();
        self.cookie = format!("openfang_session={}", entered.cookie.expose());
    }

    /// Asks with the cookie and these headers, from an address of its own so that no rate is reached.
    async fn ask(
        &self,
        row: u8,
        method: &Method,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> (StatusCode, String) {
        let headers = [&[("cookie", self.cookie.as_str())], headers].concat();
        let answer = self.site.ask_with(Ipv4Addr::new(127, 0, 1, row), method, path, &headers).await;
        let status = answer.status();
        // A stream that stays open has no code to be read.
        if status == StatusCode::OK {
            return (status, String::new());
        }
        let body = to_bytes(answer.into_body(), 100_000).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
    }
}

fn unsafe_rows() -> Vec<(u8, Method, String)> {
    let rows = rows()
        .into_iter()
        .filter(|(method, _, access)| *method != Method::GET && matches!(access, Access::Credential | Access::Admin));
    rows.zip(1..).map(|((method, path, _), n)| (n, method, path)).collect()
}

#[tokio::test]
async fn with_a_users_key_every_route_lets_in() {
    let peopled = Peopled::new().await;
    for ((method, path, _), n) in rows().into_iter().zip(1..) {
        let bearer = format!("Bearer {}", peopled.key);
        let answer = peopled.site.ask_from(Ipv4Addr::new(127, 0, 0, n), &method, &path, &[&bearer]).await;
        assert_ne!(answer.status(), StatusCode::UNAUTHORIZED, "{method} {path}");
        assert!(!answer.status().is_server_error(), "{method} {path}");
    }
}

#[tokio::test]
async fn what_is_for_the_admin_refuses_every_user_and_nobody_else() {
    let peopled = Peopled::new().await;
    let for_admin = || rows().into_iter().filter(|(_, _, access)| *access == Access::Admin);
    let paths: Vec<_> = for_admin().map(|(_, path, _)| path).collect();
    assert_eq!(paths, ["/metrics", "/api/config/status", "/api/config/reload"]);
    let bearer = format!("Bearer {}", peopled.key);
    for (method, path, _) in for_admin() {
        for headers in [&[][..], &[("authorization", bearer.as_str())]] {
            let said = peopled.ask(1, &method, &path, headers).await;
            // A cookie alone changes nothing, whoever it belongs to.
            let is_forged = headers.is_empty() && method != Method::GET;
            let why = if is_forged { "forged" } else { "not_permitted" };
            assert_eq!(said, (StatusCode::FORBIDDEN, why.to_owned()), "{method} {path} {headers:?}");
        }
    }
    let (alone, keyed) = (Site::new(None), Site::new(Some(KEY)));
    for (method, path, _) in for_admin().filter(|(method, _, _)| *method == Method::GET) {
        assert_eq!(alone.ask(&method, &path, &[]).await.status(), StatusCode::OK, "{path}: local");
        let bearer = format!("Bearer {KEY}");
        assert_eq!(keyed.ask(&method, &path, &[&bearer]).await.status(), StatusCode::OK, "{path}: the admin");
    }
}

#[tokio::test]
async fn where_there_is_a_user_nobody_comes_in_without_a_credential() {
    let peopled = Peopled::new().await;
    let key = &peopled.key;
    let (cut, other) = (&key[..key.len() - 1], key.replace("ofk_", "ofx_"));
    let wrong: [&[&str]; 10] = [
        &[],
        &[""],
        &["Bearer"],
        &["Bearer "],
        &[&format!("Basic {key}")],
        &[key],
        &[&format!("Bearer {cut}")],
        &[&format!("Bearer {other}")],
        &[&format!("Bearer {key}"), &format!("Bearer {key}")],
        &[&format!("Bearer {}", peopled.cookie.replace("openfang_session=", ""))],
    ];
    for (authorization, net) in wrong.into_iter().zip(1..) {
        for ((method, path, access), guesser) in rows().into_iter().zip(1..) {
            // Without a credential they show what is public; with a wrong one they show nothing.
            let is_open = access == Access::Public || (access == Access::Known && authorization.is_empty());
            if is_open {
                continue;
            }
            let guesser = Ipv4Addr::new(127, 0, net, guesser);
            let answer = peopled.site.ask_from(guesser, &method, &path, authorization).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{authorization:?} at {method} {path}");
            assert!(answer.headers().contains_key(WWW_AUTHENTICATE));
        }
    }
    for path in [format!("/api/tools?token={key}"), format!("/api/tools?access_token={key}&api_key={key}")] {
        assert_eq!(peopled.site.ask(&Method::GET, &path, &[]).await.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn whatever_changes_something_and_comes_with_a_cookie_must_say_from_which_page() {
    let peopled = Peopled::new().await;
    let forged: [&[(&str, &str)]; 6] = [
        &[],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "")],
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")],
        &[("referer", "http://localhost/")],
    ];
    let foreign = ["https://evil.com", "null", "http://localhost:1", "https://localhost"];
    for (n, method, path) in unsafe_rows() {
        for headers in forged {
            let said = peopled.ask(n, &method, &path, headers).await;
            assert_eq!(said, (StatusCode::FORBIDDEN, "forged".to_owned()), "{method} {path} {headers:?}");
        }
        for origin in foreign {
            let headers = [("origin", origin), ("sec-fetch-site", "same-origin")];
            let said = peopled.ask(n, &method, &path, &headers).await;
            assert_eq!(said, (StatusCode::FORBIDDEN, "wrong_origin".to_owned()), "{method} {path} {origin}");
        }
    }
    // Nothing of all that did anything: the login is still there.
    assert_eq!(peopled.ask(99, &Method::GET, "/api/me", &[]).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_page_of_our_own_may_do_what_its_user_may() {
    let mut peopled = Peopled::new().await;
    let own: [(&str, &str); 3] =
        [("origin", "http://localhost"), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")];
    let mut reached = 0;
    for (n, method, path) in unsafe_rows() {
        for header in own {
            let (status, code) = peopled.ask(n, &method, &path, &[header]).await;
            assert!(!["forged", "wrong_origin", "unauthorized"].contains(&code.as_str()), "{method} {path} {header:?}");
            assert!(!status.is_server_error(), "{method} {path}: {status}");
            reached += 1;
            if path == "/api/logout" {
                assert_eq!(status, StatusCode::OK);
                assert_eq!(peopled.ask(n, &Method::GET, "/api/me", &[]).await.0, StatusCode::UNAUTHORIZED);
                peopled.log_in().await;
            }
        }
    }
    assert!(reached >= 45, "{reached}");
}

#[tokio::test]
async fn a_key_needs_no_page_and_a_key_beside_a_cookie_is_what_counts() {
    let peopled = Peopled::new().await;
    let bearer = format!("Bearer {}", peopled.key);
    for (n, method, path) in unsafe_rows().into_iter().filter(|(_, _, path)| path != "/api/logout") {
        let (_, code) = peopled.ask(n, &method, &path, &[("authorization", &bearer)]).await;
        assert_ne!(code, "forged", "{method} {path}");
    }
    let (status, _) = peopled.ask(99, &Method::GET, "/api/me", &[("authorization", "Bearer wrong")]).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "a right cookie does not make a wrong key right");
}

#[tokio::test]
async fn reading_with_a_cookie_needs_nothing_more_and_odd_cookies_are_none() {
    let peopled = Peopled::new().await;
    let cookie = peopled.cookie.as_str();
    let ask = async |headers: &[(&'static str, &str)]| {
        let answer = peopled.site.ask_with(Ipv4Addr::LOCALHOST, &Method::GET, "/api/me", headers).await;
        answer.status()
    };

    assert_eq!(ask(&[("cookie", cookie)]).await, StatusCode::OK);
    let rows: [&[(&'static str, &str)]; 4] = [
        &[("cookie", cookie), ("cookie", cookie)],
        &[("cookie", &format!("{cookie}; {cookie}"))],
        &[("cookie", &format!("{cookie}x"))],
        &[("cookie", &cookie.to_uppercase())],
    ];
    for headers in rows {
        assert_eq!(ask(headers).await, StatusCode::UNAUTHORIZED, "{headers:?}");
    }
    for _ in 0..100 {
        assert_eq!(ask(&[("cookie", "openfang_session=old")]).await, StatusCode::UNAUTHORIZED, "and costs nothing");
    }
}

#[tokio::test]
async fn a_thousand_bad_keys_from_one_peer_or_from_many_lock_no_other_peer_out() {
    let peopled = Peopled::new().await;
    let (guesser, user) = (Ipv4Addr::new(192, 0, 2, 7), Ipv4Addr::new(192, 0, 2, 8));
    let right = format!("Bearer {}", peopled.key);
    let ask = async |peer, authorization: &str| {
        let answer = peopled.site.ask_from(peer, &Method::GET, "/api/me", &[authorization]).await;
        answer.status()
    };
    let mut refused = 0;
    for n in 0..1_000_u16 {
        let guess = format!("Bearer ofk_{n:012x}_guess");
        let status = ask(guesser, &guess).await;
        assert!([StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&status), "{status}");
        refused += u16::from(status == StatusCode::TOO_MANY_REQUESTS);
        let [high, low] = n.to_be_bytes();
        assert_eq!(ask(Ipv4Addr::new(198, 18, high, low), &guess).await, StatusCode::UNAUTHORIZED);
        if n % 100 == 0 {
            assert_eq!(ask(user, &right).await, StatusCode::OK, "after {n} guesses");
        }
    }
    assert!(refused > 900, "{refused}");
    assert_eq!(ask(user, &right).await, StatusCode::OK);
}
