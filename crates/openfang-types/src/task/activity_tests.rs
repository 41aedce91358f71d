//! Notes about calls and turns.

use serde_json::json;

use super::*;

#[test]
fn what_a_call_and_a_turn_took_reads_back_from_the_part_that_says_it() {
    let note = CallNote {
        tool: "add_numbers".to_owned(),
        arguments: json!({ "a": 3 }),
        millis: 12,
        outcome: CallNoteOutcome::Done,
    };
    let part = Part::ended_call(&note);
    assert!(part.is_progress());
    assert_eq!((part.as_text(), part.as_ended_call()), (Some("add_numbers took 12 ms"), Some(note)));
    let usage = TurnUsage {
        model: "fake/m".to_owned(),
        steps: 2,
        input_tokens: 10,
        cached_tokens: None,
        output_tokens: 3,
        cost_usd: None,
        missed_tokens: 0,
    };
    let part = Part::turn_usage(&usage);
    assert_eq!((part.as_turn_usage(), part.as_ended_call()), (Some(usage), None));
    let names = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(Part::beginning_calls(&["a", "b"]).as_beginning_calls(), Some(names));
}

#[test]
fn long_and_deep_arguments_are_cut() {
    let long = "\u{1f980}".repeat(CALL_NOTE_CHARS + 1);
    let many: Map<String, Value> = (0..CALL_NOTE_MEMBERS + 3).map(|n| (format!("m{n:02}"), json!(n))).collect();

    let short = shortened_arguments(&json!({ "text": long, "list": [1, 2], "deep": { "a": 1 }, "n": 1.5, "none": {} }));

    let expected = format!("{}…", "\u{1f980}".repeat(CALL_NOTE_CHARS));
    assert_eq!(short, json!({ "text": expected, "list": "[2 items]", "deep": "{1 members}", "n": 1.5, "none": {} }));
    let short = shortened_arguments(&Value::Object(many));
    assert_eq!(short.as_object().unwrap().len(), CALL_NOTE_MEMBERS + 1);
    assert_eq!(short["…"], "3 more");
    assert_eq!(shortened_arguments(&json!([1])), json!("[1 items]"));
}
