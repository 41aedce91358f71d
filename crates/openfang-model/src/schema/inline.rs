//! A schema without references, and without what one of the providers rejects.

use std::collections::HashMap;

use openfang_types::limits::{MODEL_SCHEMA_MAX_NODES, SCHEMA_MAX_DEPTH};
use serde_json::{Map, Value};

use super::{SchemaDialect, plain_name};

/// Members that name or describe the document, and references, which are followed elsewhere.
const DROPPED: [&str; 12] = [
    "$schema",
    "$id",
    "id",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$vocabulary",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
];
/// Members whose values are schemas by name.
const SCHEMAS_BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Members whose values are data, not schemas.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "required"];

pub(super) struct Inliner<'a> {
    root: &'a Value,
    dialect: SchemaDialect,
    /// The references that are being followed: meeting one of them again is recursion.
    following: Vec<String>,
    nodes: usize,
    pub(super) renames: HashMap<String, String>,
}

impl<'a> Inliner<'a> {
    pub(super) fn new(root: &'a Value, dialect: SchemaDialect) -> Self {
        Self { root, dialect, following: Vec::new(), nodes: 0, renames: HashMap::new() }
    }

    /// The schema on its own. A document that would become too large ends in `{}` where it does.
    pub(super) fn inlined(&mut self, schema: &Value) -> Value {
        self.at(schema, 0)
    }

    fn at(&mut self, schema: &Value, depth: usize) -> Value {
        self.nodes += 1;
        if self.nodes > MODEL_SCHEMA_MAX_NODES || depth > SCHEMA_MAX_DEPTH {
            return anything();
        }
        match schema {
            Value::Object(members) => match reference(members) {
                Some(target) => self.followed(target, members, depth),
                None => self.object(members, depth),
            },
            Value::Bool(false) => Value::Object(Map::from_iter([("not".to_owned(), anything())])),
            Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => anything(),
        }
    }

    /// What a reference leads to, with the members that stand beside the reference.
    fn followed(&mut self, target: &str, beside: &Map<String, Value>, depth: usize) -> Value {
        let resolved = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)).cloned();
        let is_recursion = self.following.iter().any(|open| open == target);
        let (Some(resolved), false) = (resolved, is_recursion) else {
            return self.object(beside, depth);
        };
        self.following.push(target.to_owned());
        let inlined = self.at(&resolved, depth + 1);
        self.following.pop();
        let Value::Object(mut merged) = inlined else { return inlined };
        if let Value::Object(own) = self.object(beside, depth) {
            merged.extend(own);
        }
        Value::Object(merged)
    }

    fn object(&mut self, members: &Map<String, Value>, depth: usize) -> Value {
        let mut written = Map::new();
        for (key, value) in members {
            if DROPPED.contains(&key.as_str()) {
                continue;
            }
            let value = match (key.as_str(), value) {
                ("type", Value::Array(types)) if self.dialect.single_types => first_type(types),
                (name, Value::Object(schemas)) if SCHEMAS_BY_NAME.contains(&name) => self.by_name(name, schemas, depth),
                ("required", Value::Array(names)) => self.required(names),
                (name, _) if DATA.contains(&name) => value.clone(),
                (_, Value::Object(_)) => self.at(value, depth + 1),
                (_, Value::Array(items)) if items.iter().any(Value::is_object) => {
                    Value::Array(items.iter().map(|item| self.at(item, depth + 1)).collect())
                }
                _ => value.clone(),
            };
            written.insert(key.clone(), value);
        }
        if is_array(&written) && !written.contains_key("items") && !written.contains_key("prefixItems") {
            written.insert("items".to_owned(), anything());
        }
        if written.get("required").is_some_and(|required| !required.is_array()) {
            written.remove("required");
        }
        Value::Object(written)
    }

    fn by_name(&mut self, member: &str, schemas: &Map<String, Value>, depth: usize) -> Value {
        let is_named = member == "properties";
        let renamed = schemas.iter().map(|(name, schema)| {
            let name = if is_named { self.property(name) } else { name.clone() };
            (name, self.at(schema, depth + 1))
        });
        Value::Object(renamed.collect())
    }

    fn required(&mut self, names: &[Value]) -> Value {
        let names = names.iter().filter_map(Value::as_str);
        Value::Array(names.map(|name| Value::String(self.property(name))).collect())
    }

    /// The property's name at the provider.
    fn property(&mut self, name: &str) -> String {
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-');
        let replaced = plain_name(name, is_fine).filter(|_| self.dialect.plain_properties);
        match replaced {
            Some(replaced) => {
                self.renames.insert(replaced.clone(), name.to_owned());
                replaced
            }
            None => name.to_owned(),
        }
    }
}

/// A schema that everything fits.
fn anything() -> Value {
    Value::Object(Map::new())
}

fn reference(members: &Map<String, Value>) -> Option<&str> {
    let keys = ["$ref", "$dynamicRef", "$recursiveRef"];
    keys.iter().find_map(|key| members.get(*key).and_then(Value::as_str))
}

fn first_type(types: &[Value]) -> Value {
    let known = types.iter().find(|one| one.as_str().is_some_and(|one| one != "null"));
    known.cloned().unwrap_or_else(|| Value::String("string".to_owned()))
}

fn is_array(members: &Map<String, Value>) -> bool {
    match members.get("type") {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(types)) => types.iter().any(|one| one == "array"),
        _ => false,
    }
}
