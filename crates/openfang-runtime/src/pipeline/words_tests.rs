//! What counts as the user's own words.

use serde_json::json;

use super::*;

#[test]
fn a_value_is_the_users_if_it_stands_in_what_was_said_as_a_word_of_its_own() {
    let said = vec!["Send \"see you at 1530\" to ada@example.org, flag true, 2 copies, fast".to_owned()];
    for value in [json!("ada@example.org"), json!("see you at 1530"), json!(1530), json!(["fast", true])] {
        assert!(is_all_said(&said, &value), "{value}");
    }
    for value in [
        json!("bob@example.org"),
        json!("example.or"),
        json!("da@example.org"),
        json!("2"),
        json!(2),
        json!(false),
        json!(null),
        json!(""),
        json!([]),
        json!({}),
        json!(["fast", "slow"]),
        json!({"bcc": "fast"}),
    ] {
        assert!(!is_all_said(&said, &value), "{value}");
    }
    assert!(is_all_said(&said, &json!({"flag": "fast"})));
}
