//! Which documents the scan lets pass, by table, by size and by comparison with `serde_json` on arbitrary ones.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::*;
use crate::limits::JSON_MAX_DEPTH;

#[path = "scan_laws.rs"]
mod laws;

use laws::scan_agrees_with_serde_json;

fn syntax(offset: usize, expected: &'static str) -> ScanError {
    ScanError::Syntax { offset, expected }
}

fn duplicate(offset: usize, key: &str) -> ScanError {
    ScanError::DuplicateKey { offset, key: key.to_owned() }
}

#[test]
fn documents_of_the_grammar_are_accepted() {
    let scalars = "null true false 0 -0 7 -12 1.5 0.0 1e5 1E+5 -1.25e-7 1e999999 123456789012345678901234567890";
    let rows = [
        r#""""#,
        " \t\r\n[ ] \t\r\n",
        "[[],{},[{}]]",
        r#"{"":""}"#,
        r#"{"a":1,"b":[2,{"a":3}],"A":4}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":{"a":{"a":1}}}"#,
        r#"{ "a" : 1 , "b" : [ 1 , 2 ] }"#,
        r#""\"\\\/\b\f\n\r\t\u0041\u00e9""#,
        r#""\ud83d\ude00\uD83D\uDE00""#,
        r#""\uffff\u0000""#,
        "\"\u{e9}\u{4e2d}\u{1f600}\u{7f}\u{2028}\u{feff}\"",
        r#"{"method\u0000":1,"method":2,"Method":3}"#,
        r#"{"\\u0061":1,"\u0061":2}"#,
        r#"{"$serde_json":1}"#,
    ];

    for document in scalars.split(' ').chain(rows) {
        assert_eq!(scan(document.as_bytes()), Ok(()), "{document}");
        scan_agrees_with_serde_json(document.as_bytes());
    }
}

#[test]
fn documents_outside_the_grammar_are_refused_where_they_leave_it() {
    let rows: &[(&str, ScanError)] = &[
        ("", ScanError::Empty),
        (" \n", ScanError::Empty),
        ("\u{feff}1", ScanError::ByteOrderMark),
        (" \u{feff}1", syntax(1, "a value")),
        ("nul", syntax(0, "null")),
        ("True", syntax(0, "a value")),
        ("NaN", syntax(0, "a value")),
        ("1 2", syntax(2, "the end of the document")),
        ("nullx", syntax(4, "the end of the document")),
        ("{}\0", syntax(2, "the end of the document")),
        ("\0", syntax(0, "a value")),
        ("+1", syntax(0, "a value")),
        ("-", syntax(1, "a digit")),
        ("-a", syntax(1, "a digit")),
        (".5", syntax(0, "a value")),
        ("1.", syntax(2, "a digit")),
        ("1.e5", syntax(2, "a digit")),
        ("1e", syntax(2, "a digit")),
        ("1e+", syntax(3, "a digit")),
        ("01", syntax(1, "the end of the document")),
        ("[01]", syntax(2, "`,` or `]`")),
        ("0x10", syntax(1, "the end of the document")),
        ("[", syntax(1, "a value")),
        ("[1", syntax(2, "`,` or `]`")),
        ("[1,", syntax(3, "a value")),
        ("[1,]", syntax(3, "a value")),
        ("[,1]", syntax(1, "a value")),
        ("[1 2]", syntax(3, "`,` or `]`")),
        ("[1}", syntax(2, "`,` or `]`")),
        ("]", syntax(0, "a value")),
        ("{", syntax(1, "a key")),
        ("{1:2}", syntax(1, "a key")),
        ("{'a':2}", syntax(1, "a key")),
        ("{a:2}", syntax(1, "a key")),
        (r#"{"a"}"#, syntax(4, "`:`")),
        (r#"{"a" 1}"#, syntax(5, "`:`")),
        (r#"{"a":}"#, syntax(5, "a value")),
        (r#"{"a":1"#, syntax(6, "`,` or `}`")),
        (r#"{"a":1]"#, syntax(6, "`,` or `}`")),
        (r#"{"a":1,}"#, syntax(7, "a key")),
        ("[1] // no", syntax(4, "the end of the document")),
        (r#"""#, syntax(1, "a closing quote")),
        (r#""abcdefghijkl"#, syntax(13, "a closing quote")),
        (r#""\""#, syntax(3, "a closing quote")),
        (r#""\"#, syntax(2, r#"one of "\/bfnrtu"#)),
        (r#""\x41""#, syntax(2, r#"one of "\/bfnrtu"#)),
        (r#""\u12""#, syntax(5, "four hex digits")),
        (r#""\u+123""#, syntax(3, "four hex digits")),
        (r#""\ud800\u12""#, syntax(11, "four hex digits")),
        ("\"a\nb\"", ScanError::ControlCharacter { offset: 2 }),
        ("\"abcdefghij\0\"", ScanError::ControlCharacter { offset: 11 }),
        ("{\"a\u{1f}\":1}", ScanError::ControlCharacter { offset: 3 }),
    ];

    for (document, refusal) in rows {
        assert_eq!(scan(document.as_bytes()), Err(refusal.clone()), "{document:?}");
        scan_agrees_with_serde_json(document.as_bytes());
    }
}

#[test]
fn lone_surrogates_are_refused_wherever_they_hide() {
    let rows = [
        (r#""\ud800""#, 1),
        (r#""\udc00""#, 1),
        (r#""a\udbffb""#, 2),
        (r#""\ud800\n""#, 1),
        (r#""\ud800\u0041""#, 1),
        (r#""\ud800\ud800""#, 1),
        (r#""\ud800\ue000""#, 1),
        (r#""\udbff\udbff""#, 1),
        (r#""\ude00\ud83d""#, 1),
        (r#""\ud83d\ude00\ud83d""#, 13),
        (r#"{"\ud800":1}"#, 2),
    ];

    for (document, offset) in rows {
        assert_eq!(scan(document.as_bytes()), Err(ScanError::LoneSurrogate { offset }), "{document}");
        scan_agrees_with_serde_json(document.as_bytes());
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_at_the_first_of_them() {
    let rows: [(&[u8], usize); 5] =
        [(b"\xff\xfe1\0", 0), (b"\"a\xc3\"", 2), (b"\"\xc0\x80\"", 1), (b"\"\xed\xa0\x80\"", 1), (b"[1,\x80]", 3)];

    for (document, offset) in rows {
        assert_eq!(scan(document), Err(ScanError::NotUtf8 { offset }), "{document:?}");
        scan_agrees_with_serde_json(document);
    }
}

#[test]
fn a_key_may_occur_once_in_an_object_however_it_is_spelt() {
    let rows = [
        (r#"{"a":1,"a":2}"#, duplicate(7, "a")),
        (r#"{"a":1,"\u0061":2}"#, duplicate(7, "a")),
        (r#"{"\u0061":1,"a":2}"#, duplicate(12, "a")),
        (r#"{"\u0061":1,"b":1,"\u0061":2}"#, duplicate(18, "a")),
        (r#"{"\u00e9":1,"é":2}"#, duplicate(12, "é")),
        (r#"{"\/":1,"/":2}"#, duplicate(8, "/")),
        (r#"{"😀":1,"\ud83d\ude00":2}"#, duplicate(10, "😀")),
        (r#"{"":1,"":2}"#, duplicate(6, "")),
        (r#"[{"x":{"a":1,"b":{},"a":2}}]"#, duplicate(20, "a")),
        (r#"{"a":{"a":{"\u0062":1}},"b":[{"a":1}],"a":2}"#, duplicate(38, "a")),
        (r#"{"z":{"\u0061":1,"a":1},"\u007a":1}"#, duplicate(17, "a")),
    ];

    for (document, refusal) in rows {
        assert_eq!(scan(document.as_bytes()), Err(refusal), "{document}");
        scan_agrees_with_serde_json(document.as_bytes());
    }
}

#[test]
fn keys_that_serde_json_would_take_as_its_own_are_refused() {
    let rows = [
        (r#"{"$serde_json::private::RawValue":"{}"}"#, 1),
        (r#"{"a":1,"$serde_json::private::Number":"1"}"#, 7),
        (r#"{"\u0024serde_json::private::RawValue":"{\"a\":1,\"a\":2}"}"#, 1),
    ];

    for (document, offset) in rows {
        assert_eq!(scan(document.as_bytes()), Err(ScanError::ReservedKey { offset }), "{document}");
    }
}

#[test]
fn nesting_is_accepted_up_to_the_limit_and_refused_beyond_it() {
    for (open, inner, close) in [("[", "", "]"), ("{\"a\":", "1", "}"), ("[{\"a\":", "null", "}]")] {
        let per_round = open.matches(['[', '{']).count();
        let nested = |rounds: usize| open.repeat(rounds) + inner + &close.repeat(rounds);

        let deepest = JSON_MAX_DEPTH / per_round;
        assert_eq!(scan(nested(deepest).as_bytes()), Ok(()), "{open}");
        scan_agrees_with_serde_json(nested(deepest).as_bytes());
        assert!(matches!(scan(nested(deepest + 1).as_bytes()), Err(ScanError::TooDeep { .. })), "{open}");
        scan_agrees_with_serde_json(nested(deepest + 1).as_bytes());
    }
    assert_eq!(scan("[".repeat(100_000).as_bytes()), Err(ScanError::TooDeep { offset: JSON_MAX_DEPTH }));
}

#[test]
fn depth_counts_open_containers_and_not_closed_ones() {
    let siblings = format!("[{}]", vec!["[[{\"a\":[]}]]"; 1_000].join(","));

    assert_eq!(scan(siblings.as_bytes()), Ok(()));
}

#[test]
fn a_duplicate_is_found_among_any_number_of_keys() {
    for count in [1, 2, 7, 31, 32, 33, 34, 100, 1_000] {
        for repeated in [0, count / 2, count - 1] {
            let object = |extra: &str| {
                let keys: Vec<String> = (0..count).map(|i| format!("\"k{i}\":{{\"k0\":[{{}}]}}")).collect();
                format!("{{{}{extra}}}", keys.join(","))
            };
            assert_eq!(scan(object("").as_bytes()), Ok(()), "{count}");

            let offset = object("").len();
            let again = duplicate(offset, &format!("k{repeated}"));
            assert_eq!(scan(object(&format!(",\"k{repeated}\":1")).as_bytes()), Err(again.clone()), "{count}");
            assert_eq!(scan(object(&format!(",\"\\u006b{repeated}\":1")).as_bytes()), Err(again), "{count}");
        }
    }
}

#[test]
fn of_many_duplicates_the_first_in_the_document_is_named() {
    let keys: Vec<String> = (0..50).map(|i| format!("\"k{i:02}\":1")).collect();
    let twice = format!("{{{0},{0}}}", keys.join(","));

    for _ in 0..20 {
        assert_eq!(scan(twice.as_bytes()), Err(duplicate(1 + 50 * 8, "k00")));
    }
}

#[test]
fn a_long_duplicate_key_is_shown_shortened_and_escaped() {
    let key = "é".repeat(100);
    let message = scan(format!("{{\"{key}\":1,\"{key}\":1}}").as_bytes()).unwrap_err().to_string();
    assert_eq!(message, format!("duplicate key {:?} at byte 206", "é".repeat(64)));

    let message = scan(br#"{"\u001b[31m":1,"\u001b[31m":1}"#).unwrap_err().to_string();
    assert_eq!(message, r#"duplicate key "\u{1b}[31m" at byte 16"#);
}

#[test]
fn large_documents_are_scanned_whole() {
    let keys: Vec<String> = (0..1_000_000).map(|i| format!("\"{i}\":0")).collect();
    let many_keys = format!("{{{}}}", keys.join(","));
    assert_eq!(scan_list(many_keys.as_bytes()), Ok(many_keys.as_str()));
    let offset = many_keys.len();
    let again = format!("{},\"500000\":0}}", &many_keys[..offset - 1]);
    assert_eq!(scan_list(again.as_bytes()), Err(duplicate(offset, "500000")));

    let same_key = format!("{{{}}}", vec!["\"a\":0"; 1_000_000].join(","));
    assert_eq!(scan(same_key.as_bytes()), Err(duplicate(7, "a")));

    let long_string = format!("[\"{}\"]", "x".repeat(10 * 1024 * 1024));
    assert_eq!(scan(long_string.as_bytes()), Ok(()));
    let long_keys = format!("{{\"{0}a\":1,\"{0}b\":1}}", "x".repeat(5 * 1024 * 1024));
    assert_eq!(scan(long_keys.as_bytes()), Ok(()));
    let long_number = format!("-1{}", "0".repeat(1024 * 1024));
    assert_eq!(scan(long_number.as_bytes()), Ok(()));
}

#[test]
fn a_document_that_would_take_many_times_its_size_when_parsed_is_refused() {
    let of = |item: &str, bytes: usize| format!("[{}]", vec![item; bytes / (item.len() + 1)].join(","));
    let mib = 1024 * 1024;
    for hostile in ["[1]", "[[[[]]]]", "{}", "1", "{\"a\":{\"b\":1}}", "\"\""] {
        let large = of(hostile, 2 * mib);
        assert!(matches!(scan(large.as_bytes()), Err(ScanError::TooManyValues { .. })), "{hostile}");
        assert!(scan_list(large.as_bytes()).is_ok(), "{hostile}");
        assert_eq!(scan(of(hostile, 32 * 1024).as_bytes()), Ok(()), "{hostile}: a small one may be anything");
    }
    for honest in ["-0.12345678", "\"twelve chars\"", "{\"name\":\"a record of data\",\"note\":\"some text\",\"at\":1}"]
    {
        let size = if honest.starts_with('{') { mib / 4 } else { 2 * mib };
        assert_eq!(scan(of(honest, size).as_bytes()), Ok(()), "{honest}");
    }
}

#[test]
fn a_special_byte_ends_plain_text_at_every_distance() {
    for length in 0..40 {
        let plain = "\u{7f}!#[]\u{80}é".chars().cycle().take(length).collect::<String>();
        let ended = format!("\"{plain}\"");

        assert_eq!(scan(ended.as_bytes()), Ok(()), "{length}");
        assert_eq!(scan(format!("[{ended}").as_bytes()), Err(syntax(ended.len() + 1, "`,` or `]`")), "{length}");
        let control = ScanError::ControlCharacter { offset: plain.len() + 1 };
        assert_eq!(scan(format!("\"{plain}\u{1f}\\\" padding\"").as_bytes()), Err(control), "{length}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            btree_map(any_key(), inner, 0..8).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", any::<String>()]
}

/// Pieces that meet in odd ways: what a mutation puts into a document, and what token soup is made of.
fn any_piece() -> impl Strategy<Value = &'static str> {
    let visible =
        r#"{ } [ ] : , " \ \u \ud800 \udc00 \u0061 "a" "a": "\u0061": "b": null true nul 0 - 1 . e E+ 1e999 é a /"#;
    let special = [" ", "\n", "\0", "\u{1f}", "\u{feff}", r#""$serde_json::private::RawValue":"#];
    select(visible.split(' ').chain(special).collect::<Vec<_>>())
}

fn mutate(document: &str, mutations: Vec<(Index, usize, &'static str)>) -> Vec<u8> {
    let mut bytes = document.as_bytes().to_vec();
    for (place, removed, piece) in mutations {
        let at = place.index(bytes.len() + 1);
        let end = (at + removed).min(bytes.len());
        bytes.splice(at..end, piece.bytes());
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn whatever_serde_json_writes_is_accepted(value in any_value()) {
        prop_assert_eq!(scan(serde_json::to_string(&value).unwrap().as_bytes()), Ok(()));
        prop_assert_eq!(scan(serde_json::to_string_pretty(&value).unwrap().as_bytes()), Ok(()));
    }

    #[test]
    fn mutated_documents_are_judged_as_serde_json_does(
        value in any_value(),
        mutations in vec((any::<Index>(), 0..4_usize, any_piece()), 1..5),
    ) {
        scan_agrees_with_serde_json(&mutate(&value.to_string(), mutations));
    }

    #[test]
    fn token_soup_is_judged_as_serde_json_does(pieces in vec(any_piece(), 0..24)) {
        scan_agrees_with_serde_json(pieces.concat().as_bytes());
    }

    #[test]
    fn objects_of_colliding_keys_are_judged_as_serde_json_does(
        keys in vec(select(vec!["a", "b", "ab", "\\u0061", "\\u0062", "a\\u0062", "\\n", "c", "d"]), 0..6),
        padding in 0..40_usize,
    ) {
        let padding = (0..padding).map(|i| format!("\"p{i}\":0"));
        let members = keys.iter().map(|key| format!("\"{key}\":{{\"{key}\":0}}")).chain(padding);
        scan_agrees_with_serde_json(format!("{{{}}}", members.collect::<Vec<_>>().join(",")).as_bytes());
    }

    #[test]
    fn arbitrary_bytes_are_judged_as_serde_json_does(bytes in vec(any::<u8>(), 0..64)) {
        scan_agrees_with_serde_json(&bytes);
    }
}

#[test]
fn what_a_document_can_take_is_estimated_too_high_rather_than_too_low() {
    // A scan that allows as much as the estimate accepts the document.
    let documents = [
        format!("[{}]", vec!["[]"; 500].join(",")),
        format!("[{}]", vec!["{\"a\":1}"; 500].join(",")),
        format!("{{\"a\":{{\"b\":[{}]}}}}", vec!["{\"a\":1,\"b\":[1,2,\"x,{[\"]}"; 100].join(", ")),
        format!("{}1{}", "[".repeat(100), "]".repeat(100)),
        "[{}, [], \"text\", null]".to_owned(),
    ];
    for document in documents {
        let estimate = tree_bytes_at_most(document.as_bytes());
        // The value that is the document itself.
        assert!(scan_within(document.as_bytes(), estimate + 48).is_ok(), "{estimate}: {document}");
    }
    assert_eq!(tree_bytes_at_most(b"\"text\""), 0);
}
