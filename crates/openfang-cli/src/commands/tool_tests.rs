//! Schemas as tables.

use super::*;

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
