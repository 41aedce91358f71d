//! Settings of Codex in TOML.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value as TomlValue};

use super::{EditFault, Edited};

pub(super) fn get(text: &str, keys: &[&str], name: &str) -> Result<Option<Value>, EditFault> {
    let mut document = parsed(text)?;
    let Some(table) = table_at(&mut document, keys)? else { return Ok(None) };
    let Some(entry) = table.get(name) else { return Ok(None) };
    let entry = entry.as_table_like().ok_or_else(|| EditFault::NotAnObject(name.to_owned()))?;
    let mut members = serde_json::Map::new();
    for (key, item) in entry.iter() {
        members.insert(key.to_owned(), json_of(item));
    }
    Ok(Some(Value::Object(members)))
}

pub(super) fn put(text: &str, keys: &[&str], name: &str, entry: &Value) -> Result<Edited, EditFault> {
    let mut document = parsed(text)?;
    let created = usize::from(table_at(&mut document, keys)?.is_none());
    let [key] = keys else { return Err(EditFault::Unsupported) };
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| EditFault::NotAnObject((*key).to_owned()))?;
    let mut table = Table::new();
    for key in ["command", "args", "url", "http_headers"] {
        if let Some(value) = entry.get(key) {
            table.insert(key, Item::Value(toml_of(value)));
        }
    }
    match servers.get_mut(name) {
        Some(held) if held.is_table() => *held = Item::Table(table),
        Some(held) => *held = Item::Value(table.into_inline_table().into()),
        None => drop(servers.insert(name, Item::Table(table))),
    }
    Ok(Edited { text: document.to_string(), created })
}

pub(super) fn remove(text: &str, keys: &[&str], name: &str, created: usize) -> Result<String, EditFault> {
    let mut document = parsed(text)?;
    let is_empty = match table_at(&mut document, keys)? {
        Some(servers) => {
            servers.remove(name);
            servers.is_empty()
        }
        None => false,
    };
    if let ([key], true) = (keys, is_empty && created > 0) {
        document.remove(key);
    }
    Ok(document.to_string())
}

fn parsed(text: &str) -> Result<DocumentMut, EditFault> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        EditFault::NotParsed { language: "TOML", line: before.matches('\n').count() + 1 }
    })
}

fn table_at<'d>(document: &'d mut DocumentMut, keys: &[&str]) -> Result<Option<&'d mut dyn TableLike>, EditFault> {
    let [key] = keys else { return Err(EditFault::Unsupported) };
    match document.get_mut(key) {
        None => Ok(None),
        Some(item) => item
            .as_table_like_mut()
            .map(Some)
            .ok_or_else(|| EditFault::NotAnObject((*key).to_owned())),
    }
}

/// The kinds of values that an entry of ours has. Others are compared as text.
fn json_of(item: &Item) -> Value {
    match item {
        Item::Value(TomlValue::String(text)) => Value::from(text.value().as_str()),
        Item::Value(TomlValue::Boolean(held)) => Value::from(*held.value()),
        Item::Value(TomlValue::Array(list)) => list.iter().map(|value| json_of(&Item::Value(value.clone()))).collect(),
        Item::Value(TomlValue::InlineTable(table)) => table
            .iter()
            .map(|(key, value)| (key.to_owned(), json_of(&Item::Value(value.clone()))))
            .collect(),
        other => Value::from(other.to_string()),
    }
}

fn toml_of(value: &Value) -> TomlValue {
    match value {
        Value::Null => TomlValue::from(""),
        Value::Bool(held) => TomlValue::from(*held),
        Value::Number(held) => TomlValue::from(held.as_f64().unwrap_or_default()),
        Value::String(held) => TomlValue::from(held.as_str()),
        Value::Array(held) => TomlValue::Array(held.iter().map(toml_of).collect()),
        Value::Object(held) => {
            TomlValue::InlineTable(held.iter().map(|(key, value)| (key.as_str(), toml_of(value))).collect())
        }
    }
}
