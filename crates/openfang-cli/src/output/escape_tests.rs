//! What a terminal would obey is shown instead.

use super::*;

#[test]
fn escape_sequences_are_shown_and_not_obeyed() {
    let rows = [
        ("plain ä€😀", "plain ä€😀"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
        ("over\rwrite", "over\\u{d}write"),
        ("back\u{8}space", "back\\u{8}space"),
        ("\u{9b}31m of eight bits", "\\u{9b}31m of eight bits"),
        ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"),
        ("nul\0 del\u{7f}", "nul\\u{0} del\\u{7f}"),
        ("of windows\r\n", "of windows\r\n"),
        ("tag \u{e0041}, mark \u{200f}", "tag \\u{e0041}, mark \\u{200f}"),
    ];
    for (given, expected) in rows {
        assert_eq!(text(given), expected);
    }
}

#[test]
fn a_part_of_a_line_stays_one_and_hides_nothing() {
    assert_eq!(line("a\n  + b\r\t\u{200b}\u{1b}[A\u{fe0f}"), "a\\n  + b\\r\\t\\u{200b}\\u{1b}[A\\u{fe0f}");
}

#[test]
fn a_cell_is_one_line() {
    assert_eq!(cell("a\nb\r\nc\td\u{1b}\n"), "a b c d\\u{1b}");
}

#[test]
fn a_json_document_means_the_same_after_escaping() {
    let value = serde_json::json!({ "text": "\u{1b}[31m \u{9b} \u{202e} \u{7f} ä \n \u{2028} \u{e0041}" });
    let document = serde_json::to_string_pretty(&value).unwrap();

    let escaped = json(&document);

    assert!(!escaped.contains(['\u{9b}', '\u{202e}', '\u{7f}', '\u{2028}', '\u{e0041}']));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
}
