//! The arguments of a call: a JSON object, or `name=value` pairs that the schema of the tool gives their types.

use openfang_types::scan::scan;
use serde_json::{Map, Value};

use crate::error::CliError;

/// Parses a JSON object. As strict as the server: what parsers disagree about is refused before it is sent.
pub(super) fn parsed(text: Option<&str>) -> Result<Map<String, Value>, CliError> {
    let Some(text) = text else { return Ok(Map::new()) };
    let wrong = |why: String| {
        CliError::Usage(format!("--args is not a JSON object: {why}; write it as in --args '{{\"a\":3,\"b\":7}}'"))
    };
    scan(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(wrong("it is another kind of value".to_owned())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Adds pairs to the arguments. A pair whose name is there already is a mistake.
pub(super) fn add_pairs(arguments: &mut Map<String, Value>, pairs: &[String], schema: &Value) -> Result<(), CliError> {
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(CliError::Usage(format!(
                "`{pair}` is not an argument; write name=value, or all of them as --args '{{\"a\":3,\"b\":7}}'"
            )));
        };
        if arguments.contains_key(name) {
            return Err(CliError::Usage(format!("the argument {name} is given twice; leave one out")));
        }
        arguments.insert(name.to_owned(), value_of(name, text, schema)?);
    }
    Ok(())
}

/// A value by the type that the schema wants: text stays text, everything else is written as in JSON.
fn value_of(name: &str, text: &str, schema: &Value) -> Result<Value, CliError> {
    let kinds: Vec<&str> = match schema.pointer(&format!("/properties/{}/type", pointer(name))) {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let parsed = || scan(text.as_bytes()).ok().and_then(|_| serde_json::from_str::<Value>(text).ok());
    if kinds.is_empty() {
        return Ok(parsed().unwrap_or_else(|| Value::from(text)));
    }
    let fits = |value: &Value| kinds.iter().any(|kind| is_of_kind(value, kind));
    if kinds.contains(&"string") && !(kinds.len() > 1 && parsed().is_some_and(|value| fits(&value))) {
        return Ok(Value::from(text));
    }
    parsed().filter(fits).ok_or_else(|| {
        let wanted = kinds.iter().filter(|kind| **kind != "null").copied().collect::<Vec<_>>().join(" or ");
        CliError::Usage(format!("{name}={text} does not fit: {name} is {}", article(&wanted)))
    })
}

fn is_of_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        "string" => value.is_string(),
        _ => true,
    }
}

/// A kind of value with its article and, where it helps, an example.
fn article(kind: &str) -> String {
    match kind {
        "integer" => "an integer, such as 3".to_owned(),
        "number" => "a number, such as 3 or 0.5".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list, such as '[1,2]'".to_owned(),
        "object" => "an object, such as '{\"x\":1}'".to_owned(),
        kind => kind.to_owned(),
    }
}

/// The words that call a tool with its required arguments, for people to copy.
pub(super) fn example(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let pair = |name: &str| {
        let kind = schema.pointer(&format!("/properties/{}/type", pointer(name))).and_then(Value::as_str);
        let value = match kind {
            Some("number" | "integer") => "1",
            Some("boolean") => "true",
            Some("array") => "'[]'",
            Some("object") => "'{}'",
            _ => "TEXT",
        };
        format!(" {name}={value}")
    };
    required.filter_map(Value::as_str).map(pair).collect()
}

/// A name as a token of a JSON pointer.
fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
