//! An entry as it may be shown. Values of variables and headers hide themselves; here are the places where people put
//! secrets that have no type of their own: arguments, URLs, and what a server says about itself.

use openfang_runtime::pipeline::Sensitive;
use openfang_runtime::pipeline::secrets::SHORTEST_SECRET;
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry, PiiConfig};
use openfang_types::secret::{REDACTED, Secret};

/// Parts of a name that say that its value is a secret.
const TELLING: [&str; 10] = [
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "passphrase",
];

/// An entry as it may be shown to whoever asked for it.
pub fn shown(entry: &McpServerConfigEntry) -> McpServerConfigEntry {
    match Sensitive::new([], &PiiConfig::default()) {
        Ok(sensitive) => Shown::new(&sensitive).entry(entry),
        // Nothing of our own shapes can be wrong; if it were, nothing would be shown.
        Err(_) => {
            let transport = McpTransportEntry::Stdio { command: REDACTED.to_owned(), args: Vec::new() };
            McpServerConfigEntry { transport, ..entry.clone() }
        }
    }
}

/// Knows what a secret looks like.
pub(super) struct Shown<'s> {
    sensitive: &'s Sensitive,
}

impl<'s> Shown<'s> {
    pub(super) const fn new(sensitive: &'s Sensitive) -> Self {
        Self { sensitive }
    }

    pub(super) fn entry(&self, entry: &McpServerConfigEntry) -> McpServerConfigEntry {
        let transport = match &entry.transport {
            McpTransportEntry::Stdio { command, args } => {
                McpTransportEntry::Stdio { command: self.word(command), args: self.args(args) }
            }
            McpTransportEntry::Sse { url: held, headers } => {
                McpTransportEntry::Sse { url: url(held), headers: headers.clone() }
            }
            McpTransportEntry::Http { url: held, headers } => {
                McpTransportEntry::Http { url: url(held), headers: headers.clone() }
            }
        };
        McpServerConfigEntry { transport, ..entry.clone() }
    }

    /// A line about a server, without what its entry keeps secret.
    pub(super) fn text(&self, entry: &McpServerConfigEntry, line: &str) -> String {
        let mut line = self.sensitive.redacted(line).into_owned();
        let mut hide = |secret: &str, instead: &str| {
            if secret.len() >= SHORTEST_SECRET && secret != instead && line.contains(secret) {
                line = line.replace(secret, instead);
            }
        };
        entry
            .env
            .iter()
            .filter_map(|variable| variable.value())
            .for_each(|value| hide(value, REDACTED));
        match &entry.transport {
            McpTransportEntry::Stdio { args, .. } => {
                args.iter().zip(self.args(args)).for_each(|(held, shown)| hide(held, &shown));
            }
            McpTransportEntry::Sse { url: held, headers } | McpTransportEntry::Http { url: held, headers } => {
                hide(held, &url(held));
                headers.values().map(Secret::expose).for_each(|value| {
                    hide(value, REDACTED);
                    // The scheme of a credential is no secret, and the rest of it is one by itself.
                    hide(value.split_once(' ').map_or(value, |(_, credential)| credential), REDACTED);
                });
            }
        }
        line
    }

    fn args(&self, args: &[String]) -> Vec<String> {
        let mut is_value_of_secret = false;
        let shown = args.iter().map(|arg| {
            let is_flag = arg.starts_with('-');
            let hidden = is_value_of_secret && !is_flag && !is_placeholder(arg);
            is_value_of_secret = is_flag && !arg.contains('=') && tells(arg);
            if hidden { REDACTED.to_owned() } else { self.word(arg) }
        });
        shown.collect()
    }

    /// `--token=x`, `TOKEN=x`, `Authorization: x`, a URL, or a text that looks like a secret.
    fn word(&self, word: &str) -> String {
        if let Some((name, value)) = word.split_once(['=', ':'])
            && !value.starts_with("//")
            && !is_placeholder(value.trim())
            && (tells(name) || self.sensitive.looks_secret(value))
        {
            return format!("{}{REDACTED}", &word[..=name.len()]);
        }
        if self.sensitive.looks_secret(word) {
            return REDACTED.to_owned();
        }
        if word.contains("://") { url(word) } else { word.to_owned() }
    }
}

/// Whether a name says that its value is a secret.
fn tells(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    name.ends_with("key") || name == "auth" || name == "pat" || TELLING.iter().any(|part| name.contains(part))
}

/// `${VAR}` stands for a secret and is none.
fn is_placeholder(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['{', '}']))
}

/// A URL without user and password and without the values of its query. It need not be one that parses.
fn url(text: &str) -> String {
    let (place, query) = text.split_once('?').map_or((text, None), |(place, query)| (place, Some(query)));
    let mut shown = match place.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find(['/', '#']).unwrap_or(rest.len()));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => place.to_owned(),
    };
    if let Some(query) = query {
        let pair = |pair: &str| match pair.split_once('=') {
            Some((_, value)) if is_placeholder(value) => pair.to_owned(),
            Some((name, _)) => format!("{name}={REDACTED}"),
            None => REDACTED.to_owned(),
        };
        let pairs: Vec<String> = query.split('&').map(pair).collect();
        shown.push('?');
        shown.push_str(&pairs.join("&"));
    }
    shown
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
