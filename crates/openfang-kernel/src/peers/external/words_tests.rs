//! What is shown of cards.

use super::*;

#[test]
fn a_text_is_one_line_without_characters_that_hide_something() {
    assert_eq!(one_line("  a\n\tb\u{200b}c\u{202e}d\u{7}  ", 80), "a bcd");
    assert_eq!(one_line("abcdef", 3), "abc…");
    assert_eq!(one_line("abc", 3), "abc");
}

#[test]
fn a_url_is_shown_without_its_login_and_its_query() {
    let rows = [
        ("https://user:secret@x.example/a?token=1#f", "https://x.example/a"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9"),
        ("${URL}/path", "${URL}/path"),
    ];
    for (url, shown) in rows {
        assert_eq!(shown_url(url), shown);
    }
}

#[test]
fn the_operators_words_replace_those_of_the_card() {
    let mut entry = ExternalAgent::new("research".parse().unwrap(), "http://x".to_owned());
    assert_eq!(
        description(&entry, None, &[]),
        "[A2A:research] Sends a message to the agent research and returns its answer."
    );
    entry.description = "Finds papers.".to_owned();
    assert_eq!(description(&entry, None, &[]), "[A2A:research] Finds papers.");
}
