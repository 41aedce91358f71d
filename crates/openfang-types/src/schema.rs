//! Bounds for JSON Schemas that others write, asked before anything compiles one: size, nesting, number of subschemas, what
//! references expand to, and no reference that leaves the document or leads nowhere but back to itself.

use serde_json::Value;

use crate::limits::{SCHEMA_MAX_BYTES, SCHEMA_MAX_DEPTH, SCHEMA_MAX_SUBSCHEMAS};
use references::References;

mod references;

/// What a check against a schema may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaCost {
    /// How many subschemas it has.
    pub subschemas: usize,
    /// How many of them one value may be held against without looking into it, references followed.
    pub expansion: u64,
    /// How many of them stand in the longest row, each within the other.
    pub chain: usize,
    /// How many patterns it has.
    pub patterns: usize,
    /// Whether each step of a check is quick, however many there are.
    pub is_plain: bool,
}

/// Keywords whose checks cost more than a look at the value.
const COSTLY: [&str; 6] =
    ["pattern", "patternProperties", "format", "uniqueItems", "unevaluatedItems", "unevaluatedProperties"];

/// What is wrong with a schema, if anything is.
pub fn fault_of(schema: &Value) -> Option<&'static str> {
    cost_of(schema).err()
}

/// What checks against a schema cost, or what is wrong with it.
pub fn cost_of(schema: &Value) -> Result<SchemaCost, &'static str> {
    if !schema.is_object() {
        return Err("its schema is not an object");
    }
    if schema.to_string().len() > SCHEMA_MAX_BYTES {
        return Err("its schema is larger than 64 KiB");
    }
    let mut cost = SchemaCost { subschemas: 0, expansion: 1, chain: 1, patterns: 0, is_plain: true };
    let mut references = References::new(schema);
    let mut todo = vec![(schema, 1)];
    while let Some((value, depth)) = todo.pop() {
        if depth > SCHEMA_MAX_DEPTH {
            return Err("its schema is nested deeper than 32");
        }
        match value {
            Value::Object(members) => {
                cost.subschemas += 1;
                cost.is_plain &= !COSTLY.iter().any(|key| members.contains_key(*key));
                cost.patterns += usize::from(members.get("pattern").is_some_and(Value::is_string));
                let by_pattern = members.get("patternProperties").and_then(Value::as_object);
                cost.patterns += by_pattern.map_or(0, serde_json::Map::len);
                references.note(members)?;
                todo.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if cost.subschemas > SCHEMA_MAX_SUBSCHEMAS {
            return Err("its schema has more than 2,000 subschemas");
        }
    }
    (cost.expansion, cost.chain) = references.widest_expansion()?;
    Ok(cost)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
