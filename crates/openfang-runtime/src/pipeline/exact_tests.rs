//! What is handed on otherwise than it is looked at.

use serde_json::value::RawValue;

use super::*;

fn exact(json: &str) -> bool {
    let raw = RawValue::from_string(json.to_owned()).unwrap();
    is_exact(&Arguments::written_by(Some(&raw)))
}

#[test]
fn a_number_with_more_digits_than_are_parsed_is_not_exact() {
    for number in [
        "100000000000000000001",
        "100000000000000000002",
        "-100000000000000000001",
        "99999999999999999999.9",
        "3.14159265358979323846264338",
        "1e-400",
        "9007199254740993.0",
        "1e99999999999999999999",
    ] {
        assert!(!exact(&format!(r#"{{"a":[{{"b":{number}}}]}}"#)), "{number}");
    }
    for number in
        ["0", "-0", "0.0", "1.0", "1e2", "1E+2", "0.10", "-12.5e-3", "18446744073709551615", "-9223372036854775808"]
    {
        assert!(exact(&format!(r#"{{"a":[{{"b":{number}}}]}}"#)), "{number}");
    }
    assert!(exact(r#"{"account":100000000000000000000}"#), "all of its digits are in the number");
    assert!(exact(r#"{"a\"1":"100000000000000000001","b":"\\"}"#), "text is no number");
}

#[test]
fn a_member_that_is_named_twice_is_not_exact() {
    assert!(!exact(r#"{"to":"eve","to":"ada"}"#));
    assert!(!exact(r#"{"a":[{"to":"eve","\u0074o":"ada"}]}"#));
    assert!(exact(r#"{"to":"eve","cc":{"to":"ada"},"bcc":[{"to":null},{"to":true}]}"#));
    assert!(is_exact(&Arguments::default()), "what was not written is what was parsed");
}
