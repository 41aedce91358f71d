//! Parses `mcpServers`, `servers` and `context_servers`, which different programs use for the same list.

use std::collections::BTreeMap;
use std::path::Path;

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::secret::Secret;
use serde_json::{Map, Value};

use super::variables::Variables;
use super::{ForeignServer, ImportableServer, jsonc, relative_path, set_directory, set_tools, valid_name};
use crate::clients::Source;

/// Members without an equivalent here, and the remark about each.
const LEFT_OUT: [(&str, &str); 4] = [
    ("envFile", "the variables of its envFile are not imported"),
    ("headersHelper", "its headersHelper is not imported"),
    ("oauth", "its OAuth settings are not imported"),
    ("auth", "its auth settings are not imported"),
];

/// Reads the servers of a file.
pub(super) fn read(source: &Source, text: &str, home: Option<&Path>) -> Result<Vec<ForeignServer>, String> {
    let document = jsonc::parse(text)?;
    let mut found = Vec::new();
    let lists = ["mcpServers", "servers", "context_servers", "amp.mcpServers"]
        .into_iter()
        .filter_map(|key| document.get(key));
    let lists = lists.chain(document.pointer("/mcp/servers")).chain(of_project(&document, source));
    // opencode has its servers directly below `mcp`, each with a type.
    let typed = document.get("mcp").and_then(Value::as_object).into_iter().flatten();
    let typed = typed.filter(|(_, server)| server.get("type").is_some_and(Value::is_string));
    for (name, server) in lists.filter_map(Value::as_object).flatten().chain(typed) {
        let server = usable(name, server, Variables::new(home, source.project.as_deref()));
        found.push(ForeignServer { name: name.clone(), server });
    }
    Ok(found)
}

/// The user's own servers of a project, which Claude Code keeps in the user's file.
fn of_project<'d>(document: &'d Value, source: &Source) -> Option<&'d Value> {
    let project = source.project.as_ref()?.to_str()?;
    document.get("projects")?.get(project)?.get("mcpServers")
}

fn usable(name: &str, server: &Value, mut variables: Variables<'_>) -> Result<ImportableServer, String> {
    let server = server.as_object().ok_or("it is not an object")?;
    let is = |key: &str, value: bool| server.get(key).and_then(Value::as_bool) == Some(value);
    if is("disabled", true) || is("enabled", false) {
        return Err("it is disabled".to_owned());
    }
    // Zed once had the program in a table of its own.
    let program = server.get("command").and_then(Value::as_object);
    let command = program.map_or_else(|| server.get("command"), |program| program.get("path"));
    let program = program.unwrap_or(server);
    let words = texts(command.filter(|command| command.is_array()))?;
    let url = ["url", "serverUrl", "httpUrl"].into_iter().find_map(|key| server.get(key));
    let kind = ["type", "transport"].into_iter().find_map(|key| server.get(key)).and_then(Value::as_str);
    let kind = kind.map(|kind| kind.to_ascii_lowercase().replace(['-', '_'], ""));
    let transport = match (command, url, kind.as_deref()) {
        (Some(command), None, None | Some("stdio" | "local")) => McpTransportEntry::Stdio {
            command: variables.rewrite(&command_text(words.first(), command)?)?,
            args: words
                .iter()
                .skip(1)
                .chain(&texts(program.get("args"))?)
                .map(|arg| variables.rewrite(arg))
                .collect::<Result<_, _>>()?,
        },
        (None, Some(url), Some("sse")) => {
            McpTransportEntry::Sse { url: variables.rewrite(&text(url)?)?, headers: headers(server, &mut variables)? }
        }
        (None, Some(url), None | Some("http" | "streamablehttp" | "remote")) => {
            McpTransportEntry::Http { url: variables.rewrite(&text(url)?)?, headers: headers(server, &mut variables)? }
        }
        (None, None, _) if server.get("source").and_then(Value::as_str) == Some("extension") => {
            return Err("it belongs to an extension; add its command with `openfang mcp add`".to_owned());
        }
        (None, None, _) => return Err("it has no command and no url".to_owned()),
        (Some(_), Some(_), _) => return Err("it has a command and a url".to_owned()),
        _ => return Err("its type is not supported".to_owned()),
    };
    let mut entry = McpServerConfigEntry::new(valid_name(name).ok_or("its name is invalid")?, transport);
    if matches!(entry.transport, McpTransportEntry::Stdio { .. }) {
        entry.env = env(program, &mut variables)?;
        if let Some(cwd) = server.get("cwd").and_then(Value::as_str) {
            let cwd = variables.rewrite(cwd)?;
            set_directory(&mut entry, cwd, |remark| variables.remark(remark));
        }
        relative_path(&entry).into_iter().for_each(|remark| variables.remark(remark));
    }
    let listed = |keys: [&str; 2]| keys.into_iter().find_map(|key| server.get(key));
    let tools =
        (texts(listed(["enabledTools", "enabled_tools"]))?, texts(listed(["disabledTools", "disabled_tools"]))?);
    set_tools(&mut entry, tools, |remark| variables.remark(remark));
    for (key, remark) in LEFT_OUT {
        let means_something = |value: &Value| !(value.is_null() || value.as_array().is_some_and(Vec::is_empty));
        if server.get(key).is_some_and(means_something) {
            variables.remark(remark.to_owned());
        }
    }
    Ok(ImportableServer { entry, remarks: variables.into_remarks() })
}

fn env(program: &Map<String, Value>, variables: &mut Variables<'_>) -> Result<Vec<EnvEntry>, String> {
    let members = ["env", "environment"].into_iter().find_map(|key| program.get(key)?.as_object());
    let members = members.into_iter().flatten();
    // A variable that is null is not set.
    let set = members.filter(|(_, value)| !value.is_null());
    set.map(|(name, value)| Ok(EnvEntry::new(format!("{name}={}", variables.rewrite(&text(value)?)?))))
        .collect()
}

fn headers(server: &Map<String, Value>, variables: &mut Variables<'_>) -> Result<BTreeMap<String, Secret>, String> {
    let members = server.get("headers").and_then(Value::as_object).into_iter().flatten();
    members
        .map(|(name, value)| Ok((name.clone(), Secret::new(variables.rewrite(&text(value)?)?))))
        .collect()
}

/// A value as a string. Numbers and booleans are accepted too.
fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err("one of its values is not a string".to_owned()),
    }
}

/// The program: a text, or the first of a list. A number is a mistake and not a name.
fn command_text(first: Option<&String>, command: &Value) -> Result<String, String> {
    match (first, command) {
        (Some(first), _) => Ok(first.clone()),
        (None, Value::String(command)) => Ok(command.clone()),
        (None, Value::Array(_)) => Err("its command is an empty list".to_owned()),
        (None, _) => Err(format!("its command is not text: {command}")),
    }
}

fn texts(list: Option<&Value>) -> Result<Vec<String>, String> {
    list.and_then(Value::as_array).into_iter().flatten().map(text).collect()
}
