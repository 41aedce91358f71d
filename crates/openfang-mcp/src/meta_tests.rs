//! What `_meta` says, and what it must say.

use super::*;

fn meta(json: &str) -> Result<Meta, McpError> {
    Meta::read(&RawValue::from_string(json.to_owned()).unwrap())
}

const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const NOTHING: &str = r#""io.modelcontextprotocol/clientCapabilities":{}"#;

#[test]
fn a_modern_request_says_its_revision_and_what_its_client_can_do() {
    let good = meta(&format!("{{{VERSION},{NOTHING},\"progressToken\":7}}")).unwrap();

    assert_eq!(good.modern(), Ok((Revision::V2026_07_28, ClientCapabilities::NONE)));
    assert_eq!(good.progress_token, Some(Id::Number(7)));
    assert_eq!(good.log_level, None);
}

#[test]
fn what_is_missing_or_malformed_is_said() {
    assert!(matches!(meta("{}").unwrap().modern(), Err(McpError::BadMeta(_))));
    assert!(matches!(meta(&format!("{{{VERSION}}}")).unwrap().modern(), Err(McpError::BadMeta(_))));
    assert!(matches!(meta("[]"), Err(McpError::BadMeta(_))));
    assert!(meta(&format!("{{{VERSION},\"io.modelcontextprotocol/clientCapabilities\":7}}")).is_err());
    let info = format!("{{{VERSION},{NOTHING},\"io.modelcontextprotocol/clientInfo\":\"x\"}}");
    assert!(meta(&info).unwrap().modern().is_err());
    let level = format!("{{{VERSION},{NOTHING},\"io.modelcontextprotocol/logLevel\":\"loud\"}}");
    assert!(meta(&level).is_err());
}

#[test]
fn a_version_of_the_other_era_or_of_the_future_is_not_supported() {
    for version in ["2025-11-25", "2027-01-01"] {
        let json = format!("{{\"io.modelcontextprotocol/protocolVersion\":\"{version}\",{NOTHING}}}");
        assert_eq!(meta(&json).unwrap().modern(), Err(McpError::UnsupportedVersion(version.to_owned())));
    }
}

#[test]
fn a_legacy_request_needs_none_of_it() {
    assert!(!Meta::default().is_modern());
    assert!(!meta(r#"{"progressToken":"t","vendor/x":1}"#).unwrap().is_modern());
    assert_eq!(meta(r#"{"progressToken":1.5}"#).unwrap().progress_token, None);
}

#[test]
fn what_is_nobodys_but_the_two_ends_is_kept_as_it_was_written() {
    let said = meta(&format!(
        "{{{VERSION},{NOTHING},\"vendor/x\":{{\"a\": 1.50}},\"io.modelcontextprotocol/new\":1,\"progressToken\":null,\"a\":null}}"
    ))
    .unwrap();

    assert_eq!(said.beside.unwrap().get(), r#"{"a":null,"vendor/x":{"a": 1.50}}"#);
    assert_eq!(said.progress_token, None);
    assert!(meta(&format!("{{{VERSION}}}")).unwrap().beside.is_none());
}
