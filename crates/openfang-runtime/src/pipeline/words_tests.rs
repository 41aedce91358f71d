//! What counts as the user's own words.

use serde_json::json;

use super::*;

#[test]
fn a_value_is_the_users_if_it_stands_in_what_was_said_as_a_word_of_its_own() {
    let said = vec!["Send \"see you at 1530\" to ada@example.org, flag true, 2 copies, fast".to_owned()];
    for value in [json!("ada@example.org"), json!("see you at 1530"), json!(1530), json!(["fast", true])] {
        assert!(is_all_said(&said, &value), "{value}");
    }
    for value in [
        json!("bob@example.org"),
        json!("example.or"),
        json!("da@example.org"),
        json!("2"),
        json!(2),
        json!(false),
        json!(null),
        json!(""),
        json!([]),
        json!({}),
        json!(["fast", "slow"]),
        json!({"bcc": "fast"}),
    ] {
        assert!(!is_all_said(&said, &value), "{value}");
    }
    assert!(is_all_said(&said, &json!({"flag": "fast"})));
}

#[test]
fn a_url_names_its_host_however_it_is_written() {
    let hosts = |value: Value| {
        let mut hosts = Vec::new();
        collect_urls(&value, &mut hosts);
        hosts
    };
    let some = |host: &str| vec![Some(host.to_owned())];
    assert_eq!(hosts(json!({"url": "https://docs.example.org/x?y=z"})), some("docs.example.org"));
    assert_eq!(hosts(json!({"url": " HTTPS://Docs.Example.org:8443"})), some("docs.example.org"));
    assert_eq!(hosts(json!({"url": "https://docs.example.org@evil.net/"})), some("evil.net"));
    assert_eq!(hosts(json!({"url": "https://evil.net\\@docs.example.org/"})), some("evil.net"));
    assert_eq!(hosts(json!({"url": "http://192.0.2.1/"})), [None]);
    assert_eq!(hosts(json!({"url": "https://"})), [None]);
    assert_eq!(hosts(json!({"text": "no url", "number": 1})), []);
}
