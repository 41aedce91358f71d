//! The root of a schema as providers want it: one object with properties, without alternatives.

use serde_json::{Map, Value, json};

const UNIONS: [&str; 3] = ["oneOf", "anyOf", "allOf"];
/// What no provider takes at the root, or only some do.
const NOT_AT_THE_ROOT: [&str; 6] = ["enum", "const", "not", "if", "then", "else"];

/// The schema as one object. Alternatives are merged: the properties of all of them, and as required what all of them
/// require. The second value says in words what was lost.
pub(super) fn as_object(schema: Value) -> (Value, Option<String>) {
    let Value::Object(mut root) = schema else { return (json!({ "type": "object", "properties": {} }), None) };
    let mut note = None;
    for union in UNIONS {
        let Some(Value::Array(alternatives)) = root.remove(union) else { continue };
        note = note.or_else(|| rule(union, &alternatives));
        merge(&mut root, union, &alternatives);
    }
    for member in NOT_AT_THE_ROOT {
        root.remove(member);
    }
    root.insert("type".to_owned(), json!("object"));
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), json!({}));
    }
    (Value::Object(root), note)
}

fn merge(root: &mut Map<String, Value>, union: &str, alternatives: &[Value]) {
    let mut properties = match root.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let own = names(root.get("required"));
    let mut shared: Option<Vec<String>> = None;
    for alternative in alternatives {
        if let Some(Value::Object(more)) = alternative.get("properties") {
            for (name, schema) in more {
                properties.entry(name.clone()).or_insert_with(|| schema.clone());
            }
        }
        let required = names(alternative.get("required"));
        shared = Some(match shared {
            None => required,
            // All of `allOf` holds at once; of alternatives only what each one requires.
            Some(before) if union == "allOf" => before.into_iter().chain(required).collect(),
            Some(before) => before.into_iter().filter(|name| required.contains(name)).collect(),
        });
    }
    let mut required = own;
    required.extend(shared.unwrap_or_default());
    required.sort_unstable();
    required.dedup();
    required.retain(|name| properties.contains_key(name));
    if required.is_empty() {
        root.remove("required");
    } else {
        root.insert("required".to_owned(), json!(required));
    }
    root.insert("properties".to_owned(), Value::Object(properties));
}

fn names(required: Option<&Value>) -> Vec<String> {
    let listed = required.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the alternatives demand, in words.
fn rule(union: &str, alternatives: &[Value]) -> Option<String> {
    let groups: Vec<String> = alternatives
        .iter()
        .map(|alternative| names(alternative.get("required")))
        .filter(|required| !required.is_empty())
        .map(|required| required.join(" and "))
        .collect();
    let quantity = match union {
        "oneOf" => "exactly one of",
        "anyOf" => "at least one of",
        _ => return None,
    };
    (groups.len() > 1).then(|| format!("Give {quantity}: {}.", groups.join(", or ")))
}
