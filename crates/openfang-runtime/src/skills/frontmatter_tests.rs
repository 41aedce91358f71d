//! Frontmatter as it is written in the wild, and as somebody would write it who means harm.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::{FrontmatterError, read};

fn members(text: &str) -> serde_json::Value {
    serde_json::Value::Object(read(text).unwrap().members)
}

#[test]
fn values_are_those_of_yaml_1_2() {
    let text =
        "---\nname: a\nmetadata:\n  version: \"1.0\"\n  y: yes\n  on: on\n  t: true\n  d: 2024-01-01\n---\nBody\n";

    let document = read(text).unwrap();

    let metadata = json!({ "version": "1.0", "y": "yes", "on": "on", "t": true, "d": "2024-01-01" });
    assert_eq!(members(text), json!({ "name": "a", "metadata": metadata }));
    assert_eq!((document.body.as_str(), document.is_repaired), ("Body\n", false));
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_change_nothing() {
    let text = "\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nOne\r\nTwo\r\n";

    let document = read(text).unwrap();

    assert_eq!(members(text), json!({ "name": "a", "description": "b" }));
    assert_eq!(document.body, "One\nTwo\n");
}

#[test]
fn hyphens_in_a_value_do_not_end_the_frontmatter() {
    let text = "---\nname: a\ndescription: >\n  before\n  ---\n  after\n---\nBody with\n---\nmore\n";

    assert_eq!(members(text)["description"], "before --- after\n");
    assert_eq!(read(text).unwrap().body, "Body with\n---\nmore\n");
}

#[test]
fn a_value_with_a_colon_is_quoted_and_read_again() {
    let text = "---\nname: a\ndescription: Use it so: first \"this\"\n---\n";

    assert_eq!(members(text)["description"], "Use it so: first \"this\"");
    assert!(read(text).unwrap().is_repaired);
}

#[test]
fn what_is_no_frontmatter_is_refused_and_says_why() {
    for text in ["", "# Title\n", "---", "name: a\n---\n", " ---\nname: a\n---\n"] {
        assert_eq!(read(text).unwrap_err(), FrontmatterError::Missing, "{text:?}");
    }
    assert_eq!(read("---\nname: a\n").unwrap_err(), FrontmatterError::Unclosed);
    assert_eq!(read("---\nhello\n---\n").unwrap_err(), FrontmatterError::NoMembers);
    assert_eq!(read("---\n---\n").unwrap_err(), FrontmatterError::NoMembers);
    let large = format!("---\na: {}\n---\n", "x".repeat(40_000));
    assert_eq!(read(&large).unwrap_err(), FrontmatterError::TooLarge);
}

#[test]
fn bombs_and_tricks_are_refused_within_a_moment() {
    let bomb: String = ('b'..='j').fold("a: &a [x,x,x,x,x,x,x,x]\n".to_owned(), |text, name| {
        let before = char::from(u8::try_from(name).unwrap() - 1);
        format!("{text}{name}: &{name} [*{before},*{before},*{before},*{before},*{before},*{before},*{before}]\n")
    });
    let cases = [
        bomb,
        format!("a: {}", "[".repeat(30_000)),
        (0..170).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect(),
        (0..3_000).map(|number| format!("k{number}: 1\n")).collect(),
        "a: 1\na: 2\n".to_owned(),
        "<<: {a: 1}\nb: 2\n".to_owned(),
        "a: !!python/object:os.system x\n".to_owned(),
        "a: .nan\n".to_owned(),
    ];
    let begun = Instant::now();
    for yaml in cases {
        let error = read(&format!("---\n{yaml}\n---\n")).unwrap_err();
        assert!(matches!(error, FrontmatterError::Yaml(_)), "{error:?}");
        assert!(error.to_string().len() < 400);
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(---\n)?[ -~\n\\u{e9}&*!|>\\[\\]{}]{0,400}(\n---\n)?") {
        let _ = read(&text);
    }
}
