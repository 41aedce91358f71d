//! What a message asks for.

use openfang_types::taint::SinkKind;
use openfang_types::task::Role;
use openfang_types::tool::ToolAnnotations;

use super::*;

fn message(parts: Vec<Part>) -> Message {
    Message { parts, ..Message::text("m".parse().unwrap(), Role::User, "") }
}

fn call(tool: &str, arguments: Value) -> Wish {
    Wish::Call(tool.parse().unwrap(), arguments)
}

#[test]
fn a_data_part_or_a_slash_names_a_tool() {
    let rows = [
        (vec![Part::data(json!({"tool": "t", "arguments": {"a": 1}}))], call("t", json!({"a": 1}))),
        (vec![Part::text("please"), Part::data(json!({"tool": "t"}))], call("t", json!({}))),
        (vec![Part::text("/t {\"a\": 1}")], call("t", json!({"a": 1}))),
        (vec![Part::text("  /t\n{\"a\":\n1}  ")], call("t", json!({"a": 1}))),
        (vec![Part::text("/t")], call("t", json!({}))),
        (vec![Part::text("hello")], Wish::Text("hello".into())),
        (vec![Part::data(json!({"other": 1})), Part::text("hello")], Wish::Text("hello".into())),
    ];
    for (parts, expected) in rows {
        assert_eq!(wish_of(&message(parts)), expected);
    }
}

#[test]
fn a_message_that_names_several_tools_is_not_half_done() {
    let call = || Part::data(json!({"tool": "t"}));

    let wish = wish_of(&message(vec![call(), Part::text("and"), call()]));

    assert_eq!(wish, Wish::Unreadable("the message names several tools; send a message for each".to_owned()));
}

#[test]
fn what_follows_the_slash_must_be_strict_json() {
    for text in ["/t {", "/t {\"a\":1,\"a\":2}", "/t nope", "/ {}", "/t\u{200b} {}"] {
        assert!(matches!(wish_of(&message(vec![Part::text(text)])), Wish::Unreadable(_)), "{text}");
    }
}

#[test]
fn plain_text_goes_to_the_one_parameter_that_can_take_it() {
    let tool = |schema: Value| ToolDefinition {
        name: "t".parse().unwrap(),
        description: String::new(),
        input_schema: schema,
        output_schema: None,
        annotations: ToolAnnotations::READ_ONLY,
        sink: SinkKind::Reads,
        kind: openfang_types::tool::ToolKind::Plain,
        origin: openfang_types::tool::Origin::Builtin,
        via: Vec::new(),
    };
    let text = json!({"type": "string"});
    let number = json!({"type": "number"});
    let rows = [
        (json!({"properties": {"a": text}, "required": ["a"]}), Some("a")),
        (json!({"properties": {"a": {"type": ["string", "null"]}}}), Some("a")),
        (json!({"properties": {"a": text, "b": text}, "required": ["b"]}), Some("b")),
        (json!({"properties": {"a": text, "b": number}}), Some("a")),
        (json!({"properties": {"a": text, "b": number}, "required": ["a", "b"]}), None),
        (json!({"properties": {"a": text, "b": text}}), None),
        (json!({"properties": {"a": number}, "required": ["a"]}), None),
        (json!({}), None),
    ];
    for (schema, expected) in rows {
        assert_eq!(text_parameter(&tool(schema.clone())), expected, "{schema}");
    }
}
