//! Content as each revision can carry it.

use openfang_types::content::ToolOutput;
use serde_json::json;

use super::*;
use crate::revision::Revision;

fn shown(result: &ToolOutput, revision: Revision) -> Value {
    serde_json::to_value(shown_call(result, revision.facts())).unwrap()
}

fn everything() -> ToolOutput {
    let blocks = [
        json!({"type": "text", "text": "t", "vendor": 1}),
        json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
        json!({"type": "resource_link", "uri": "x://y", "name": "y"}),
    ];
    ToolOutput {
        content: blocks.iter().map(|block| Block::of(block).unwrap()).collect(),
        structured: Some(raw(&json!({"a": 1}))),
        ..ToolOutput::text("")
    }
}

#[test]
fn an_older_peer_gets_words_for_blocks_it_does_not_know() {
    let kinds = |revision| -> Vec<Value> {
        shown(&everything(), revision)["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].clone())
            .collect()
    };

    assert_eq!(kinds(Revision::V2026_07_28), ["text", "audio", "resource_link"]);
    assert_eq!(kinds(Revision::V2025_03_26), ["text", "audio", "text"]);
    assert_eq!(kinds(Revision::V2024_11_05), ["text", "text", "text"]);
}

#[test]
fn members_that_we_do_not_know_survive() {
    assert_eq!(shown(&everything(), Revision::V2024_11_05)["content"][0]["vendor"], 1);
}

#[test]
fn structured_content_is_for_those_who_have_it_and_never_beside_a_failure() {
    let object = everything();
    let list = ToolOutput { structured: Some(raw(&json!([1]))), ..everything() };
    let failed = ToolOutput { is_error: true, ..everything() };
    let has = |result, revision| shown(result, revision).get("structuredContent").is_some();

    assert!(has(&object, Revision::V2026_07_28) && has(&object, Revision::V2025_06_18));
    assert!(!has(&object, Revision::V2025_03_26) && !has(&object, Revision::V2024_11_05));
    assert!(has(&list, Revision::V2026_07_28) && !has(&list, Revision::V2025_11_25));
    assert!(!has(&failed, Revision::V2026_07_28));
}
