//! Schemas that providers reject, and what becomes of them.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SchemaDialect, advertise, restore};

const PLAIN: SchemaDialect = SchemaDialect { plain_properties: false, single_types: false };

fn advertised(schema: &Value) -> Value {
    advertise(schema, PLAIN).json
}

#[test]
fn references_are_inlined_and_recursion_ends_in_anything() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/node", "description": "The root." } },
        "$defs": { "node": { "type": "object", "properties": {
            "name": { "type": "string" }, "child": { "$ref": "#/$defs/node" },
        } } },
    });
    assert_eq!(
        advertised(&schema),
        json!({ "type": "object", "properties": { "tree": {
            "type": "object", "description": "The root.",
            "properties": { "name": { "type": "string" }, "child": {} },
        } } })
    );
}

#[test]
fn a_reference_that_leads_nowhere_is_anything() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "$ref": "#/$defs/missing" }, "b": { "$ref": "https://example.com/schema.json" },
    } });
    assert_eq!(advertised(&schema)["properties"], json!({ "a": {}, "b": {} }));
}

#[test]
fn alternatives_at_the_root_become_one_object_and_a_sentence() {
    let schema = json!({
        "type": "object",
        "oneOf": [
            { "properties": { "id": { "type": "string" }, "all": { "type": "boolean" } }, "required": ["id", "all"] },
            { "properties": { "name": { "type": "string" }, "all": { "type": "boolean" } }, "required": ["name", "all"] },
        ],
    });
    let result = advertise(&schema, PLAIN);
    assert_eq!(
        result.json,
        json!({
            "type": "object", "required": ["all"],
            "properties": { "id": { "type": "string" }, "name": { "type": "string" }, "all": { "type": "boolean" } },
        })
    );
    assert_eq!(result.note.as_deref(), Some("Give exactly one of: id and all, or name and all."));

    let all = json!({ "allOf": [
        { "properties": { "a": {} }, "required": ["a"] }, { "properties": { "b": {} }, "required": ["b"] },
    ] });
    assert_eq!(
        advertised(&all),
        json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a", "b"] })
    );
}

#[test]
fn what_is_no_object_becomes_one() {
    for odd in [json!(true), json!(null), json!([]), json!("x"), json!({}), json!({ "type": "string", "enum": ["a"] })]
    {
        assert_eq!(advertised(&odd), json!({ "type": "object", "properties": {} }), "{odd}");
    }
}

#[test]
fn arrays_get_items_and_lists_of_types_one_type_where_that_is_needed() {
    let schema = json!({ "type": "object", "properties": {
        "tags": { "type": "array" }, "size": { "type": ["null", "integer"] }, "any": true, "none": false,
    }, "required": "tags" });
    let plain = advertised(&schema);
    assert_eq!(plain["properties"]["tags"], json!({ "type": "array", "items": {} }));
    assert_eq!(plain["properties"]["size"]["type"], json!(["null", "integer"]));
    assert_eq!(plain["properties"]["any"], json!({}));
    assert_eq!(plain.get("required"), None, "a list or nothing");
    let single = advertise(&schema, SchemaDialect { single_types: true, ..PLAIN }).json;
    assert_eq!(single["properties"]["size"]["type"], "integer");
}

#[test]
fn property_names_that_a_provider_rejects_are_replaced_and_come_back() {
    let long = "x".repeat(70);
    let schema = json!({ "type": "object", "required": ["größe", "ok"], "properties": {
        "größe": { "type": "object", "properties": { "$filter": { "type": "string" } } }, "ok": {}, long.clone(): {},
    } });
    let result = advertise(&schema, SchemaDialect { plain_properties: true, ..PLAIN });
    let names: Vec<&String> = result.json["properties"].as_object().unwrap().keys().collect();
    assert!(names.iter().all(|name| name.len() <= 64 && name.is_ascii()), "{names:?}");
    let size = result.renames.iter().find(|(_, old)| *old == "größe").unwrap().0;
    assert!(result.json["required"].as_array().unwrap().contains(&json!(size)));
    let filter = result.renames.iter().find(|(_, old)| *old == "$filter").unwrap().0;

    let arguments = json!({ size.clone(): { filter.clone(): "x" }, "ok": [{ filter.clone(): 1 }] });
    let restored = restore(arguments, &result.renames);
    assert_eq!(restored, json!({ "größe": { "$filter": "x" }, "ok": [{ "$filter": 1 }] }));
}

#[test]
fn references_that_double_at_every_step_stay_small() {
    let mut definitions = serde_json::Map::new();
    for step in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/d{}", step + 1) });
        definitions.insert(format!("d{step}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
    }
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(advertised(&schema).to_string().len() < 200_000);
}

/// Any JSON of a moderate depth, with words that schemas use.
fn any_schema() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "$ref",
        "$defs",
        "oneOf",
        "anyOf",
        "allOf",
        "enum",
        "a",
        "b c",
        "object",
        "array",
        "#/$defs/a",
        "#",
        "#/properties/a",
    ]);
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), words.clone().prop_map(Value::from)];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(words.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members: HashMap<String, Value>| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_a_tool_declares_an_object_without_references_is_sent(schema in any_schema()) {
        for dialect in [PLAIN, SchemaDialect { plain_properties: true, single_types: true }] {
            let json = advertise(&schema, dialect).json;
            prop_assert_eq!(&json["type"], "object");
            prop_assert!(json["properties"].is_object());
            for union in ["oneOf", "anyOf", "allOf", "enum", "not", "$ref", "$defs"] {
                prop_assert!(json.get(union).is_none(), "{} in {}", union, json);
            }
        }
    }
}
