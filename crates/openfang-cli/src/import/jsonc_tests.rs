//! What editors accept.

use serde_json::json;

use super::*;

#[test]
fn comments_and_last_commas_are_passed_over_and_texts_are_not() {
    let text = "\u{feff}// head\n{ /* a\n b */ \"a\": [1, 2, /* last */ ], // end\n\"b\": \"// no, /* no */ ,]\\\"\", }\n// tail";

    assert_eq!(parse(text), Ok(json!({ "a": [1, 2], "b": "// no, /* no */ ,]\"" })));
}

#[test]
fn what_is_wrong_is_said_by_its_line_and_not_quoted() {
    for (text, line) in [("{\n/* x\n */ \"a\": hunter2 }", "line 3"), ("{\n\"a\": 1,,}", "line 2"), ("", "line 1")] {
        let why = parse(text).unwrap_err();
        assert!(why.contains(line) && !why.contains("hunter2"), "{why}");
    }
}
