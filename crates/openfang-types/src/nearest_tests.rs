//! What is suggested, and what would be absurd.

use super::*;

#[test]
fn a_typing_mistake_is_recognized_and_another_word_is_not() {
    let known = ["add_numbers", "get_greeting", "ada", "files"];
    let rows = [
        ("add_nubmers", Some("add_numbers")),
        ("ad_numbers", Some("add_numbers")),
        ("get_greetings", Some("get_greeting")),
        ("adda", Some("ada")),
        ("fils", Some("files")),
        ("bob", None),
        ("xyz", None),
        ("file_read", None),
        ("", None),
    ];
    for (name, expected) in rows {
        assert_eq!(nearest(name, known), expected, "{name}");
    }
}
