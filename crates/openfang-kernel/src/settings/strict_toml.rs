//! TOML that is taken literally: an unknown key or a wrong value is an error with file, line, key path and the nearest
//! known key. The known keys come from the type's own JSON Schema, so that there is no second list of them.

use openfang_types::nearest::nearest;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value as Schema;
use toml::de::{DeTable, DeValue};

/// Faults of wrong types that are looked for in one file.
const MOST_FAULTS: usize = 32;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it was written.
    pub place: ValueSource,
    /// The dotted key path; empty when the file as a whole is not TOML.
    pub key: String,
    /// What is wrong and what would be right.
    pub why: String,
}

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// In a file; the line counts from 1.
    File(PathBuf, usize),
    /// In an environment variable.
    Variable(String),
    /// In a command line flag.
    Flag(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.why)
    }
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// All that is wrong, one line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The schema of a type, with every part of it in place.
pub fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// A TOML file whose keys are known.
pub struct Document<'t> {
    path: &'t Path,
    text: &'t str,
    table: DeTable<'t>,
}

impl<'t> Document<'t> {
    /// Parses a file's text and checks its keys against the schema.
    pub fn parse(path: &'t Path, text: &'t str, schema: &Schema) -> Result<Self, Faults> {
        let (document, unknown) = Self::parse_any(path, text, schema)?;
        if unknown.is_empty() { Ok(document) } else { Err(Faults(unknown)) }
    }

    /// Parses a file's text. Keys that the schema does not know come as faults beside it.
    pub(crate) fn parse_any(path: &'t Path, text: &'t str, schema: &Schema) -> Result<(Self, Vec<Fault>), Faults> {
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            // The error's own display quotes the line, and a secret may stand in it.
            Err(error) => {
                let line = line_of(text, error.span().map_or(0, |span| span.start));
                let place = ValueSource::File(path.to_owned(), line);
                return Err(Faults(vec![Fault { place, key: String::new(), why: error.message().to_owned() }]));
            }
        };
        let document = Self { path, text, table };
        let mut faults = Vec::new();
        document.unknown_keys(schema, &document.table, "", &mut faults);
        Ok((document, faults))
    }

    /// The values, without their places.
    pub fn values(&self) -> Result<toml::Table, Faults> {
        toml::from_str(self.text).map_err(|error| Faults(vec![self.fault("", error.message().to_owned())]))
    }

    /// A fault at a key of this document.
    pub fn fault(&self, key: &str, why: String) -> Fault {
        let start = self.start_of(key).unwrap_or(0);
        Fault { place: ValueSource::File(self.path.to_owned(), line_of(self.text, start)), key: key.to_owned(), why }
    }

    fn unknown_keys(&self, schema: &Schema, table: &DeTable<'_>, path: &str, faults: &mut Vec<Fault>) {
        let Some(known) = properties(variant(schema, table)) else { return };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let full = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let Some(below) = known.get(name) else {
                let line = line_of(self.text, key.span().start);
                let why = unknown_key(name, known.keys().map(String::as_str));
                faults.push(Fault { place: ValueSource::File(self.path.to_owned(), line), key: full, why });
                continue;
            };
            match value.get_ref() {
                DeValue::Table(table) => self.unknown_keys(below, table, &full, faults),
                DeValue::Array(items) => {
                    let Some(item_schema) = below.get("items") else { continue };
                    for (index, item) in items.iter().enumerate() {
                        if let DeValue::Table(table) = item.get_ref() {
                            self.unknown_keys(item_schema, table, &format!("{full}[{index}]"), faults);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Where the key, or the nearest of its parents that is written down, begins.
    fn start_of(&self, key: &str) -> Option<usize> {
        let mut table = &self.table;
        let mut start = None;
        for step in key.split('.') {
            let (name, index) = step.split_once('[').map_or((step, None), |(name, index)| (name, Some(index)));
            let Some((found, value)) = table.iter().find(|(known, _)| known.get_ref().as_ref() == name) else { break };
            start = Some(found.span().start);
            let item = index.and_then(|index| index.trim_end_matches(']').parse::<usize>().ok());
            let value = match (value.get_ref(), item) {
                (DeValue::Array(items), Some(item)) => items.get(item),
                _ => Some(value),
            };
            match value.map(|value| (value.get_ref(), value.span().start)) {
                Some((DeValue::Table(below), begin)) => {
                    start = if item.is_some() { Some(begin) } else { start };
                    table = below;
                }
                _ => break,
            }
        }
        start
    }
}

/// Reads a whole file as `T`.
pub fn read<T: DeserializeOwned + JsonSchema>(path: &Path, text: &str) -> Result<T, Faults> {
    let document = Document::parse(path, text, &schema_of::<T>())?;
    typed(document.values()?).map_err(|(key, why)| Faults(vec![document.fault(&key, why)]))
}

/// Values as `T`, or the key path and what is wrong there.
pub fn typed<T: DeserializeOwned>(values: toml::Table) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(toml::Value::Table(values)).map_err(|error| {
        let key = error.path().to_string();
        let key = if key == "." { String::new() } else { key };
        (key, error.into_inner().message().to_owned())
    })
}

/// Values as `T`; else everything that is wrong with them, as far as one fault does not hide another.
pub(crate) fn typed_or_all<T: DeserializeOwned>(mut values: toml::Table) -> Result<T, Vec<(String, String)>> {
    let mut faults: Vec<(String, String)> = Vec::new();
    loop {
        match typed(values.clone()) {
            Ok(value) if faults.is_empty() => return Ok(value),
            Ok(_) => return Err(faults),
            Err((key, why)) => {
                // What lacks something because it was taken out below is no news.
                let is_news = !faults.iter().any(|(known, _)| known.starts_with(&key));
                if !is_news {
                    return Err(faults);
                }
                let is_gone = take_out(&mut values, &key);
                faults.push((key, why));
                if !is_gone || faults.len() >= MOST_FAULTS {
                    return Err(faults);
                }
            }
        }
    }
}

/// Takes a key out of the values, so that what else is wrong can be seen. Whether it was there.
pub(crate) fn take_out(values: &mut toml::Table, key: &str) -> bool {
    let mut table = values;
    let mut steps = key.split('.').peekable();
    while let Some(step) = steps.next() {
        let (name, index) = step.split_once('[').map_or((step, None), |(name, index)| (name, Some(index)));
        let is_last = steps.peek().is_none();
        if is_last {
            return table.remove(name).is_some();
        }
        let item = index.and_then(|index| index.trim_end_matches(']').parse::<usize>().ok());
        let below = match (table.get_mut(name), item) {
            (Some(toml::Value::Array(items)), Some(item)) => items.get_mut(item),
            (below, _) => below,
        };
        let Some(toml::Value::Table(below)) = below else { return false };
        table = below;
    }
    false
}

/// Of a schema with variants the one that the table's `type` names; any other schema is what it is.
fn variant<'s>(schema: &'s Schema, table: &DeTable<'_>) -> &'s Schema {
    let Some(variants) = schema.get("oneOf").and_then(Schema::as_array) else { return schema };
    let said = table.iter().find(|(key, _)| key.get_ref().as_ref() == "type");
    let said = said.and_then(|(_, value)| value.get_ref().as_str());
    let is_it = |variant: &&Schema| variant["properties"]["type"]["const"].as_str() == said;
    variants.iter().find(is_it).filter(|_| said.is_some()).unwrap_or(schema)
}

/// The known keys at a place of the schema.
pub fn properties(schema: &Schema) -> Option<&serde_json::Map<String, Schema>> {
    schema.get("properties")?.as_object()
}

/// Says which key was probably meant.
pub fn unknown_key<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("unknown key; did you mean {nearest}?"),
        None if known.is_empty() => "unknown key; no keys are known here".to_owned(),
        None => format!("unknown key; the known keys are {}", known.join(", ")),
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1
}
