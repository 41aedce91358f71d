//! Arguments as people type them.

use serde_json::json;

use super::*;
use crate::error::Exit;

#[test]
fn arguments_are_an_object_or_nothing() {
    assert_eq!(parsed(None).unwrap(), Map::new());
    assert_eq!(Value::Object(parsed(Some(" {\"a\": 3}\n")).unwrap()), json!({ "a": 3 }));
}

#[test]
fn anything_else_is_wrong_usage_and_says_how_to_write_it() {
    for text in ["", "[]", "3", "{\"a\":", "{'a':3}", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}"] {
        let error = parsed(Some(text)).unwrap_err();

        assert_eq!(error.exit(), Exit::Usage, "{text}");
        assert!(error.to_string().contains("--args '{\"a\":3,\"b\":7}'"), "{text}: {error}");
    }
}

fn schema() -> Value {
    json!({
        "properties": {
            "n": { "type": "number" }, "i": { "type": "integer" }, "b": { "type": "boolean" },
            "t": { "type": "string" }, "l": { "type": "array" }, "o": { "type": ["string", "null"] },
            "m": { "type": ["integer", "string"] }, "any": {},
        },
        "required": ["n", "t", "l"],
    })
}

#[test]
fn a_pair_has_the_type_that_the_schema_wants() {
    let pairs = ["n=0.5", "i=3", "b=true", "t=7", "l=[1]", "o=null", "m=4", "any=x=y", "more={\"a\":1}"];
    let pairs: Vec<String> = pairs.map(str::to_owned).into();
    let mut arguments = Map::new();

    add_pairs(&mut arguments, &pairs, &schema()).unwrap();

    let expected = json!({
        "n": 0.5, "i": 3, "b": true, "t": "7", "l": [1], "o": null, "m": 4, "any": "x=y", "more": { "a": 1 },
    });
    assert_eq!(Value::Object(arguments), expected);
}

#[test]
fn a_pair_that_does_not_fit_is_named_with_what_would() {
    let rows = [
        ("n=x", "a number"),
        ("i=0.5", "an integer"),
        ("b=yes", "true or false"),
        ("l=1", "a list"),
        ("plain", "name=value"),
        ("=3", "name=value"),
        ("given=2", "twice"),
    ];
    for (pair, expected) in rows {
        let mut arguments = Map::from_iter([("given".to_owned(), json!(1))]);

        let error = add_pairs(&mut arguments, &[pair.to_owned()], &schema()).unwrap_err();

        assert!(error.to_string().contains(expected), "{pair}: {error}");
    }
}

#[test]
fn the_example_has_the_required_arguments() {
    assert_eq!(example(&schema()), " n=1 t=TEXT l='[]'");
    assert_eq!(example(&json!({})), "");
}
