//! Servers in documents of every kind.

use serde_json::json;

use super::*;

fn names(document: &Value) -> Result<Vec<String>, String> {
    let found = servers(document.to_string().as_bytes())?;
    Ok(found.iter().map(|server| server.short_name().to_owned()).collect())
}

#[test]
fn servers_are_found_in_documents_of_every_kind() {
    let server = |name: &str| json!({ "name": name, "version": "1.0.0", "remotes": [] });
    let catalogue = json!({ "specVersion": "1.0", "entries": [
        { "identifier": "urn:air:x.example:agents:one", "type": "application/a2a-agent-card+json", "url": "https://x" },
        { "identifier": "urn:air:x.example:mcp:two", "type": MCP_SERVER_TYPE, "data": { "remotes": [] } },
        { "identifier": "urn:air:x.example:mcp:three", "type": MCP_SERVER_TYPE, "url": "https://x.example/server.json" },
    ] });
    for (document, expected) in [
        (server("io.github.ada/box"), vec!["box"]),
        (json!({ "server": server("a/b"), "_meta": {} }), vec!["b"]),
        (json!({ "servers": [{ "server": server("a/b") }, { "server": server("c") }] }), vec!["b", "c"]),
        (catalogue, vec!["two", "three"]),
        (json!({ "entries": [] }), vec![]),
    ] {
        assert_eq!(names(&document).unwrap(), expected, "{document}");
    }
}

#[test]
fn what_is_none_is_refused_with_the_reason() {
    for (document, why) in [
        (json!([]), "not a published server"),
        (json!({ "name": "x" }), "missing field `version`"),
        (json!({ "entries": [{ "type": MCP_SERVER_TYPE }] }), "neither data nor a URL"),
        (json!({ "entries": [{ "type": MCP_SERVER_TYPE, "data": { "version": 7 } }] }), "not a published server"),
    ] {
        assert!(names(&document).unwrap_err().contains(why), "{document}");
    }
    assert!(servers(b"\xff\xfe{\x00}\x00").unwrap_err().contains("not JSON"), "UTF-16");
    assert!(servers(&[b'['; 100_000]).unwrap_err().contains("not JSON"));
}

#[test]
fn the_named_server_is_taken_or_the_only_one() {
    let at =
        |name: &str| PublishedServer { name: name.to_owned(), place: ServerPlace::At("https://x.example".to_owned()) };
    assert_eq!(chosen(vec![at("a/one"), at("b/two")], "two").unwrap().short_name(), "two");
    assert_eq!(chosen(vec![at("a/one")], "mine").unwrap().short_name(), "one");
    let refused = chosen(vec![at("a/one"), at("b/two")], "mine").unwrap_err();
    assert!(refused.contains("there are 2 MCP servers in it: one, two"), "{refused}");
    assert!(chosen(Vec::new(), "mine").unwrap_err().contains("no MCP server"));
}
