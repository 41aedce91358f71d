//! What begins a conversation, and what does not.

use serde_json::{Value, json};

use super::*;
use crate::content::raw;

fn is_handshake_with(params: &Value) -> bool {
    is_handshake("initialize", Some(&raw(params)))
}

#[test]
fn initialize_is_the_handshake_unless_it_says_that_it_is_modern() {
    assert!(is_handshake("initialize", None));
    assert!(is_handshake_with(&json!({ "protocolVersion": "2025-11-25", "_meta": { "progressToken": 1 } })));
    assert!(is_handshake_with(&json!({ "protocolVersion": "2025-11-25", "_meta": "odd" })));
    assert!(!is_handshake_with(&json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })));
    assert!(!is_handshake("tools/list", None));
}
