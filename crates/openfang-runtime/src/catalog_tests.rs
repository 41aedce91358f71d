//! Which schemas are compiled.

use serde_json::json;

use super::*;

#[test]
fn a_pattern_that_backtracks_for_ever_elsewhere_is_answered_here() {
    let validator = compile(&json!({"type": "string", "pattern": "^(a+)+$"})).unwrap();

    assert!(!validator.is_valid(&json!(format!("{}!", "a".repeat(100_000)))));
}
