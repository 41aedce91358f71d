//! Arguments in, schemas out.

use super::*;

#[test]
fn arguments_are_an_object_or_nothing() {
    assert_eq!(parsed_arguments(None).unwrap(), Map::new());
    assert_eq!(Value::Object(parsed_arguments(Some(" {\"a\": 3}\n")).unwrap()), json!({ "a": 3 }));
}

#[test]
fn anything_else_is_wrong_usage_and_says_how_to_write_it() {
    for text in ["", "[]", "3", "{\"a\":", "{'a':3}", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}"] {
        let error = parsed_arguments(Some(text)).unwrap_err();

        assert_eq!(error.exit(), Exit::Usage, "{text}");
        assert!(error.to_string().contains("--args '{\"a\":3,\"b\":7}'"), "{text}: {error}");
    }
}

#[test]
fn the_arguments_of_a_schema_are_listed_with_their_types() {
    let schema = json!({
        "properties": {
            "a": { "type": "number", "description": "The first." },
            "b": { "type": ["string", "null"] },
            "c": {},
        },
        "required": ["a"],
    });

    let listed: Vec<(String, String, bool, String)> = arguments_of(&schema)
        .into_iter()
        .map(|argument| (argument.name, argument.kind, argument.is_required, argument.description))
        .collect();

    let row = |name: &str, kind: &str, required, description: &str| {
        (name.to_owned(), kind.to_owned(), required, description.to_owned())
    };
    let expected = [row("a", "number", true, "The first."), row("b", "string", false, ""), row("c", "any", false, "")];
    assert_eq!(listed, expected);
}
