//! Blocks and results, as they came and as we write them.

use serde_json::json;
use serde_json::value::RawValue;

use super::*;

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

#[test]
fn a_relayed_block_keeps_every_byte() {
    for written in [
        r#"{"type":"text", "text":"a\u0062", "annotations":{"audience":["user"]}, "_meta":{"x":1.50}}"#,
        r#"{"type":"resource_link","uri":"a://b","name":"b","title":"B","size":3}"#,
        r#"{"vendor":[1, 2],"type":"hologram"}"#,
    ] {
        let block = Block::from_raw(raw(written)).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), written);
    }
}

#[test]
fn a_text_of_ours_and_the_same_text_of_a_server_say_the_same() {
    let (ours, theirs) = (Block::text("é\n"), Block::from_raw(raw(r#"{"type":"text","text":"\u00e9\n"}"#)).unwrap());
    assert_eq!(ours.as_text(), theirs.as_text());
    assert_eq!(ours.content(), theirs.content());
    assert_eq!(serde_json::to_string(&ours).unwrap(), r#"{"type":"text","text":"é\n"}"#);
}

#[test]
fn what_is_no_block_is_refused() {
    for nonsense in ["[]", "7", "{}", r#"{"type":5}"#, "null"] {
        assert_eq!(Block::from_raw(raw(nonsense)).unwrap_err(), NotABlock, "{nonsense}");
    }
}

#[test]
fn a_result_keeps_what_it_says_beside_and_loses_what_the_protocol_added() {
    let written =
        raw(r#"{"content":[],"structuredContent":{"a":1},"isError":false,"resultType":"complete","vendor":{"b":2},
            "_meta":{"io.modelcontextprotocol/serverInfo":{},"example.com/trace":"t"}}"#);
    let output = ToolOutput::from_raw(&written).unwrap();
    assert_eq!(
        serde_json::to_value(&output).unwrap(),
        json!({"content": [], "structuredContent": {"a": 1}, "isError": false, "vendor": {"b": 2},
               "_meta": {"example.com/trace": "t"}})
    );
}
