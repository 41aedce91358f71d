//! What counts as the user's own words.

use serde_json::json;

use super::*;

#[test]
fn a_value_is_the_users_if_it_stands_in_what_was_said_as_a_word_of_its_own() {
    let said = vec!["Send \"see you at 1530\" to ada@example.org, flag true, 2 copies, fast".to_owned()];
    for value in [json!("ada@example.org"), json!("see you at 1530"), json!(1530), json!(["fast", true])] {
        assert!(WordSearch::new(&said).has_all(&value), "{value}");
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
        assert!(!WordSearch::new(&said).has_all(&value), "{value}");
    }
    assert!(WordSearch::new(&said).has_all(&json!({"flag": "fast"})));
}

#[test]
fn the_search_for_what_a_user_said_is_bounded_whatever_the_arguments_are() {
    let said = vec!["items: ".to_owned() + &"word ".repeat(USER_WORDS_BYTES / 5)];
    let copies = |number: usize| json!({ "items": vec!["word"; number] });

    assert!(WordSearch::new(&said).has_all(&json!(["word", "word"])));
    let mut long = WordSearch::new(&said);
    assert!(long.has_all(&copies(20)));
    assert!(!long.has_all(&copies(20_000)), "beyond the bound nothing counts as said");
    assert!(!long.has("word"));
    let short = vec!["items: word, word".to_owned()];
    assert!(WordSearch::new(&short).has_all(&copies(20_000)), "short words are searched quickly");
}
