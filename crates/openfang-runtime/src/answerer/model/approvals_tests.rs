//! Which messages are decisions.

use openfang_types::task::Role;

use super::*;

fn message(parts: Vec<Part>) -> Message {
    Message::of_parts("m-1".parse().unwrap(), Role::User, parts)
}

#[test]
fn a_message_with_words_is_no_decision() {
    let decision = || Part::data(json!({ "approval": "a", "decision": "approve" }));

    assert!(is_decision(&message(vec![decision(), decision()])));
    assert!(!is_decision(&message(vec![decision(), Part::text("but to Ada")])));
    assert!(!is_decision(&message(vec![Part::data(json!({ "tool": "x" }))])));
    assert!(!is_decision(&message(Vec::new())));
}
