//! Which URIs of servers are taken for what they look like.

use openfang_mcp::content::ResourceContents;
use serde_json::json;

use super::{bytes_of, is_plain, uri_here};

#[test]
fn uris_with_a_way_up_or_hidden_separators_are_not_plain() {
    assert!(is_plain("skill://docs/a/SKILL.md") && is_plain("skill://docs/my%20file.md"));
    for uri in [
        "skill://docs/../a",
        "skill://docs/%2E%2e/a",
        "skill://docs/%252e/a",
        "skill://docs/a%2fb",
        "skill://docs//a",
        "skill://docs/./a",
        "skill://docs/a?b",
        "skill://docs/a#b",
        "skill://docs/a\\b",
        "https://docs/a",
        "skill:/docs/a",
    ] {
        assert!(!is_plain(uri), "{uri}");
    }
}

#[test]
fn a_server_gets_its_own_part_of_the_uris_and_none_gets_ours() {
    let here = |server: &str| uri_here(&server.parse().unwrap(), "skill://docs/a/SKILL.md");
    assert_eq!(here("lib").as_deref(), Some("skill://lib/docs/a/SKILL.md"));
    assert_eq!(here("openfang"), None);
}

#[test]
fn only_a_resource_that_is_whole_and_alone_has_bytes() {
    let of = |parts: &[serde_json::Value]| bytes_of(&ResourceContents::of(parts), "u");
    assert_eq!(of(&[json!({ "uri": "u", "text": "A" })]), Some(b"A".to_vec()));
    assert_eq!(of(&[json!({ "uri": "u", "blob": "QQ==" })]), Some(b"A".to_vec()));
    for wrong in [
        vec![],
        vec![json!({ "uri": "u", "text": "A" }), json!({ "uri": "u", "text": "B" })],
        vec![json!({ "uri": "v", "text": "A" })],
        vec![json!({ "uri": "u", "text": "A", "blob": "QQ==" })],
        vec![json!({ "uri": "u", "blob": "!" })],
        vec![json!({ "uri": "u" })],
    ] {
        assert_eq!(of(&wrong), None, "{wrong:?}");
    }
}
