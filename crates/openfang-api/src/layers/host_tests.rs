//! Which hosts are ours and which pages may call.

use axum::body::Body;

use super::*;

fn hosts(listen: &str, allowed: &[&str]) -> Hosts {
    let config = Config {
        allowed_hosts: allowed.iter().map(|name| (*name).to_owned()).collect(),
        allowed_origins: vec!["https://ide.example.org".into()],
        ..Config::default()
    };
    Hosts::new(&config, listen.parse().unwrap())
}

fn allowed(hosts: &Hosts, host: &str, origin: Option<&str>) -> bool {
    let mut request = Request::builder().uri("/health").header(HOST, host);
    if let Some(origin) = origin {
        request = request.header(ORIGIN, origin);
    }
    hosts.check(&request.body(Body::empty()).unwrap()).is_ok()
}

#[test]
fn a_loopback_listener_answers_to_loopback_names_only() {
    let hosts = hosts("127.0.0.1:50051", &[]);

    for good in ["127.0.0.1:50051", "localhost:50051", "LOCALHOST:50051", "[::1]:50051", "127.0.0.1", "localhost"] {
        assert!(allowed(&hosts, good, None), "{good}");
    }
    let bad = [
        "evil.com",
        "evil.com:50051",
        "localhost.evil.com:50051",
        "127.0.0.1.nip.io:50051",
        "localhost:1",
        "",
        "localhost:",
        "localhost:x",
        "10.0.0.1:50051",
        "localhost@evil.com",
    ];
    for bad in bad {
        assert!(!allowed(&hosts, bad, None), "{bad}");
    }
}

#[test]
fn the_public_url_is_a_host_and_an_origin_of_ours() {
    let config = Config { public_url: Some("https://Fang.example.org/below".into()), ..Config::default() };
    let hosts = Hosts::new(&config, "127.0.0.1:50051".parse().unwrap());

    assert!(allowed(&hosts, "fang.example.org", None));
    assert!(allowed(&hosts, "fang.example.org", Some("https://fang.example.org")));
    assert!(!allowed(&hosts, "fang.example.org", Some("https://fang.example.org:444")));
    assert!(!allowed(&hosts, "fang.example.org:444", None));
    assert!(!allowed(&hosts, "evil.example.org", None));
}

#[test]
fn a_listed_host_is_ours_too() {
    let hosts = hosts("127.0.0.1:50051", &["fang.example.org", "other.example.org:8443"]);

    assert!(allowed(&hosts, "fang.example.org", None) && allowed(&hosts, "other.example.org:8443", None));
    assert!(!allowed(&hosts, "fang.example.org:1", None) && !allowed(&hosts, "x.fang.example.org", None));
}

#[test]
fn a_page_may_call_only_from_an_exact_origin() {
    let hosts = hosts("127.0.0.1:50051", &[]);
    let from = |origin| allowed(&hosts, "127.0.0.1:50051", Some(origin));

    assert!(from("http://127.0.0.1:50051") && from("https://ide.example.org"));
    let bad = [
        "https://evil.com",
        "null",
        "http://localhost.evil.com",
        "http://127.0.0.1.nip.io",
        "",
        "https://127.0.0.1:50051",
        "http://127.0.0.1",
        "http://127.0.0.1:50052",
        "http://ide.example.org",
        "https://ide.example.org.evil.com",
        "https://ide.example.org:444",
    ];
    for bad in bad {
        assert!(!from(bad), "{bad}");
    }
}

#[test]
fn two_hosts_or_two_origins_are_a_trick() {
    let hosts = hosts("127.0.0.1:50051", &[]);
    let request = |header: http::HeaderName, values: [&str; 2]| {
        let mut request = Request::builder().uri("/").body(Body::empty()).unwrap();
        request.headers_mut().insert(HOST, "localhost".parse().unwrap());
        request.headers_mut().remove(&header);
        for value in values {
            request.headers_mut().append(&header, value.parse().unwrap());
        }
        request
    };

    assert!(hosts.check(&request(HOST, ["localhost", "localhost"])).is_err());
    assert!(
        hosts
            .check(&request(ORIGIN, ["https://ide.example.org", "https://ide.example.org"]))
            .is_err()
    );
    let absolute = Request::builder()
        .uri("http://evil.com/")
        .header(HOST, "localhost")
        .body(Body::empty())
        .unwrap();
    assert!(hosts.check(&absolute).is_err());
}

#[test]
fn a_listener_for_others_takes_any_name_until_config_lists_names() {
    assert!(allowed(&hosts("0.0.0.0:50051", &[]), "fang.example.org", None));
    let listed = hosts("0.0.0.0:50051", &["fang.example.org"]);
    assert!(allowed(&listed, "fang.example.org:50051", None) && allowed(&listed, "localhost:50051", None));
    assert!(!allowed(&listed, "evil.com", None));
}
