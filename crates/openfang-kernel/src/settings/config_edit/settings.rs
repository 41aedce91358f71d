//! Single settings of an MCP server, set in the text. Everything else of the entry stays, comments included.

use openfang_types::config::{McpServerSettings, ToolPattern, ToolSelection};
use openfang_types::ids::ServerName;
use toml_edit::{Array, Decor, DocumentMut, InlineTable, Item, TableLike, Value};

use super::EditError;

/// The text with these settings of the server.
pub(super) fn set(text: &str, name: &ServerName, settings: &McpServerSettings) -> Result<String, EditError> {
    let has_returns = text.contains("\r\n");
    let wrong =
        |error: toml_edit::TomlError| EditError::Faulty(format!("the file is not valid TOML: {}", error.message()));
    let mut document: DocumentMut = text.replace("\r\n", "\n").parse().map_err(wrong)?;
    let entry = document.get_mut("mcp_servers").and_then(|servers| find(servers, name));
    let entry = entry.ok_or_else(|| EditError::Unknown(name.clone()))?;
    if let Some(enabled) = settings.enabled {
        put(entry, "enabled", (!enabled).then(|| Value::from(false)));
    }
    if let Some(tools) = &settings.tools {
        set_tools(entry, tools);
    }
    let edited = document.to_string();
    Ok(if has_returns { edited.replace('\n', "\r\n") } else { edited })
}

/// The entry of that name, under a header or in an array.
fn find<'d>(servers: &'d mut Item, name: &ServerName) -> Option<&'d mut dyn TableLike> {
    let is_it = |entry: &dyn TableLike| entry.get("name").and_then(Item::as_str) == Some(name.as_str());
    match servers {
        Item::ArrayOfTables(tables) => {
            tables.iter_mut().find(|table| is_it(*table)).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(Value::Array(entries)) => {
            let tables = entries.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.into_iter().find(|table| is_it(*table)).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(_) | Item::Table(_) | Item::None => None,
    }
}

/// Gives a key another value, or removes it. A comment behind the value stays.
fn put(table: &mut dyn TableLike, key: &str, value: Option<Value>) {
    match (table.get_mut(key), value) {
        (Some(Item::Value(held)), Some(mut value)) => {
            *value.decor_mut() = held.decor().clone();
            *held = value;
        }
        (_, Some(mut value)) => {
            if let Some(last) = last_value(table)
                && let Some(end) = blank_end(last.decor())
            {
                last.decor_mut().set_suffix("");
                *value.decor_mut() = Decor::new(" ", end);
            }
            table.insert(key, Item::Value(value));
        }
        (_, None) => {
            let removed = table.remove(key).and_then(|item| item.into_value().ok());
            let end = removed.and_then(|value| blank_end(value.decor()));
            if let (Some(end), Some(last)) = (end, last_value(table)) {
                last.decor_mut().set_suffix(end);
            }
        }
    }
}

/// The value at the end of a table. In an inline table, the space before the brace belongs to it.
fn last_value(table: &mut dyn TableLike) -> Option<&mut Value> {
    table.iter_mut().last().and_then(|(_, item)| item.as_value_mut())
}

/// The space behind a value, if there is nothing else.
fn blank_end(decor: &Decor) -> Option<String> {
    let end = decor.suffix().and_then(|end| end.as_str()).unwrap_or_default();
    (!end.is_empty() && end.trim().is_empty()).then(|| end.to_owned())
}

/// Changes the table of a selection where there is one; a new one is inline.
fn set_tools(entry: &mut dyn TableLike, tools: &ToolSelection) {
    let lists = [("include", &tools.include), ("exclude", &tools.exclude)];
    let values = lists.map(|(key, patterns)| (key, (!patterns.is_empty()).then(|| list(patterns))));
    if tools.is_everything() {
        return put(entry, "tools", None);
    }
    if let Some(held) = entry.get_mut("tools").and_then(Item::as_table_like_mut) {
        values.into_iter().for_each(|(key, value)| put(held, key, value));
        return;
    }
    let mut table = InlineTable::new();
    table.extend(values.into_iter().filter_map(|(key, value)| Some((key, value?))));
    put(entry, "tools", Some(Value::InlineTable(table)));
}

fn list(patterns: &[ToolPattern]) -> Value {
    Value::Array(patterns.iter().map(ToolPattern::as_str).collect::<Array>())
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
