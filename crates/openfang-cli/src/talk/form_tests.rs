//! What a person types, and what the tool is given.

use std::cell::RefCell;

use super::*;

fn answered(params: &Value, typed: &str) -> (Value, String) {
    let shown = RefCell::new(String::new());
    let answer = fill_in(&mut typed.as_bytes(), &|text| shown.borrow_mut().push_str(text), "t asks: ", params).unwrap();
    (answer, shown.into_inner())
}

fn form() -> Value {
    json!({"message": "who are you?", "requestedSchema": {
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        },
        "required": ["name"],
    }})
}

#[test]
fn each_field_is_asked_for_until_it_fits() {
    // In the order of the names: age, colour, name.
    let (answer, shown) = answered(&form(), "old\n7\ngreen\nblue\n\nAda\n");

    assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ada", "age": 7, "colour": "blue"}}), "{shown}");
    assert!(shown.starts_with("t asks: who are you?\n"), "{shown}");
    assert!(shown.contains("one of red, blue") && shown.contains("name is required"), "{shown}");
}

#[test]
fn an_empty_line_takes_the_default_or_leaves_the_field_out() {
    let (answer, _) = answered(&form(), "\n\nAda\n");

    assert_eq!(answer, json!({"action": "accept", "content": {"name": "Ada", "colour": "red"}}));
}

#[test]
fn a_person_can_decline_and_give_up_at_any_field() {
    assert_eq!(answered(&form(), "/decline\n").0, json!({"action": "decline"}));
    assert_eq!(answered(&form(), "7\n/cancel\n").0, json!({"action": "cancel"}));
    assert_eq!(answered(&form(), "7\n").0, json!({"action": "cancel"}), "the end of the input is no answer");
}

#[test]
fn a_page_is_named_and_waited_for() {
    let page = json!({"message": "log in", "mode": "url", "url": "https://example.org/x"});

    let (answer, shown) = answered(&page, "\n");

    assert_eq!(answer, json!({"action": "accept"}));
    assert!(shown.contains("https://example.org/x"), "{shown}");
    assert_eq!(in_a_line(&page), "log in (https://example.org/x)");
    assert!(in_a_line(&form()).starts_with("who are you? ("));
}
