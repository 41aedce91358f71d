//! Arguments, written and parsed.

use serde_json::json;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

#[test]
fn what_somebody_wrote_is_handed_on_byte_for_byte_after_it_was_looked_at() {
    let written = raw(r#"{"b" : 1.50, "a":[ ]}"#);
    let arguments = Arguments::written_by(Some(&written));
    assert_eq!(arguments.value().unwrap(), &json!({"a": [], "b": 1.5}));
    assert_eq!(arguments.json().get(), written.get());
}

#[test]
fn what_was_taken_to_another_thread_comes_back_and_is_still_written_the_same() {
    let mut built = Arguments::from(json!({"a": 1}));
    let value = built.take_parsed();
    assert_eq!(built.json().get(), r#"{"a":1}"#);
    assert_eq!(built.with_parsed(value).into_value().unwrap(), json!({"a": 1}));
}

#[test]
fn a_number_that_no_type_can_hold_is_an_error_and_is_still_handed_on() {
    let written = raw(r#"{"a":1e999}"#);
    let arguments = Arguments::written_by(Some(&written));
    assert!(arguments.value().is_err());
    assert_eq!(arguments.json().get(), written.get());
}

#[test]
fn no_arguments_are_an_empty_object() {
    assert_eq!(Arguments::written_by(None).json().get(), "{}");
}
