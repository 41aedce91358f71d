//! An entry as it may be shown. Values of variables and headers hide themselves; here are the places where people put
//! secrets that have no type of their own: arguments, URLs, and what a server says about itself.

use openfang_runtime::pipeline::Sensitive;
use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry, PiiConfig};
use openfang_types::limits::CHILD_SECRET_MIN_BYTES;
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

/// An entry that somebody else wrote, before it is taken over: as it may be shown, and what the server is given beside its
/// command line or URL, a line each. What runs and which variables are sent is seen; literal secrets are not.
pub fn preview(entry: &McpServerConfigEntry) -> (McpServerConfigEntry, Vec<String>) {
    match Sensitive::new([], &PiiConfig::default()) {
        Ok(sensitive) => {
            let shown = Shown::preview(&sensitive);
            (shown.entry(entry), shown.given(entry))
        }
        Err(_) => (shown(entry), Vec::new()),
    }
}

/// Knows what a secret looks like.
pub(super) struct Shown<'s> {
    sensitive: &'s Sensitive,
    /// Whether what runs and what is sent must be seen: then only what can be nothing but a secret is hidden.
    is_preview: bool,
}

impl<'s> Shown<'s> {
    pub(super) const fn new(sensitive: &'s Sensitive) -> Self {
        Self { sensitive, is_preview: false }
    }

    /// For an entry that somebody else wrote.
    pub(super) const fn preview(sensitive: &'s Sensitive) -> Self {
        Self { sensitive, is_preview: true }
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
            if secret.len() >= CHILD_SECRET_MIN_BYTES && secret != instead && line.contains(secret) {
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
            let hidden = is_value_of_secret && !is_flag && self.hides(arg);
            is_value_of_secret = is_flag && !arg.contains('=') && tells(arg);
            if hidden { masked(arg) } else { self.word(arg) }
        });
        shown.collect()
    }

    /// `--token=x`, `TOKEN=x`, `Authorization: x`, a URL, or a text that looks like a secret.
    fn word(&self, word: &str) -> String {
        if let Some((name, value)) = word.split_once(['=', ':'])
            && !value.starts_with("//")
            && !is_placeholder(value.trim())
            && (tells(name) || self.sensitive.looks_secret(value))
            && self.hides(value.trim())
        {
            return format!("{}{}", &word[..=name.len()], masked(value));
        }
        if self.sensitive.looks_secret(word) && self.hides(word) {
            return REDACTED.to_owned();
        }
        if word.contains("://") { url(word) } else { word.to_owned() }
    }

    /// Whether a value that should be a secret is hidden. In a preview a command must not hide as one: what a shell would
    /// act on and what names a file is seen.
    fn hides(&self, value: &str) -> bool {
        let is_path = value.starts_with(['/', '.', '~', '\\']);
        let is_acted_on = |letter: char| letter.is_control() || " ;|&<>`()'\"\\*?#!".contains(letter);
        let value = value
            .split_once(' ')
            .filter(|(scheme, _)| is_scheme(scheme))
            .map_or(value, |(_, value)| value);
        !self.is_preview || !(is_path || without_variables(value).contains(is_acted_on))
    }

    /// What a server is given beside its command line or URL, a line each.
    pub(super) fn given(&self, entry: &McpServerConfigEntry) -> Vec<String> {
        let variable = |variable: &EnvEntry| match variable.value() {
            None => format!("env {}", variable.name()),
            Some(value) if variable_tells(variable.name()) && self.hides(value) => {
                format!("env {}={}", variable.name(), masked(value))
            }
            Some(value) => format!("env {}={}", variable.name(), self.word(value)),
        };
        let header = |(name, value): (&String, &Secret)| format!("header {name}: {}", masked(value.expose()));
        let headers = match &entry.transport {
            McpTransportEntry::Stdio { .. } => None,
            McpTransportEntry::Sse { headers, .. } | McpTransportEntry::Http { headers, .. } => Some(headers),
        };
        entry.env.iter().map(variable).chain(headers.into_iter().flatten().map(header)).collect()
    }
}

/// Whether a name says that its value is a secret.
pub(crate) fn tells(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    name.ends_with("key") || name == "auth" || name == "pat" || TELLING.iter().any(|part| name.contains(part))
}

/// Whether a variable of this name holds a secret. There is more of that among variables than among arguments.
pub(crate) fn variable_tells(name: &str) -> bool {
    const WORDS: [&str; 3] = ["KEY", "PASS", "AUTH"];
    let upper = name.to_ascii_uppercase();
    tells(name) || WORDS.iter().any(|word| upper.contains(word))
}

/// `${VAR}` stands for a secret and is none.
fn is_placeholder(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['{', '}']))
}

/// What stands before a credential in a header.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "apikey"].contains(&word.to_ascii_lowercase().as_str())
}

/// A secret as it is shown: which variables are in it is seen, whatever else it says is not.
fn masked(secret: &str) -> String {
    if !secret.contains("${") {
        return REDACTED.to_owned();
    }
    let mut shown = String::new();
    let literal = |text: &str, shown: &mut String| match text.trim() {
        "" => shown.push_str(text),
        word if is_scheme(word) => shown.push_str(text),
        _ => shown.push_str(REDACTED),
    };
    let mut rest = secret;
    while let Some((before, reference)) = rest.split_once("${") {
        let Some((name, after)) = reference.split_once('}') else { break };
        literal(before, &mut shown);
        shown.extend(["${", name, "}"]);
        rest = after;
    }
    literal(rest, &mut shown);
    shown
}

/// A text without its `${VAR}`.
fn without_variables(text: &str) -> String {
    let (first, rest) = text.split_once("${").unwrap_or((text, ""));
    let others = rest.split("${").map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    std::iter::once(first).chain(others).collect()
}

/// A URL without user and password and without the values of its query. It need not be one that parses.
fn url(text: &str) -> String {
    let (place, query) = text.split_once('?').map_or((text, None), |(place, query)| (place, Some(query)));
    let mut shown = match place.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find(['/', '#']).unwrap_or(rest.len()));
            let host = match authority.rsplit_once('@') {
                // Which of our variables are sent is seen.
                Some((login, host)) if login.contains("${") => format!("{}@{host}", masked(login)),
                Some((_, host)) => host.to_owned(),
                None => authority.to_owned(),
            };
            format!("{scheme}://{host}{path}")
        }
        None => place.to_owned(),
    };
    if let Some(query) = query {
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) => format!("{name}={}", masked(value)),
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
