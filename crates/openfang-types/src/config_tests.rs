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

    assert_eq!(problem_keys(|c| c.api_listen = everywhere), ["api_listen"]);
    let with_key = |c: &mut Config| {
        c.api_listen = everywhere;
        c.api_key = Some(Secret::new("0123456789abcdef".into()));
    };
    assert!(problem_keys(with_key).is_empty());
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
fn a_secret_is_printed_nowhere() {
    let config = Config { api_key: Some(Secret::new("canary-0123456789".into())), ..Config::default() };

    let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
    assert!(!shown.contains("canary"), "{shown}");
}
