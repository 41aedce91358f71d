//! Secrets are found however a text writes them, and nothing else changes.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Redactor;

const PLAIN: &str = "canary-token-4711";
const ODD: &str = "can\"ary/\\\n\u{e9}-4711";

fn redactor() -> Redactor {
    Redactor::new([PLAIN, ODD]).unwrap()
}

fn clean(json: &str) -> String {
    String::from_utf8(redactor().json(json.as_bytes()).into_owned()).unwrap()
}

#[test]
fn where_nothing_is_secret_nothing_is_copied() {
    let text = format!("{PLAIN} \\u0041");
    assert!(matches!(Redactor::default().text(&text), Cow::Borrowed(_)));
    assert!(matches!(Redactor::default().json(text.as_bytes()), Cow::Borrowed(_)));
    assert!(matches!(redactor().json(br#"{"a":"b\u0041\n","c":[1.0e5,"d"]}"#), Cow::Borrowed(_)));
    assert!(Redactor::new(["short"]).unwrap().text("short") == "short");
}

#[test]
fn texts_and_names_of_members_lose_secrets_and_everything_else_stays_as_it_was_written() {
    let json = format!(r#"{{ "a{PLAIN}" : ["x{PLAIN}y{PLAIN}", 1.0e400, "\/" ], "b":"\u00e9" }}"#);
    assert_eq!(clean(&json), r#"{ "a[redacted]" : ["x[redacted]y[redacted]", 1.0e400, "\/" ], "b":"\u00e9" }"#);
}

#[test]
fn escapes_hide_nothing_however_deep() {
    let escaped: String = PLAIN.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    assert_eq!(clean(&format!(r#"{{"a":"<{escaped}>"}}"#)), r#"{"a":"<[redacted]>"}"#);
    let mut text = json!({ "key": ODD }).to_string();
    for _ in 0..3 {
        let seen = clean(&text);
        assert!(serde_json::from_str::<Value>(&seen).is_ok(), "{seen}");
        assert!(seen.contains("[redacted]") && !seen.contains("4711"), "{seen}");
        text = json!({ "text": text }).to_string();
    }
    let line = format!("it said {}", json!({ "key": ODD }));
    assert_eq!(redactor().text(&line), r#"it said {"key":"[redacted]"}"#);
}

#[test]
fn a_secret_does_not_reach_from_one_text_into_the_next() {
    let redactor = Redactor::new([r#"abcd","efgh"#]).unwrap();
    let json = br#"["abcd","efgh"]"#;
    assert_eq!(redactor.json(json), &json[..]);
}

#[test]
fn a_match_that_begins_within_an_escape_leaves_the_json_whole() {
    let redactor = Redactor::new(["newtoken-1", "u0041bcdefg"]).unwrap();
    for json in [r#"{"a":"\newtoken-1"}"#, r#"{"a":"\u0041bcdefg"}"#] {
        assert!(serde_json::from_slice::<Value>(&redactor.json(json.as_bytes())).is_ok());
    }
}

#[test]
fn base64_of_a_secret_is_found_wherever_it_begins_and_stays_base64() {
    for padding in ["", "a", "ab", "abc", "\u{1}\u{2}"] {
        let held = format!("{padding}{PLAIN}{padding}?>~");
        for engine in [&STANDARD, &URL_SAFE] {
            let seen = clean(&json!({ "blob": engine.encode(&held) }).to_string());
            let seen: Value = serde_json::from_str(&seen).unwrap();
            let decoded = engine.decode(seen["blob"].as_str().unwrap()).unwrap();
            assert_eq!(String::from_utf8(decoded).unwrap(), format!("{padding}[redacted]{padding}?>~"));
        }
    }
    let mut image = vec![0xff, 0xd8];
    image.extend_from_slice(PLAIN.as_bytes());
    let seen = clean(&json!({ "data": STANDARD.encode(&image) }).to_string());
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(STANDARD.decode(seen["data"].as_str().unwrap()).unwrap(), b"\xff\xd8[redacted]");
    let header = format!("authorization: Basic {}.", STANDARD.encode(format!("me:{PLAIN}")));
    assert_eq!(redactor().text(&header).matches("[redacted]").count(), 1);
}

#[test]
fn a_url_hides_nothing() {
    let redactor = Redactor::new(["a/b+c=d&e f"]).unwrap();
    assert_eq!(redactor.text("https://x/?q=a%2Fb%2Bc%3Dd%26e%20f"), "https://x/?q=[redacted]");
}

#[test]
fn secrets_that_overlap_or_have_lines_go_whole() {
    let redactor = Redactor::new(["abcdefgh", "efghijkl", "first line\nsecond line"]).unwrap();
    assert_eq!(redactor.text("<abcdefghijkl>"), "<[redacted]>");
    assert_eq!(redactor.text("first line and second line"), "[redacted] and [redacted]");
}

#[test]
fn a_redactor_does_not_show_its_secrets() {
    assert!(!format!("{:?}", redactor()).contains("canary"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_surrounds_it_no_reader_sees_the_secret(before in ".*", after in ".*", secret in "[a-z\"\\\\/\\n\u{e9}\u{1f600}]{8,16}") {
        prop_assume!(secret.len() >= 8);
        let redactor = Redactor::new([&secret]).unwrap();
        let json = json!({ "outer": json!({ &before: format!("{before}{secret}{after}") }).to_string() }).to_string();
        let seen: Value = serde_json::from_slice(&redactor.json(json.as_bytes())).unwrap();
        let outer = seen["outer"].as_str().unwrap();
        prop_assert!(!outer.contains(&secret));
        prop_assert!(outer.contains("[redacted]"));
        if let Ok(Value::Object(inner)) = serde_json::from_str::<Value>(outer) {
            prop_assert!(inner.values().all(|text| !text.as_str().unwrap().contains(&secret)));
        }
    }

    #[test]
    fn what_holds_no_secret_is_not_touched(text in ".*") {
        let json = json!([text, { &text: "\u{1}" }]).to_string();
        prop_assume!(!json.contains("canary"));
        prop_assert_eq!(redactor().json(json.as_bytes()), json.as_bytes());
    }
}
