//! Which hosts may be written to, and which settings are refused.

use super::{WebConfig, problems};

fn config(hosts: &[&str]) -> WebConfig {
    WebConfig { write_hosts: hosts.iter().map(|&host| host.to_owned()).collect(), ..WebConfig::default() }
}

#[test]
fn a_suffix_covers_what_is_below_it_and_a_name_only_itself() {
    let web = config(&["api.example.org", "*.example.net"]);
    for host in ["api.example.org", "API.example.org.", "a.example.net", "a.b.example.net"] {
        assert!(web.may_write_to(host), "{host}");
    }
    for host in ["example.org", "x.api.example.org", "example.net", ".example.net", "evilexample.net", ""] {
        assert!(!web.may_write_to(host), "{host}");
    }
}

#[test]
fn settings_that_cannot_work_name_their_key() {
    let keys = |web: WebConfig| problems(&web).into_iter().map(|problem| problem.key).collect::<Vec<_>>();
    assert_eq!(keys(WebConfig::default()), [""; 0]);
    assert_eq!(keys(config(&["*", "https://x", ""])), ["web.write_hosts"; 3]);
    assert_eq!(keys(WebConfig { fetch_bytes: 0, ..WebConfig::default() }), ["web.fetch_bytes"]);
    assert_eq!(keys(WebConfig { fetch_bytes: u64::MAX, ..WebConfig::default() }), ["web.fetch_bytes"]);
    assert_eq!(keys(WebConfig { user_agent: "x\r\nHost: y".to_owned(), ..WebConfig::default() }), ["web.user_agent"]);
}

#[test]
fn a_host_is_read_from_by_its_name_or_its_suffix_and_not_by_something_like_it() {
    let web = WebConfig {
        read_hosts: vec!["docs.example.org".to_owned(), "*.example.com".to_owned()],
        ..WebConfig::default()
    };

    for host in ["docs.example.org", "DOCS.example.org.", "a.example.com", "a.b.example.com"] {
        assert!(web.may_read_from(host), "{host}");
    }
    for host in ["example.org", "x.docs.example.org", "example.com", "badexample.com", "docs.example.org.evil.net", ""]
    {
        assert!(!web.may_read_from(host), "{host}");
    }
}

#[test]
fn what_is_no_host_is_a_problem() {
    for entry in ["", "*", "https://x.example.org", "x.example.org/path", "*.", "x:80", "*.*.org"] {
        let web = WebConfig { read_hosts: vec![entry.to_owned()], ..WebConfig::default() };
        assert_eq!(problems(&web).len(), 1, "{entry:?}");
    }
}
