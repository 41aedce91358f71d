//! What the references of a schema come to. A value is held against a subschema, and so against everything in its `allOf`,
//! `anyOf`, `$ref` and the like, before any part of the value is looked at. Two references to the next of a chain double at
//! every step, so that a few kilobytes can ask for more steps than there is time.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::limits::{SCHEMA_MAX_CHAIN, SCHEMA_MAX_EXPANSION};

type SchemaObject = Map<String, Value>;

/// The subschemas of a schema, and which of them a value is held against together.
pub(super) struct References<'a> {
    root: &'a Value,
    subschemas: Vec<&'a SchemaObject>,
    anchors: HashMap<&'a str, Vec<&'a SchemaObject>>,
    /// Whether there is any reference.
    is_referring: bool,
    /// Whether a part of the schema has a name of its own, from which references in it would count.
    has_named_part: bool,
    known: HashMap<*const SchemaObject, Expansion>,
}

#[derive(Clone, Copy)]
enum Expansion {
    /// It is being counted: whoever meets it again has come round in a circle.
    Begun,
    /// So many subschemas, and so many in the longest row.
    Counted { subschemas: u64, chain: usize },
}

const LEADING_BACK: &str = "its schema refers to itself without end";

impl<'a> References<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            subschemas: Vec::new(),
            anchors: HashMap::new(),
            is_referring: false,
            has_named_part: false,
            known: HashMap::new(),
        }
    }

    /// Takes note of what may be a subschema.
    pub(super) fn note(&mut self, members: &'a SchemaObject) -> Result<(), &'static str> {
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(target) = members.get(key).and_then(Value::as_str) else { continue };
            if !target.starts_with('#') {
                return Err("its schema refers to something outside itself");
            }
            self.is_referring = true;
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = members.get(key).and_then(Value::as_str) {
                self.anchors.entry(name).or_default().push(members);
            }
        }
        for key in ["$id", "id"] {
            let Some(id) = members.get(key).and_then(Value::as_str) else { continue };
            match id.strip_prefix('#') {
                Some(name) => self.anchors.entry(name).or_default().push(members),
                // Newer drafts have no `id`, and many a default value has one.
                None => {
                    let is_root = self.root.as_object().is_some_and(|root| std::ptr::eq(root, members));
                    let is_name =
                        key == "$id" || self.root["$schema"].as_str().is_some_and(|of| of.contains("draft-04"));
                    self.has_named_part |= is_name && !is_root;
                }
            }
        }
        self.subschemas.push(members);
        Ok(())
    }

    /// How many subschemas one value may be held against, and how many of them in a row, at the worst places.
    pub(super) fn widest_expansion(mut self) -> Result<(u64, usize), &'static str> {
        if self.is_referring && self.has_named_part {
            return Err("its schema has references, and an `$id` below its root");
        }
        let (mut widest, mut longest) = (1, 1);
        for members in std::mem::take(&mut self.subschemas) {
            let (subschemas, chain) = self.expansion(members, 1)?;
            (widest, longest) = (widest.max(subschemas), longest.max(chain));
        }
        Ok((widest, longest))
    }

    /// How many subschemas a value is held against here, and how many of them stand in a row.
    fn expansion(&mut self, members: &'a SchemaObject, depth: usize) -> Result<(u64, usize), &'static str> {
        match self.known.get(&std::ptr::from_ref(members)) {
            Some(Expansion::Counted { subschemas, chain }) => return Ok((*subschemas, *chain)),
            Some(Expansion::Begun) => return Err(LEADING_BACK),
            None => {}
        }
        self.known.insert(members, Expansion::Begun);
        let (mut subschemas, mut chain): (u64, usize) = (1, 1);
        if depth <= SCHEMA_MAX_CHAIN {
            for next in self.in_place(members) {
                let (more, below) = self.expansion(next, depth + 1)?;
                subschemas = subschemas.saturating_add(more);
                chain = chain.max(below + 1);
            }
        } else {
            chain = SCHEMA_MAX_CHAIN + 1;
        }
        if chain > SCHEMA_MAX_CHAIN {
            return Err("its schema has a chain of more than 64 references and alternatives");
        }
        if subschemas > SCHEMA_MAX_EXPANSION {
            return Err("the references of its schema expand to more than 10,000 subschemas");
        }
        self.known.insert(members, Expansion::Counted { subschemas, chain });
        Ok((subschemas, chain))
    }

    /// What the same value is held against too.
    fn in_place(&self, members: &'a SchemaObject) -> Vec<&'a SchemaObject> {
        let mut found = Vec::new();
        for (key, value) in members {
            match (key.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => {
                    found.extend(items.iter().filter_map(Value::as_object));
                }
                ("not" | "if" | "then" | "else", Value::Object(one)) => found.push(one),
                ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                    found.extend(all.values().filter_map(Value::as_object));
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => self.resolve(target, &mut found),
                _ => {}
            }
        }
        found
    }

    /// Where a reference leads; a name may be given more than once.
    fn resolve(&self, target: &str, found: &mut Vec<&'a SchemaObject>) {
        let fragment = percent_decoded(target.get(1..).unwrap_or_default());
        if fragment.is_empty() || fragment.starts_with('/') {
            found.extend(self.root.pointer(&fragment).and_then(Value::as_object));
        } else {
            found.extend(self.anchors.get(fragment.as_ref()).into_iter().flatten());
        }
    }
}

/// A fragment of a URI as the text that it stands for.
fn percent_decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let digit = |at: Option<&u8>| at.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = fragment.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let pair = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)));
        match pair.filter(|_| *byte == b'%').and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(character) => {
                decoded.push(character);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}
