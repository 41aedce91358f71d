//! Bounds for JSON Schemas that others write, asked before anything compiles one: size, nesting, number of subschemas, and
//! no reference that leaves the document or leads nowhere but back to itself.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::limits::{SCHEMA_MAX_BYTES, SCHEMA_MAX_DEPTH, SCHEMA_MAX_SUBSCHEMAS};

/// What is wrong with a schema, if anything is.
pub fn fault_of(schema: &Value) -> Option<&'static str> {
    if !schema.is_object() {
        return Some("its schema is not an object");
    }
    if schema.to_string().len() > SCHEMA_MAX_BYTES {
        return Some("its schema is larger than 64 KiB");
    }
    let mut subschemas = 0;
    let mut references = Vec::new();
    let mut todo = vec![(schema, 1)];
    while let Some((value, depth)) = todo.pop() {
        if depth > SCHEMA_MAX_DEPTH {
            return Some("its schema is nested deeper than 32");
        }
        match value {
            Value::Object(members) => {
                subschemas += 1;
                for key in ["$ref", "$dynamicRef"] {
                    let Some(target) = members.get(key).and_then(Value::as_str) else { continue };
                    if !target.starts_with('#') {
                        return Some("its schema refers to something outside itself");
                    }
                    references.push(members);
                }
                todo.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if subschemas > SCHEMA_MAX_SUBSCHEMAS {
            return Some("its schema has more than 2,000 subschemas");
        }
    }
    let circles = references.into_iter().any(|members| goes_in_a_circle(schema, members));
    circles.then_some("its schema refers to itself without end")
}

/// Whether following references from here comes back without having looked at any part of the value: a list of lists may
/// refer to itself, a thing that is "whatever this is" may not.
fn goes_in_a_circle(root: &Value, start: &Map<String, Value>) -> bool {
    let mut seen: HashSet<*const Map<String, Value>> = HashSet::new();
    let mut todo = vec![start];
    while let Some(members) = todo.pop() {
        let target = members.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|target| root.pointer(&target[1..])).and_then(Value::as_object);
        let branches = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| members.get(key)?.as_array());
        let below = branches.flatten().filter_map(Value::as_object).chain(target);
        for next in below {
            if std::ptr::eq(next, start) {
                return true;
            }
            if seen.insert(std::ptr::from_ref(next)) {
                todo.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
