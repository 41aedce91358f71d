//! Reads the official protocol buffer files well enough to check a JSON document: no unknown member, every type and
//! enum as declared, at most one member of each `oneof`, and every required member present.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

pub(in crate::dialect) static V10: LazyLock<Proto> =
    LazyLock::new(|| Proto::read(include_str!("../../../../../tests/schemas/a2a/v1.0.1.proto")));

/// Includes the two members that the SDKs added to their copies of the file.
pub(in crate::dialect) static V03: LazyLock<Proto> = LazyLock::new(|| {
    let mut proto = Proto::read(include_str!("../../../../../tests/schemas/a2a/v0.3.0.proto"));
    proto
        .messages
        .get_mut("Part")
        .unwrap()
        .push(Field::plain("metadata", "google.protobuf.Struct"));
    proto.messages.get_mut("FilePart").unwrap().push(Field::plain("name", "string"));
    proto
});

pub(in crate::dialect) struct Proto {
    messages: BTreeMap<String, Vec<Field>>,
    enums: BTreeMap<String, Vec<String>>,
}

struct Field {
    name: String,
    of: String,
    repeated: bool,
    required: bool,
    oneof: Option<String>,
}

impl Field {
    fn plain(name: &str, of: &str) -> Self {
        Self { name: name.into(), of: of.into(), repeated: false, required: false, oneof: None }
    }

    /// `repeated Part parts = 5 [(google.api.field_behavior) = REQUIRED]`.
    fn read(statement: &str, oneof: Option<&str>) -> Self {
        let (declaration, rest) = statement.split_once('=').unwrap();
        let words: Vec<&str> = declaration.split_whitespace().collect();
        let (of, name) = match words.as_slice() {
            ["repeated" | "optional", of, name] | [of, name] => (*of, *name),
            ["map<string,", _, name] => ("map", *name),
            other => panic!("{other:?}"),
        };
        let said = rest
            .split_once("json_name = \"")
            .map(|(_, name)| name.split('"').next().unwrap().to_owned());
        Self {
            name: said.unwrap_or_else(|| camel(name)),
            of: of.to_owned(),
            repeated: words.first() == Some(&"repeated"),
            required: rest.contains("REQUIRED"),
            oneof: oneof.map(str::to_owned),
        }
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

impl Proto {
    fn read(text: &str) -> Self {
        let code: String = text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
        let mut proto = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        let mut open: Vec<(String, String)> = Vec::new();
        let mut statement = String::new();
        for letter in code.chars() {
            match letter {
                '{' => {
                    let mut words = statement.split_whitespace();
                    let kind = words.next().unwrap_or_default().to_owned();
                    open.push((kind, words.next().unwrap_or_default().to_owned()));
                    statement.clear();
                }
                '}' => {
                    open.pop();
                    statement.clear();
                }
                ';' => {
                    proto.statement(&open, statement.trim());
                    statement.clear();
                }
                other => statement.push(other),
            }
        }
        proto
    }

    fn statement(&mut self, open: &[(String, String)], statement: &str) {
        let kinds: Vec<(&str, &str)> = open.iter().map(|(kind, name)| (kind.as_str(), name.as_str())).collect();
        if statement.starts_with("reserved") || statement.starts_with("option") && !statement.starts_with("optional") {
            return;
        }
        match kinds.as_slice() {
            [("message", name)] => {
                self.messages.entry((*name).to_owned()).or_default().push(Field::read(statement, None));
            }
            [("message", name), ("oneof", oneof)] => {
                self.messages
                    .entry((*name).to_owned())
                    .or_default()
                    .push(Field::read(statement, Some(oneof)));
            }
            [("enum", name)] => {
                let word = statement.split_whitespace().next().unwrap();
                self.enums.entry((*name).to_owned()).or_default().push(word.to_owned());
            }
            _ => {}
        }
    }

    /// Whether a document is the JSON form of a message.
    pub(in crate::dialect) fn holds(&self, message: &str, document: &Value) {
        if let Err(why) = self.check(message, document) {
            panic!("{message}: {why} in {document:#}");
        }
    }

    fn check(&self, of: &str, value: &Value) -> Result<(), String> {
        if let Some(words) = self.enums.get(of) {
            let known = value.as_str().is_some_and(|word| words.iter().any(|known| known == word));
            return known.then_some(()).ok_or_else(|| format!("{value} is no {of}"));
        }
        if let Some(fields) = self.messages.get(of) {
            return self.members(fields, value).map_err(|why| format!("{of}.{why}"));
        }
        let fits = match of {
            "string" | "bytes" | "google.protobuf.Timestamp" => value.is_string(),
            "bool" => value.is_boolean(),
            "int32" => value.is_i64(),
            "google.protobuf.Struct" => value.is_object(),
            "google.protobuf.Value" => true,
            other => return Err(format!("{other} is not declared")),
        };
        fits.then_some(()).ok_or_else(|| format!("{value} is no {of}"))
    }

    fn members(&self, fields: &[Field], value: &Value) -> Result<(), String> {
        let members = value.as_object().ok_or("no object")?;
        let mut taken = Vec::new();
        for (key, value) in members {
            let field = fields
                .iter()
                .find(|field| &field.name == key)
                .ok_or_else(|| format!("{key} is unknown"))?;
            if let Some(oneof) = &field.oneof {
                if taken.contains(&oneof) {
                    return Err(format!("{oneof} has more than one"));
                }
                taken.push(oneof);
            }
            let values = if field.repeated { value.as_array().ok_or("no list")?.iter().collect() } else { vec![value] };
            for value in values {
                self.check(&field.of, value).map_err(|why| format!("{key}: {why}"))?;
            }
        }
        match fields.iter().find(|field| field.required && !members.contains_key(&field.name)) {
            Some(missing) => Err(format!("{} is missing", missing.name)),
            None => Ok(()),
        }
    }
}
