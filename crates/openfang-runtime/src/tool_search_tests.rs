//! What the two tools take, and what a search says.

use super::*;

fn tool(name: &str, description: &str, schema: Value) -> FoundTool {
    FoundTool { name: name.to_owned(), description: description.to_owned(), schema }
}

#[test]
fn a_wrapped_call_has_the_tool_and_its_arguments_as_they_were_written() {
    let call = WrappedCall::read(r#"{"name":"a","arguments":{"b": 1.50}}"#).unwrap();
    assert_eq!((&*call.name, call.arguments.unwrap().get()), ("a", "{\"b\": 1.50}"));
    assert!(WrappedCall::read(r#"{"name":"\u0061"}"#).unwrap().arguments.is_none());
}

#[test]
fn a_call_that_is_none_says_what_is_wrong() {
    for (arguments, says) in [
        ("{}", "missing field `name`"),
        ("[]", "give name"),
        (r#"{"name":"a","arguments":[1]}"#, "not an object"),
        (r#"{"name":"a","arguments":"{}"}"#, "not an object"),
        (r#"{"name":"a","args":{}}"#, "unknown field"),
        (r#"{"name":"tool_call","arguments":{"name":"a"}}"#, "call it directly"),
        (r#"{"name":"tool_search","arguments":{"query":"a"}}"#, "call it directly"),
    ] {
        let why = WrappedCall::read(arguments).unwrap_err();
        assert!(why.contains(says), "{arguments}: {why}");
    }
}

#[test]
fn a_query_has_words_and_a_limit_within_bounds() {
    let limit = |arguments: &str| ToolQuery::read(arguments).unwrap().limit();
    assert_eq!(limit(r#"{"query":"a"}"#), TOOL_SEARCH_RESULTS);
    assert_eq!(limit(r#"{"query":"a","limit":0}"#), 1);
    assert_eq!(limit(r#"{"query":"a","limit":18446744073709551615}"#), TOOL_SEARCH_RESULTS_MAX);
    for wrong in [r#"{"query":" "}"#, "{}", r#"{"query":"a","limit":-1}"#, r#"{"query":["a"]}"#] {
        assert!(ToolQuery::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_a_search_says_is_bounded_and_every_tool_of_it_can_be_called() {
    let properties: serde_json::Map<String, Value> = (0..2_000)
        .map(|number| (format!("parameter_{number}"), json!({ "type": "string" })))
        .collect();
    let large = || tool("large", &"word ".repeat(10_000), json!({ "type": "object", "properties": properties }));
    let small = || tool("small", "Small.", json!({ "type": "object", "properties": { "a": { "type": "integer" } } }));

    let said = report(&[large(), small()]);

    assert!(said.len() < TOOL_SEARCH_CHARS, "{}", said.len());
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["name"], lines[0]["parameters_named"].as_array().unwrap().len()), (&json!("large"), 50));
    assert_eq!(lines[1]["parameters"]["properties"]["a"]["type"], "integer");
    let many: Vec<FoundTool> = (0..20).map(|_| large()).collect();
    assert!(report(&many).len() < 2 * TOOL_SEARCH_CHARS);
    assert!(report(&[]).contains("other words"));
}
