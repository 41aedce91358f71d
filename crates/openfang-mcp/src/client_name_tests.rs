//! Names of clients, whatever they are.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn read(info: &serde_json::Value) -> ClientName {
    ClientName::read(&to_raw_value(info).unwrap())
}

#[test]
fn a_name_is_read_and_survives_a_token() {
    let name = read(&json!({ "name": "claude-code", "version": "2" }));

    assert_eq!(name.as_str(), "claude-code");
    assert_eq!(ClientName::from_bytes(name.to_bytes()), name);
}

#[test]
fn a_name_that_is_none_is_empty_and_a_long_one_is_cut_between_letters() {
    for none in [json!({}), json!({ "name": 7 }), json!({ "name": null }), json!({ "name": "" })] {
        assert_eq!(read(&none).as_str(), "", "{none}");
    }
    let long = "é".repeat(40);
    assert_eq!(read(&json!({ "name": long })).as_str(), "é".repeat(16));
    assert_eq!(read(&json!({ "name": "a\u{0}b" })).as_str(), "a");
}
