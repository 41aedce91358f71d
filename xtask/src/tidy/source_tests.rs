//! The scanner: what is code, what is a comment, what is neither.

use super::*;

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let lines = lines(text);
    let found: Vec<_> = lines.iter().map(|line| (line.code.as_str(), line.comment.as_str())).collect();
    assert_eq!(found, expected, "in {text}");
}

#[test]
fn a_line_comment_ends_with_its_line() {
    check("let x = 1; // why\nlet y;", &[("let x = 1; ", "// why"), ("let y;", "")]);
}

#[test]
fn block_comments_nest_and_span_lines() {
    check("a /* b /* c */\nd */ e", &[("a ", "/* b /* c */"), (" e", "d */")]);
    check("/*/ still */ x", &[(" x", "/*/ still */")]);
}

#[test]
fn strings_hide_what_looks_like_a_comment() {
    check(r#"url("http://x") // y"#, &[(r#"url("") "#, "// y")]);
    check(r#"("\"//", 1)"#, &[(r#"("", 1)"#, "")]);
    check("\"// one\n// two\"", &[("\"", ""), ("\"", "")]);
}

#[test]
fn raw_strings_end_at_their_own_hashes() {
    check("r#\"a \" // b\"# + 1", &[("\"\" + 1", "")]);
    check("br\"// x\" y", &[("b\"\" y", "")]);
    check("r#type // z", &[("r#type ", "// z")]);
}

#[test]
fn lifetimes_are_code_and_characters_are_emptied() {
    check("fn f<'a>(x: &'a str) {} // c", &[("fn f<'a>(x: &'a str) {} ", "// c")]);
    check(r#"['"', '\'', '\\', '/'] // c"#, &[("['', '', '', ''] ", "// c")]);
    check(r"'\u{1F600}' x", &[("'' x", "")]);
}

#[test]
fn words_are_names_and_keywords() {
    assert_eq!(words("use openfang_api::{x, y};").collect::<Vec<_>>(), ["use", "openfang_api", "x", "y"]);
}

#[test]
fn what_string_literals_say_is_kept_apart() {
    let lines = lines("print(\"one\", r#\"two\"#); // \"three\"\n\"four\nfive\"");
    let texts: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["one\0two\0", "four", "\nfive\0"]);
}
