//! Lists in every revision, page by page.

use serde_json::json;

use super::*;

fn tool(name: &str) -> Entry {
    let json = json!({
        "name": name, "title": "T", "description": "d", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "icons": [], "vendor": 1,
    });
    Entry::new(name, raw(&json))
}

fn page(listing: &Listing, revision: Revision, cursor: Option<&str>) -> Value {
    let body = listing.page(revision, cursor).unwrap();
    serde_json::from_str(&format!("{{{}}}", str::from_utf8(&body).unwrap())).unwrap()
}

#[test]
fn each_revision_gets_the_members_it_has_and_unknown_ones_survive() {
    let listing = Listing::new(Listed::Tools, vec![tool("a")]);
    let members = |revision| -> Vec<String> {
        let page = page(&listing, revision, None);
        page["tools"][0].as_object().unwrap().keys().cloned().collect()
    };

    assert_eq!(members(Revision::V2024_11_05), ["description", "inputSchema", "name", "vendor"]);
    assert_eq!(members(Revision::V2025_03_26), ["annotations", "description", "inputSchema", "name", "vendor"]);
    assert!(members(Revision::V2025_06_18).contains(&"outputSchema".to_owned()));
    assert!(!members(Revision::V2025_06_18).contains(&"icons".to_owned()));
    assert!(members(Revision::V2026_07_28).contains(&"icons".to_owned()));
}

#[test]
fn pages_together_are_the_list_in_order() {
    let count = MCP_PAGE_ENTRIES * 2 + 5;
    let listing = Listing::new(Listed::Tools, (0..count).rev().map(|n| tool(&format!("t{n:05}"))).collect());
    let mut names = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = page(&listing, Revision::NEWEST, cursor.as_deref());
        names.extend(
            page["tools"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next.as_str().unwrap().to_owned()),
            None => break,
        }
    }

    assert_eq!(names.len(), count);
    assert!(names.is_sorted());
}

#[test]
fn a_cursor_that_we_did_not_make_is_refused_and_an_empty_one_is_the_beginning() {
    let listing = Listing::new(Listed::Tools, vec![tool("a")]);

    for odd in ["x", "garbage", "AAAA", "\u{7f}", "YWZ0ZXI"] {
        assert_eq!(listing.page(Revision::NEWEST, Some(odd)), Err(McpError::BadCursor), "{odd}");
    }
    assert_eq!(page(&listing, Revision::NEWEST, Some(""))["tools"][0]["name"], "a");
}

#[test]
fn an_empty_list_is_one_page() {
    let listing = Listing::new(Listed::Prompts, Vec::new());

    assert_eq!(page(&listing, Revision::V2024_11_05, None), json!({"prompts": []}));
}

#[test]
fn an_output_schema_that_is_no_object_is_for_the_modern_era_only() {
    let odd = Entry::new(
        "a",
        raw(&json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}})),
    );
    let listing = Listing::new(Listed::Tools, vec![odd]);

    assert!(page(&listing, Revision::V2026_07_28, None)["tools"][0].get("outputSchema").is_some());
    assert!(page(&listing, Revision::V2025_11_25, None)["tools"][0].get("outputSchema").is_none());
}

#[test]
fn a_schema_keeps_its_bytes_in_every_revision_and_its_list_stays_on_one_line() {
    let schema = r#"{"type":"object","properties":{"b":{"maximum":1.50},"a":{"minimum":1e2}}}"#;
    let json = format!("{{\"name\":\"a\",\n\"title\":\"T\",\r\n\"inputSchema\":{schema}}}");
    let entry = Entry::new("a", RawValue::from_string(json).unwrap());
    let listing = Listing::new(Listed::Tools, vec![entry]);

    for revision in Revision::all() {
        let page = listing.page(revision, None).unwrap();
        let text = str::from_utf8(&page).unwrap();
        assert!(text.contains(schema), "{revision}: {text}");
        assert!(!text.contains(['\n', '\r']), "{revision}: {text}");
    }
}
