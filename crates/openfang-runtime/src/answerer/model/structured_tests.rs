//! Answers that are JSON documents.

use super::without_fence;

#[test]
fn a_fence_around_a_document_is_left_out_and_nothing_else() {
    assert_eq!(without_fence(" {\"a\": 1}\n"), "{\"a\": 1}");
    assert_eq!(without_fence("```json\n{\"a\": 1}\n```"), "{\"a\": 1}");
    assert_eq!(without_fence("```\n[1]\n```"), "[1]");
    assert_eq!(without_fence("\"```\""), "\"```\"");
}
