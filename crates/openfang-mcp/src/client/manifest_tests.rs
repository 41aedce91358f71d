//! What is taken of a server, and what is left out.

use serde_json::json;

use super::*;
use crate::content::raw;

fn manifest(tools: &[Value]) -> Manifest {
    let tools: Vec<Box<RawValue>> = tools.iter().map(raw).collect();
    Manifest::of(KeptManifest { tools: tools.iter().map(AsRef::as_ref).collect(), ..KeptManifest::default() })
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

#[test]
fn an_offending_tool_is_left_out_and_named_and_the_others_stay() {
    let mut deep = json!({});
    for _ in 0..40 {
        deep = json!({ "properties": { "x": deep } });
    }
    let many: Vec<Value> = (0..3_000).map(|n| json!({ "const": n })).collect();
    let bad = [
        json!({ "name": "huge", "description": "x".repeat(9_000), "inputSchema": {} }),
        json!({ "name": "deep", "inputSchema": deep }),
        json!({ "name": "branches", "inputSchema": { "anyOf": many } }),
        json!({ "name": "metadata", "inputSchema": { "$ref": "http://169.254.169.254/" } }),
        json!({ "name": "passwords", "inputSchema": { "properties": { "x": { "$ref": "file:///etc/passwd" } } } }),
        json!({ "name": "circle", "inputSchema": { "$ref": "#" } }),
        json!({ "name": "output", "inputSchema": {}, "outputSchema": { "$ref": "http://x/" } }),
        json!({ "name": "sheІl_exec", "inputSchema": {} }),
        json!({ "name": "zero\u{200b}width", "inputSchema": {} }),
        json!({ "name": "line\nbreak", "inputSchema": {} }),
        json!({ "name": "\u{1b}[31mred", "inputSchema": {} }),
        json!({ "name": "n".repeat(300), "inputSchema": {} }),
        json!({ "name": "", "inputSchema": {} }),
        json!({ "name": "schemaless" }),
        json!({ "inputSchema": {} }),
        json!(7),
        tool("good"),
    ];
    let count = bad.len();
    let mut tools = bad.to_vec();
    tools.push(tool("good"));
    tools.push(tool("better"));
    let manifest = manifest(&tools);
    assert_eq!(manifest.tools.names().collect::<Vec<_>>(), ["better", "good"]);
    assert_eq!(manifest.left_out.len(), count);
    for left in &manifest.left_out {
        assert!(left.name.is_ascii() && !left.name.contains(['\n', '\u{1b}']), "{left:?}");
    }
}

#[test]
fn a_fingerprint_changes_with_the_meaning_and_not_with_the_spelling() {
    let one = r#"{"name":"a","description":"x","inputSchema":{"type":"object"}}"#;
    let same = r#"{ "inputSchema": {"type":"object"}, "description":"\u0078", "name":"a", "_meta": {"trace":1} }"#;
    assert_eq!(fingerprint(one), fingerprint(same));
    for other in [
        r#"{"name":"a","description":"y","inputSchema":{"type":"object"}}"#,
        r#"{"name":"a","description":"x","inputSchema":{"type":"object","properties":{}}}"#,
        r#"{"name":"a","description":"x","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    ] {
        assert_ne!(fingerprint(one), fingerprint(other));
    }
}

#[test]
fn of_two_tools_with_one_name_the_first_is_taken_with_the_headers_that_it_asks_for() {
    let marked = |header: &str| {
        let text = json!({ "type": "string", "x-mcp-header": header });
        json!({ "name": "a", "description": header, "inputSchema": { "type": "object", "properties": { "text": text } } })
    };
    let arguments = RawValue::from_string(r#"{"text":"hello"}"#.to_owned()).unwrap();

    let first = manifest(&[tool("b"), marked("One"), marked("Two")]);
    assert!(first.tools.get("a").unwrap().json().contains("One"));
    assert!(first.mirrored("a", Some(&arguments))[0].0.as_str().ends_with("one"));
    assert_eq!(first.left_out, [McpLeftOut { name: "a".to_owned(), why: "the name is there twice".to_owned() }]);

    let plain = manifest(&[tool("a"), marked("One")]);
    assert_eq!(plain.mirrored("a", Some(&arguments)), []);
}

#[test]
fn what_is_kept_of_many_tools_is_what_they_were() {
    let tools: Vec<Value> = (0..2_000).rev().map(|number| tool(&format!("t{number:04}"))).collect();
    let before = manifest(&tools);
    let kept = serde_json::to_string(&before).unwrap();
    let after = Manifest::of(serde_json::from_str(&kept).unwrap());

    assert_eq!(after.tools.entries().len(), 2_000);
    for (before, after) in before.tools.entries().zip(after.tools.entries()) {
        assert_eq!((before.name(), before.json()), (after.name(), after.json()));
    }
}
