//! Words that nobody accepted.

use openfang_types::taint::Label;

use super::*;

#[test]
fn whoever_is_offered_words_that_nobody_accepted_carries_what_they_carry() {
    let quarantine = Quarantine::default();
    let labels = Labels::one(Label::McpServer, "the MCP server s");
    quarantine.replace([], [("mcp_s_a".parse().unwrap(), labels.clone())]);

    assert_eq!(quarantine.labels_of_words(["mcp_s_b", "mcp_s_a"].into_iter()), labels);
    assert!(quarantine.labels_of_words(["mcp_s_b"].into_iter()).is_empty());
    quarantine.replace([], []);
    assert!(quarantine.labels_of_words(["mcp_s_a"].into_iter()).is_empty());
}
