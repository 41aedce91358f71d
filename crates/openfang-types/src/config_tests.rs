//! Which values are refused although they are well-formed.

use super::*;

fn problem_keys(change: impl FnOnce(&mut Config)) -> Vec<String> {
    let mut config = Config::default();
    change(&mut config);
    config.problems().into_iter().map(|problem| problem.key).collect()
}

#[test]
fn the_defaults_have_no_problems() {
    assert_eq!(Config::default().problems(), []);
}

#[test]
fn an_address_that_others_can_reach_needs_a_credential() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 50051));

    let open = Config { api_listen: everywhere, ..Config::default() };
    let said = open.exposure().unwrap();
    assert_eq!(said.key, "api_listen");
    assert!(said.why.contains("api_key") && said.why.contains("openfang user add"), "{}", said.why);
    let with_key = Config { api_key: Some(Secret::new("0123456789abcdef".into())), ..open };
    assert_eq!(with_key.exposure(), None);
    assert_eq!(Config::default().exposure(), None);
}

#[test]
fn a_public_url_is_one_of_http_and_gives_the_origin_of_its_pages() {
    for bad in
        ["", "agents.example.org", "ftp://x", "https://", "https:///x", "https://a b", "https://x?y", "http://u@x"]
    {
        assert_eq!(problem_keys(|c| c.public_url = Some(bad.into())), ["public_url"], "{bad}");
    }
    let rows = [
        ("https://agents.example.org", "https://agents.example.org", true),
        ("https://agents.example.org:8443/fang/", "https://agents.example.org:8443", true),
        ("http://localhost:50051", "http://localhost:50051", false),
    ];
    for (url, origin, is_https) in rows {
        let config = Config { public_url: Some(url.into()), ..Config::default() };
        assert_eq!(config.problems(), []);
        assert_eq!((config.public_origin(), config.is_https()), (Some(origin), is_https));
    }
}

#[test]
fn keys_origins_hosts_patterns_and_zeroes_are_checked() {
    assert_eq!(problem_keys(|c| c.api_key = Some(Secret::new("a b".into()))), ["api_key"]);
    assert_eq!(problem_keys(|c| c.allowed_origins = vec!["https://*".into()]), ["allowed_origins"]);
    assert_eq!(problem_keys(|c| c.allowed_hosts = vec!["http://x".into()]), ["allowed_hosts"]);
    assert_eq!(problem_keys(|c| c.pii.patterns = vec!["(".into()]), ["pii.patterns"]);
    assert_eq!(problem_keys(|c| c.limits.body_bytes = 0), ["limits.body_bytes"]);
    assert_eq!(problem_keys(|c| c.loop_guard.warn_identical = 9), ["loop_guard.block_identical"]);
    assert!(problem_keys(|c| c.limits.drain_secs = 0).is_empty());
}

#[test]
fn a_size_may_be_larger_than_4_gib_and_a_number_of_seconds_may_not() {
    let tib = 1 << 40;
    assert!(problem_keys(|c| c.storage.owner_bytes = tib).is_empty());
    assert!(problem_keys(|c| c.limits.inflight_bytes = 1 << 40).is_empty());
    assert_eq!(problem_keys(|c| c.storage.owner_bytes = u64::MAX), ["storage.owner_bytes"]);
    assert_eq!(problem_keys(|c| c.limits.header_bytes = 1 << 40), ["limits.header_bytes"]);
    assert_eq!(problem_keys(|c| c.limits.run_timeout_secs = tib), ["limits.run_timeout_secs"]);
}

#[test]
fn a_secret_is_printed_nowhere() {
    let config = Config { api_key: Some(Secret::new("canary-0123456789".into())), ..Config::default() };

    let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
    assert!(!shown.contains("canary"), "{shown}");
}
