//! Headers and bodies that agree, and those that do not.

use http::HeaderValue;
use serde_json::json;

use super::*;

fn headers(rows: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in rows {
        headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers
}

#[test]
fn a_value_that_cannot_stand_in_a_header_comes_in_base64() {
    assert_eq!(decoded("plain").as_deref(), Some("plain"));
    assert_eq!(decoded("=?base64?5pel5pys?=").as_deref(), Some("日本"));
    assert_eq!(decoded("=?base64?%%?="), None);
    assert_eq!(decoded("=?BASE64?5pel?=").as_deref(), Some("=?BASE64?5pel?="));
}

#[test]
fn twice_is_a_mismatch_and_absent_is_one_where_the_body_has_it() {
    let twice = headers(&[("mcp-name", "a"), ("mcp-name", "a")]);

    assert!(expect(&twice, &NAME, Some("a")).is_err());
    assert!(expect(&headers(&[]), &NAME, Some("a")).is_err());
    assert!(expect(&headers(&[("mcp-name", "A")]), &NAME, Some("a")).is_err());
    assert!(expect(&headers(&[("mcp-name", " a ")]), &NAME, Some("a")).is_ok());
    assert!(expect(&headers(&[("mcp-name", "=?base64?YQ==?=")]), &NAME, Some("a")).is_ok());
}

#[test]
fn versions_are_compared_even_where_we_speak_neither() {
    let meta = |version: &str| {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
        Meta::read(&crate::content::raw(&meta)).unwrap()
    };
    let said = |version| headers(&[("mcp-protocol-version", version)]);

    assert!(version_agrees(&said("2026-07-28"), &meta("2026-07-28")).is_ok());
    assert!(version_agrees(&said("v999"), &meta("v999")).is_ok(), "whether we speak it is asked later");
    assert!(version_agrees(&said("2026-07-28"), &meta("v999")).is_err());
    assert!(version_agrees(&headers(&[]), &meta("2026-07-28")).is_err());
    assert!(version_agrees(&said("2026-07-28"), &Meta::default()).is_ok(), "what is missing is asked for later");
}

#[test]
fn parameters_agree_by_value() {
    let rows = [
        (Some("us-east"), json!("us-east"), true),
        (Some("42"), json!(42), true),
        (Some("42.0"), json!(42), true),
        (Some("true"), json!(true), true),
        (None, Value::Null, true),
        (Some(""), json!(""), true),
        (Some("x"), Value::Null, false),
        (None, json!("x"), false),
        (Some("43"), json!(42), false),
        (Some("9007199254740993"), json!(9_007_199_254_740_993_u64), true),
        (Some("9007199254740993"), json!(9_007_199_254_740_992_u64), false),
        (Some("0.5"), json!(0.5), true),
        (Some("True"), json!(true), false),
        (Some("x"), json!(["x"]), false),
    ];
    for (said, value, expected) in rows {
        assert_eq!(same(said, &value), expected, "{said:?} {value}");
    }
}

#[test]
fn a_mirrored_parameter_is_found_by_its_path() {
    let mirrored = [MirroredParam { header: "Region".to_owned(), path: vec!["where".to_owned(), "region".to_owned()] }];
    let params = crate::content::raw(&json!({"arguments": {"where": {"region": "eu"}}}));

    assert!(params_agree(&headers(&[("mcp-param-region", "eu")]), &mirrored, Some(&params)).is_ok());
    assert!(params_agree(&headers(&[("mcp-param-region", "us")]), &mirrored, Some(&params)).is_err());
    assert!(params_agree(&headers(&[]), &mirrored, Some(&params)).is_err());
    assert!(params_agree(&headers(&[]), &mirrored, None).is_ok());
}
