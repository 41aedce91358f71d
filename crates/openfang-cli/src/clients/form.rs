//! What an entry looks like in the settings of a program.

use openfang_types::secret::Secret;
use serde_json::{Map, Value, json};

/// The format of a settings file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// JSON with comments: the keys that lead to the servers, and the members of an entry.
    Json { keys: &'static [&'static str], stdio: Stdio, remote: Remote },
    /// Tables `[mcp_servers.NAME]` of Codex.
    CodexToml,
    /// YAML is not edited: the snippet is printed.
    Print(Snippet),
}

/// The members of an entry that starts a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdio {
    Plain,
    /// With the member `"type": "stdio"`.
    Typed,
    /// With `"type": "local"` and all tools switched on.
    Local,
    /// With `"type": "local"` and one list for program and arguments.
    CommandList,
    /// With the member `"disabled": false`.
    WithDisabled,
}

/// The members of an entry that names a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remote {
    Url,
    /// With the member `"type": "http"`.
    TypedHttp,
    /// With `"type": "http"` and all tools switched on.
    HttpWithTools,
    ServerUrl,
    HttpUrl,
    /// With the member `"type": "remote"`.
    Typed,
    /// With the member `"type": "streamableHttp"`.
    StreamableHttp,
    /// The file cannot name a URL.
    Unsupported,
}

/// A snippet for a YAML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Snippet {
    Goose,
    Continue,
}

/// How a program reaches OpenFang.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    Stdio { command: String, args: Vec<String> },
    Http { url: String, key: Option<Secret> },
}

impl Form {
    /// The entry as the program expects it, or the reason why it cannot have one like this.
    pub(crate) fn entry(self, entry: &Entry) -> Result<Value, &'static str> {
        match (self, entry) {
            (Self::Json { stdio, .. }, Entry::Stdio { command, args }) => Ok(stdio.value(command, args)),
            (Self::CodexToml, Entry::Stdio { command, args }) => Ok(json!({ "command": command, "args": args })),
            (Self::Json { remote, .. }, Entry::Http { url, key }) => {
                remote.value(url, key.as_ref()).ok_or("its settings file takes no URLs; leave --http out")
            }
            (Self::CodexToml, Entry::Http { url, key }) => {
                let mut value = json!({ "url": url });
                if let Some(key) = key {
                    value["http_headers"] = headers(key);
                }
                Ok(value)
            }
            (Self::Print(_), _) => Err("its settings are YAML, which is not edited"),
        }
    }

    /// The keys that lead to the servers.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Json { keys, .. } => keys,
            Self::CodexToml => &["mcp_servers"],
            Self::Print(_) => &[],
        }
    }
}

impl Stdio {
    fn value(self, command: &str, args: &[String]) -> Value {
        let plain = json!({ "command": command, "args": args });
        match self {
            Self::Plain => plain,
            Self::Typed => before(json!({ "type": "stdio" }), plain),
            Self::Local => before(before(json!({ "type": "local" }), plain), json!({ "tools": ["*"] })),
            Self::CommandList => {
                let words: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words, "enabled": true })
            }
            Self::WithDisabled => before(plain, json!({ "disabled": false })),
        }
    }
}

impl Remote {
    fn value(self, url: &str, key: Option<&Secret>) -> Option<Value> {
        let value = match self {
            Self::Url => json!({ "url": url }),
            Self::TypedHttp => json!({ "type": "http", "url": url }),
            Self::HttpWithTools => json!({ "type": "http", "url": url, "tools": ["*"] }),
            Self::ServerUrl => json!({ "serverUrl": url }),
            Self::HttpUrl => json!({ "httpUrl": url }),
            Self::Typed => json!({ "type": "remote", "url": url, "enabled": true }),
            Self::StreamableHttp => json!({ "type": "streamableHttp", "url": url, "disabled": false }),
            Self::Unsupported => return None,
        };
        Some(match key {
            Some(key) => before(value, json!({ "headers": headers(key) })),
            None => value,
        })
    }
}

impl Snippet {
    /// The text to add to the file.
    pub(crate) fn text(self, name: &str, entry: &Entry) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        match (self, entry) {
            (Self::Goose, Entry::Stdio { command, args }) => format!(
                "extensions:\n  {name}:\n    name: {name}\n    type: stdio\n    cmd: {}\n    args: {}\n    enabled: true\n",
                quoted(command),
                json!(args)
            ),
            (Self::Goose, Entry::Http { url, .. }) => format!(
                "extensions:\n  {name}:\n    name: {name}\n    type: streamable_http\n    uri: {}\n    enabled: true\n",
                quoted(url)
            ),
            (Self::Continue, Entry::Stdio { command, args }) => {
                format!("mcpServers:\n  - name: {name}\n    command: {}\n    args: {}\n", quoted(command), json!(args))
            }
            (Self::Continue, Entry::Http { url, .. }) => {
                format!("mcpServers:\n  - name: {name}\n    type: streamable-http\n    url: {}\n", quoted(url))
            }
        }
    }
}

fn headers(key: &Secret) -> Value {
    json!({ "Authorization": format!("Bearer {}", key.expose()) })
}

/// The members of one object, and after them those of another.
fn before(first: Value, second: Value) -> Value {
    let members = [first, second].into_iter().filter_map(|value| match value {
        Value::Object(members) => Some(members),
        _ => None,
    });
    Value::Object(members.flatten().collect::<Map<String, Value>>())
}
