//! Lines about calls and turns.

use serde_json::json;

use super::*;

fn call(arguments: Value) -> CallNote {
    CallNote { tool: "add_numbers".to_owned(), arguments, millis: 12, outcome: CallNoteOutcome::Done }
}

#[test]
fn a_call_is_one_short_line_whatever_its_arguments_hold() {
    assert_eq!(call_line(&call(json!({ "a": 3, "b": 7 }))), "add_numbers(a=3, b=7)  12 ms");
    let words = call(json!({ "path": "notes.md", "text": "two words", "none": null }));
    assert_eq!(call_line(&words), "add_numbers(none=null, path=notes.md, text=\"two words\")  12 ms");
    let hostile = call(json!({ "a": "\u{1b}]0;x\u{7}", "b\n": "x\u{202e}" }));
    let line = call_line(&hostile);
    assert!(line.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{line:?}");
    let long = call_line(&call(json!({ "a": "\u{1f980}".repeat(1000) })));
    assert!(long.chars().count() < CHAT_CALL_LINE_CHARS + 20 && long.contains("…  12 ms"), "{long}");
    let failed = CallNote { outcome: CallNoteOutcome::Failed, millis: 61_250, ..call(json!({})) };
    assert_eq!(call_line(&failed), "add_numbers()  failed, 61.2 s");
    let denied = CallNote { outcome: CallNoteOutcome::Denied, ..call(json!({})) };
    assert_eq!(call_line(&denied), "add_numbers()  denied");
}

#[test]
fn the_figures_of_a_turn_fit_on_a_line() {
    let usage = TurnUsage {
        model: "fake/m".to_owned(),
        steps: 3,
        input_tokens: 1_234,
        cached_tokens: Some(1_123),
        output_tokens: 230,
        cost_usd: Some(0.0041),
        missed_tokens: 0,
    };
    assert_eq!(usage_line(&usage), "1.2k in (91 % cached), 230 out, $0.0041, 3 steps");
    assert_eq!(miss_line(&usage), None);
    let plain = TurnUsage { steps: 1, cached_tokens: None, cost_usd: None, missed_tokens: 12_345, ..usage };
    assert_eq!(usage_line(&plain), "1.2k in, 230 out, 1 step");
    assert!(miss_line(&plain).unwrap().contains("12k tokens"));
}

#[test]
fn amounts_keep_the_digits_that_count() {
    let rows = [(0.0, "$0.00"), (1.5, "$1.50"), (0.0041, "$0.0041"), (0.000_012, "$0.000012")];
    for (amount, expected) in rows {
        assert_eq!(dollars(amount), expected);
    }
    let rows = [(0, "0"), (999, "999"), (1_000, "1.0k"), (9_949, "9.9k"), (9_951, "10k"), (999_600, "1.0M")];
    for (count, expected) in rows {
        assert_eq!(tokens(count), expected);
    }
}
