//! The catalogue as a document.

use super::*;

fn agent(name: &str, card: &Value) -> CatalogueAgent {
    let card = CardDocument::of(card, "2026-01-02T03:04:05Z".parse().unwrap());
    CatalogueAgent {
        name: name.to_owned(),
        card_url: format!("https://fang.example/a2a/agents/{name}/.well-known/agent-card.json"),
        card: Arc::new(card),
    }
}

fn host(base: &str, mcp: Option<&str>) -> CatalogueHost {
    CatalogueHost { base: base.to_owned(), version: "0.1.0".to_owned(), mcp: mcp.map(str::to_owned) }
}

fn written(host: &CatalogueHost, agents: &[CatalogueAgent]) -> Value {
    serde_json::from_slice(&catalogue(host, agents, Timestamp::UNIX_EPOCH).body).unwrap()
}

#[test]
fn agents_are_entries_with_the_words_and_the_url_of_their_cards() {
    let card = json!({ "name": "reviewer", "description": "Reviews code", "version": "0.1.0",
        "skills": [{ "id": "a", "name": "read code" }] });
    let document = written(&host("https://fang.example", Some("/mcp")), &[agent("reviewer", &card)]);

    assert_eq!((&document["specVersion"], &document["host"]["displayName"]), (&json!("1.0"), &json!("fang.example")));
    assert_eq!(
        document["entries"][0],
        json!({
            "identifier": "urn:air:fang.example:agents:reviewer",
            "displayName": "reviewer",
            "type": "application/a2a-agent-card+json",
            "url": "https://fang.example/a2a/agents/reviewer/.well-known/agent-card.json",
            "description": "Reviews code",
            "tags": ["read code"],
            "version": "0.1.0",
            "updatedAt": "2026-01-02T03:04:05Z",
        })
    );
    assert_eq!(document["entries"][1]["data"]["remotes"][0]["url"], "https://fang.example/mcp");
    assert_eq!(document["entries"][1].get("url"), None, "an entry has a URL or data");
}

#[test]
fn the_domain_of_an_identifier_has_no_port_and_the_mcp_endpoint_is_left_out_where_it_is_not_offered() {
    for (base, domain) in [
        ("http://127.0.0.1:50051", "127.0.0.1"),
        ("https://fang.example:8443", "fang.example"),
        ("http://[::1]:50051", "::1"),
    ] {
        let document = written(&host(base, None), &[]);
        assert_eq!((&document["host"]["displayName"], &document["entries"]), (&json!(domain), &json!([])), "{base}");
    }
}

#[test]
fn a_long_list_is_cut_and_a_card_that_cannot_be_read_is_left_out() {
    let card = json!({ "name": "n", "skills": vec![json!({ "id": "a", "name": "b" }); CATALOGUE_TAGS + 1] });
    let many = vec![agent("n", &card); CATALOGUE_ENTRIES + 1];
    let document = written(&host("https://x.example", Some("/mcp")), &many);
    assert_eq!(document["entries"].as_array().unwrap().len(), CATALOGUE_ENTRIES);
    assert_eq!(document["entries"][0]["tags"].as_array().unwrap().len(), CATALOGUE_TAGS);
    assert_eq!(written(&host("https://x.example", None), &[agent("n", &json!([]))])["entries"], json!([]));
}
