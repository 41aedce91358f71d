//! Published servers as entries: pinned, complete, and without what a stranger must not decide.

use super::*;
use serde_json::{Value, json};

fn made(document: &Value, given: &[(&str, &str)]) -> Result<NewEntry, String> {
    let mut whole = json!({"name": "io.github.ada/box", "version": "1.0.0"});
    whole.as_object_mut().unwrap().extend(document.as_object().unwrap().clone());
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    new_entry(&serde_json::from_value(whole).unwrap(), "box".parse().unwrap(), &given)
}

fn words(entry: &McpServerConfigEntry) -> Vec<String> {
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => [std::slice::from_ref(command), args].concat(),
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => vec![url.clone()],
    }
}

fn package(kind: &str, identifier: &str) -> Value {
    json!({"registryType": kind, "identifier": identifier, "version": "1.2.3", "transport": {"type": "stdio"}})
}

#[test]
fn packages_of_each_kind_become_commands_with_their_version() {
    let rows = [
        (package("npm", "@ada/box"), "npx -y @ada/box@1.2.3"),
        (package("pypi", "ada-box"), "uvx ada-box==1.2.3"),
        (package("oci", "docker.io/ada/box"), "docker run -i --rm docker.io/ada/box:1.2.3"),
        (package("oci", "docker.io/ada/box:1.0"), "docker run -i --rm docker.io/ada/box:1.0"),
    ];
    for (package, expected) in rows {
        let made = made(&json!({"packages": [package]}), &[]).unwrap();
        assert_eq!(words(&made.entry).join(" "), expected);
        assert!(made.missing.is_empty());
    }
}

#[test]
fn needed_values_are_asked_for_and_defaults_and_given_ones_are_not() {
    let mut npm = package("npm", "box");
    npm["environmentVariables"] = json!([
        {"name": "API_TOKEN", "description": "a token", "isRequired": true, "isSecret": true},
        {"name": "LEVEL", "default": "info"},
        {"name": "OPTIONAL"},
    ]);
    npm["packageArguments"] = json!([
        {"type": "positional", "valueHint": "directory", "isRequired": true},
        {"type": "named", "name": "--mode", "value": "fast"},
        {"type": "named", "name": "--unused"},
    ]);
    let document = json!({"packages": [npm]});

    let open = made(&document, &[]).unwrap();
    let names: Vec<(&str, bool)> = open.missing.iter().map(|one| (one.name.as_str(), one.is_secret)).collect();
    assert_eq!(names, [("directory", false), ("API_TOKEN", true)]);
    let whole = made(&document, &[("directory", "/srv"), ("API_TOKEN", "${secret:box.API_TOKEN}")]).unwrap();

    assert!(whole.missing.is_empty());
    assert_eq!(words(&whole.entry).join(" "), "npx -y box@1.2.3 /srv --mode fast");
    let env: Vec<&str> = whole.entry.env.iter().map(EnvEntry::expose).collect();
    assert_eq!(env, ["API_TOKEN=${secret:box.API_TOKEN}", "LEVEL=info"]);
}

#[test]
fn what_a_stranger_must_not_decide_is_refused() {
    let with = |member: &str, value: Value| {
        let mut npm = package("npm", "box");
        npm[member] = value;
        json!({"packages": [npm]})
    };
    let variable = |name: &str| with("environmentVariables", json!([{"name": name, "value": "x"}]));
    let argument = |value: &str| with("packageArguments", json!([{"type": "positional", "value": value}]));
    let mut open = package("oci", "ada/box");
    open["runtimeArguments"] = json!([{"type": "named", "name": "-v", "value": "/:/host"}]);
    let mut socket = package("oci", "ada/box");
    socket["runtimeArguments"] = json!([{"type": "positional", "value": "--privileged"}]);
    let rows = [
        (variable("LD_PRELOAD"), "decides how programs start"),
        (variable("NODE_OPTIONS"), "decides how programs start"),
        (variable("PYTHONPATH"), "decides how programs start"),
        (variable("path"), "decides how programs start"),
        (variable("OPENFANG_API_KEY"), "decides how programs start"),
        (argument("${HOME}"), "variables or secrets of this machine"),
        (argument("${secret:TOKEN}"), "variables or secrets of this machine"),
        (argument("a\u{1b}[31m"), "control characters"),
        (with("version", json!("latest")), "no fixed version"),
        (with("identifier", json!("--eval")), "no valid name"),
        (with("registryType", json!("mcpb")), "packages of type mcpb are not supported"),
        (with("transport", json!({"type": "sse"})), "not served over standard input"),
        (json!({"packages": [open]}), "access to this machine"),
        (json!({"packages": [socket]}), "access to this machine"),
        (json!({}), "no packages and no remotes"),
    ];
    for (document, expected) in rows {
        let refused = made(&document, &[]).unwrap_err();
        assert!(refused.contains(expected), "{document}: {refused}");
    }
}

#[test]
fn a_remote_is_used_where_there_is_no_package() {
    let header = json!({"name": "Authorization", "isRequired": true, "isSecret": true});
    let remotes = json!([{"type": "streamable-http", "url": "https://box.example/mcp", "headers": [header]}]);

    let made = made(&json!({"packages": [package("mcpb", "x")], "remotes": remotes}), &[]).unwrap();

    assert_eq!(words(&made.entry), ["https://box.example/mcp"]);
    assert_eq!(made.missing[0].name, "Authorization");
}
