//! Commands and messages are told apart.

use super::*;

#[test]
fn a_line_is_a_message_a_command_or_a_mistyped_command() {
    assert_eq!(parse("hello /tools", true), ChatLine::Message);
    assert_eq!(parse(" /tools", true), ChatLine::Message, "a space before it sends it");
    assert_eq!(parse("/tools ", true), ChatLine::Command("/tools", ""));
    assert_eq!(parse("/budget  +0.50 ", true), ChatLine::Command("/budget", "+0.50"));
    assert_eq!(parse("/tool", true), ChatLine::Unknown(Some("/tools")));
    assert_eq!(parse("/zzzzzzzz", true), ChatLine::Unknown(None));
    for path in ["/usr/bin/env is missing", "/", "// a comment", "/\u{e4}"] {
        assert_eq!(parse(path, true), ChatLine::Message, "{path}");
    }
}

#[test]
fn without_a_model_other_words_name_tools() {
    assert_eq!(parse("/add_numbers {\"a\": 3}", false), ChatLine::Message);
    assert_eq!(parse("/help", false), ChatLine::Command("/help", ""));
}

#[test]
fn commands_are_completed_and_messages_are_not() {
    assert_eq!(beginning_with("/c"), ["/cost", "/compact", "/clear"]);
    assert!(beginning_with("").is_empty() && beginning_with("c").is_empty());
}
