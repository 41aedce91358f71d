//! Settings in JSON with comments and trailing commas. A byte order mark is kept.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::{EditFault, Edited};

const BYTE_ORDER_MARK: char = '\u{feff}';
/// The order of members in a new entry; others follow by name.
const FIRST: [&str; 7] = ["type", "command", "args", "url", "serverUrl", "httpUrl", "headers"];

pub(super) fn get(text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, EditFault> {
    let root = parsed(text)?;
    let Some(mut object) = top(&root)? else { return Ok(None) };
    for key in keys {
        match member(&object, key)? {
            Some(below) => object = below,
            None => return Ok(None),
        }
    }
    check_once(&object, name)?;
    let entry = object.get(name).and_then(|entry| entry.value());
    // The parser of the import reads what this one wrote down, comments left out.
    entry
        .map(|entry| crate::import::parse_json(&entry.to_string()).map_err(|_| unparsed(1)))
        .transpose()
}

pub(super) fn put(text: &str, keys: &[&str], name: &str, entry: &Value) -> Result<Edited, EditFault> {
    let (mark, text) = without_mark(text);
    let root = parsed(text)?;
    let mut object = match top(&root)? {
        Some(object) => object,
        None => root.object_value_or_set(),
    };
    let mut created = 0;
    for key in keys {
        object = match member(&object, key)? {
            Some(below) => below,
            None => {
                created += 1;
                object.object_value_or_set(key)
            }
        };
    }
    check_once(&object, name)?;
    match object.get(name) {
        Some(held) => held.set_value(input(entry)),
        None => drop(object.append(name, input(entry))),
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') && created == keys.len() {
        text.push('\n');
    }
    Ok(Edited { text: format!("{mark}{text}"), created })
}

pub(super) fn remove(text: &str, keys: &[&str], name: &str, created: usize) -> Result<String, EditFault> {
    let (mark, text) = without_mark(text);
    let root = parsed(text)?;
    let Some(mut object) = top(&root)? else { return Ok(format!("{mark}{text}")) };
    let mut way = Vec::new();
    for key in keys {
        way.push((object.clone(), *key));
        match member(&object, key)? {
            Some(below) => object = below,
            None => return Ok(format!("{mark}{text}")),
        }
    }
    if let Some(entry) = object.get(name) {
        entry.remove();
    }
    for (object, key) in way.into_iter().rev().take(created) {
        let is_empty = |below: CstObject| below.properties().is_empty();
        if object.object_value(key).is_some_and(is_empty)
            && let Some(property) = object.get(key)
        {
            property.remove();
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Comments and trailing commas are fine, as editors write them. Anything else that is not JSON is an error.
fn parsed(text: &str) -> Result<CstRootNode, EditFault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    let (_, text) = without_mark(text);
    CstRootNode::parse(text, &options).map_err(|error| unparsed(error.line_display()))
}

const fn unparsed(line: usize) -> EditFault {
    EditFault::NotParsed { language: "JSON", line }
}

/// The object of the file, or none if the file is empty.
fn top(root: &CstRootNode) -> Result<Option<CstObject>, EditFault> {
    match (root.value(), root.object_value()) {
        (_, Some(object)) => Ok(Some(object)),
        (None, None) => Ok(None),
        (Some(_), None) => Err(EditFault::NotAnObject("the file".to_owned())),
    }
}

fn member(object: &CstObject, key: &str) -> Result<Option<CstObject>, EditFault> {
    check_once(object, key)?;
    match object.get(key) {
        None => Ok(None),
        Some(property) => property.object_value().map(Some).ok_or_else(|| EditFault::NotAnObject(key.to_owned())),
    }
}

fn check_once(object: &CstObject, key: &str) -> Result<(), EditFault> {
    let named = |property: &jsonc_parser::cst::CstObjectProp| property.decoded_name().as_deref() == Some(key);
    if object.properties().iter().filter(|property| named(property)).count() > 1 {
        return Err(EditFault::Twice(key.to_owned()));
    }
    Ok(())
}

fn without_mark(text: &str) -> (&str, &str) {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split_at(text.len() - rest.len())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(held) => CstInputValue::Bool(*held),
        Value::Number(held) => CstInputValue::Number(held.to_string()),
        Value::String(held) => CstInputValue::String(held.clone()),
        Value::Array(held) => CstInputValue::Array(held.iter().map(input).collect()),
        Value::Object(held) => {
            let mut members: Vec<(String, CstInputValue)> =
                held.iter().map(|(name, value)| (name.clone(), input(value))).collect();
            let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
            members.sort_by_key(|(name, _)| rank(name));
            CstInputValue::Object(members)
        }
    }
}
