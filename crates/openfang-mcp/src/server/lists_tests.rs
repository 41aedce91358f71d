//! Resources as each revision lists them.

use serde_json::json;

use super::*;
use crate::content::raw;

#[test]
fn a_resource_is_listed_with_the_members_that_the_revision_has() {
    let resource = json!({
        "uri": "a:b", "name": "b", "title": "B", "icons": [], "_meta": {}, "annotations": { "priority": 1 }, "size": 3,
    });
    let page = ResourcePage { resources: vec![raw(&resource)], next_cursor: None };
    let listed = |revision| -> Vec<String> {
        let shown = serde_json::to_value(Resources::shown(&page, revision)).unwrap();
        shown["resources"][0]
            .as_object()
            .map(|members| members.keys().cloned().collect())
            .unwrap_or_default()
    };

    assert_eq!(listed(Revision::V2024_11_05), ["annotations", "name", "size", "uri"]);
    assert_eq!(listed(Revision::V2025_06_18), ["_meta", "annotations", "name", "size", "title", "uri"]);
    assert_eq!(serde_json::to_value(Resources::shown(&page, Revision::NEWEST)).unwrap()["resources"][0], resource);
}
