//! A form on a terminal: a line for each field, checked as it is typed.

use std::io::{self, BufRead};

use openfang_kernel::questions::{fits, typed};
use serde_json::{Map, Value, json};

/// How a person refuses to answer.
const HOW: &str = "(/decline refuses, /cancel or Ctrl-D gives up)";

enum Line {
    Text(String),
    Decline,
    Cancel,
}

/// Asks for each field of a form, or for a visit to a page; the answer is as MCP's elicitation has it.
pub(crate) fn fill_in(input: &mut impl BufRead, show: &dyn Fn(&str), intro: &str, params: &Value) -> io::Result<Value> {
    let message = params
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("the tool needs something from you");
    show(&format!("{intro}{message}\n{HOW}\n"));
    if let Some(url) = params.get("url").and_then(Value::as_str) {
        show(&format!("open {url}\nthen press Enter: "));
        return Ok(match read(input)? {
            Line::Text(_) => json!({ "action": "accept" }),
            Line::Decline => json!({ "action": "decline" }),
            Line::Cancel => json!({ "action": "cancel" }),
        });
    }
    let schema = params.get("requestedSchema");
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let mut content = Map::new();
    for (name, schema) in properties.into_iter().flatten() {
        match field(input, show, (name, schema), is_required(name))? {
            Ok(Some(value)) => drop(content.insert(name.clone(), value)),
            Ok(None) => {}
            Err(action) => return Ok(json!({ "action": action })),
        }
    }
    if content.is_empty() {
        show("press Enter to accept: ");
        match read(input)? {
            Line::Text(_) => {}
            Line::Decline => return Ok(json!({ "action": "decline" })),
            Line::Cancel => return Ok(json!({ "action": "cancel" })),
        }
    }
    Ok(json!({ "action": "accept", "content": content }))
}

/// Asks for one field until what is typed fits; none where it is left out. The error is how the person refused.
fn field(
    input: &mut impl BufRead,
    show: &dyn Fn(&str),
    (name, schema): (&str, &Value),
    is_required: bool,
) -> io::Result<Result<Option<Value>, &'static str>> {
    let default = schema.get("default");
    loop {
        show(&format!("{}: ", described(name, schema, is_required)));
        let text = match read(input)? {
            Line::Text(text) => text,
            Line::Decline => return Ok(Err("decline")),
            Line::Cancel => return Ok(Err("cancel")),
        };
        let value = match (text.is_empty(), default, is_required) {
            (true, Some(default), _) => default.clone(),
            (true, None, false) => return Ok(Ok(None)),
            (true, None, true) => {
                show(&format!("{name} is required\n"));
                continue;
            }
            (false, _, _) => typed(&text, Some(schema)),
        };
        if fits(&value, schema) {
            return Ok(Ok(Some(value)));
        }
        show(&format!("that is not what is asked for: {}\n", kind_of(schema)));
    }
}

fn described(name: &str, schema: &Value, is_required: bool) -> String {
    let says = schema.get("description").or_else(|| schema.get("title")).and_then(Value::as_str);
    let says = says.map(|says| format!(" - {says}")).unwrap_or_default();
    let default = match schema.get("default") {
        Some(default) => format!(", Enter for {default}"),
        None if is_required => String::new(),
        None => ", Enter leaves it out".to_owned(),
    };
    format!("{name}{says} ({}{default})", kind_of(schema))
}

fn kind_of(schema: &Value) -> String {
    let choices = schema.get("enum").and_then(Value::as_array);
    match (choices, schema.get("type").and_then(Value::as_str)) {
        (Some(choices), _) => {
            let choices: Vec<String> = choices.iter().map(word).collect();
            format!("one of {}", choices.join(", "))
        }
        (None, Some("boolean")) => "yes or no".to_owned(),
        (None, Some(kind)) => kind.to_owned(),
        (None, None) => "text".to_owned(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(Line::Cancel);
    }
    Ok(match line.trim() {
        "/decline" => Line::Decline,
        "/cancel" => Line::Cancel,
        text => Line::Text(text.to_owned()),
    })
}

/// What a form asks, for an error: its words and its fields.
pub(super) fn in_a_line(params: &Value) -> String {
    let message = params.get("message").and_then(Value::as_str).unwrap_or("something");
    if let Some(url) = params.get("url").and_then(Value::as_str) {
        return format!("{message} ({url})");
    }
    let properties = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
    let names: Vec<&str> = properties
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    if names.is_empty() { message.to_owned() } else { format!("{message} ({})", names.join(", ")) }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
