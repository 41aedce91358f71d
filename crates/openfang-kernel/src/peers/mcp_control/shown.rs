//! An entry as it may be shown. Values of variables and headers hide themselves; here are the places where people put
//! secrets that have no type of their own: arguments, URLs, and what a server says about itself.

use openfang_runtime::pipeline::Sensitive;
use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry, PiiConfig};
use openfang_types::limits::CHILD_SECRET_MIN_BYTES;
use openfang_types::secret::{REDACTED, Secret};

use super::harmless::{is_harmless, is_plain_segment, is_variable_name, tells, variable_tells};

/// Parts of a name that say that its value is run, or decides what runs.
const RUNS: [&str; 22] = [
    "ASKPASS", "COMMAND", "CMD", "HELPER", "PROGRAM", "EXEC", "SCRIPT", "SHELL", "EDITOR", "PAGER", "BROWSER",
    "PLUGIN", "MODULE", "LOAD", "REQUIRE", "PACKAGE", "CONFIG", "OPTIONS", "OPTS", "ARGS", "PATH", "FILE",
];

/// An entry as it may be shown to whoever asked for it.
pub fn shown(entry: &McpServerConfigEntry) -> McpServerConfigEntry {
    match Sensitive::new([], &PiiConfig::default()) {
        Ok(sensitive) => EntryPreview::new(&sensitive).entry(entry),
        // Nothing of our own shapes can be wrong; if it were, nothing would be shown.
        Err(_) => {
            let transport = McpTransportEntry::Stdio { command: REDACTED.to_owned(), args: Vec::new() };
            McpServerConfigEntry { transport, ..entry.clone() }
        }
    }
}

/// An entry that somebody else wrote, before it is taken over: as it may be shown, and what the server is given beside its
/// command line or URL, a line each. What runs and which variables are sent is seen. Of a literal secret its name and its
/// length are seen.
pub fn preview(entry: &McpServerConfigEntry) -> (McpServerConfigEntry, Vec<String>) {
    match Sensitive::new([], &PiiConfig::default()) {
        Ok(sensitive) => {
            let shown = EntryPreview::preview(&sensitive);
            (shown.entry(entry), shown.given(entry))
        }
        Err(_) => (shown(entry), Vec::new()),
    }
}

/// Knows what a secret looks like.
pub(super) struct EntryPreview<'s> {
    sensitive: &'s Sensitive,
    /// Whether what runs and what is sent must be seen: then only the values of named secrets are hidden.
    is_preview: bool,
}

impl<'s> EntryPreview<'s> {
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
                let command = if self.is_preview { command.clone() } else { self.word(command) };
                McpTransportEntry::Stdio { command, args: self.args(args) }
            }
            McpTransportEntry::Sse { url: held, headers } => {
                McpTransportEntry::Sse { url: self.url(held, UrlUse::Connected), headers: headers.clone() }
            }
            McpTransportEntry::Http { url: held, headers } => {
                McpTransportEntry::Http { url: self.url(held, UrlUse::Connected), headers: headers.clone() }
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
                hide(held, &self.url(held, UrlUse::Connected));
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
        if self.is_preview {
            return args.iter().map(|arg| self.previewed(arg)).collect();
        }
        let mut is_value_of_secret = false;
        let shown = args.iter().map(|arg| {
            let is_flag = arg.starts_with('-');
            let hidden = is_value_of_secret && !is_flag;
            is_value_of_secret = is_flag && !arg.contains('=') && tells(arg);
            if hidden { self.masked(arg) } else { self.word(arg) }
        });
        shown.collect()
    }

    /// `--token=x`, `TOKEN=x`, `Authorization: x`, a URL, or a text that looks like a secret.
    fn word(&self, word: &str) -> String {
        if let Some((name, value)) = word.split_once(['=', ':'])
            && !value.starts_with("//")
            && !is_placeholder(value.trim())
            && (tells(name)
                || self.sensitive.looks_secret(value)
                || (is_variable_name(name) && !is_harmless(name, value.trim())))
        {
            return format!("{}{}", &word[..=name.len()], self.masked(value));
        }
        if self.sensitive.looks_secret(word) {
            return REDACTED.to_owned();
        }
        if word.contains("://") { self.url(word, UrlUse::Connected) } else { word.to_owned() }
    }

    /// A word of a command line that somebody else wrote. It may be the program or the package that runs, so it is seen; only
    /// the value of `NAME=value` or `Name: value` is hidden, where the name says that it is a secret.
    fn previewed(&self, word: &str) -> String {
        let pair = word.split_once('=').filter(|(_, value)| !value.starts_with('='));
        let pair = pair.or_else(|| word.split_once(": ")).filter(|(name, _)| !name.contains(' '));
        if let Some((name, value)) = pair
            && (tells(name) || (is_variable_name(name) && variable_tells(name)))
            && !decides_what_runs(name)
            && !is_placeholder(value.trim())
            && !is_acted_on(value)
        {
            return format!("{}{}", &word[..word.len() - value.len()], self.masked(value));
        }
        if word.contains("://") { self.url(word, UrlUse::Word) } else { word.to_owned() }
    }

    /// What a server is given beside its command line or URL, a line each.
    pub(super) fn given(&self, entry: &McpServerConfigEntry) -> Vec<String> {
        let variable = |variable: &EnvEntry| match variable.value() {
            None => format!("env {}", variable.name()),
            Some(value) => format!("env {}={}", variable.name(), self.value(entry, variable.name(), value)),
        };
        let header = |(name, value): (&String, &Secret)| format!("header {name}: {}", self.masked(value.expose()));
        let headers = match &entry.transport {
            McpTransportEntry::Stdio { .. } => None,
            McpTransportEntry::Sse { headers, .. } | McpTransportEntry::Http { headers, .. } => Some(headers),
        };
        let directory = entry.cwd.iter().map(|cwd| format!("directory {cwd}"));
        let headers = headers.into_iter().flatten().map(header);
        directory.chain(entry.env.iter().map(variable)).chain(headers).collect()
    }

    /// The value of a variable in a preview.
    fn value(&self, entry: &McpServerConfigEntry, name: &str, value: &str) -> String {
        let may_run = decides_what_runs(name) || is_acted_on(value) || is_used_by(entry, name);
        if !may_run && (variable_tells(name) || self.sensitive.looks_secret(value)) {
            return self.masked(value);
        }
        if value.contains("://") { self.url(value, UrlUse::Word) } else { value.to_owned() }
    }

    /// A secret as it is shown: which variables are in it is seen, whatever else it says is not.
    fn masked(&self, secret: &str) -> String {
        let mut shown = String::new();
        let literal = |text: &str, shown: &mut String| {
            let (scheme, hidden) = match text.trim_start().split_once(' ') {
                Some((scheme, rest)) if is_scheme(scheme) => (&text[..text.len() - rest.len()], rest),
                Some(_) | None => ("", text),
            };
            match hidden.trim() {
                "" => shown.push_str(text),
                word if is_scheme(word) => shown.push_str(text),
                _ if self.is_preview => {
                    let count = hidden.trim().chars().count();
                    let unit = if count == 1 { "character" } else { "characters" };
                    shown.push_str(&format!("{scheme}[redacted: {count} {unit}]"));
                }
                _ => shown.push_str(REDACTED),
            }
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

    /// A URL without user and password, without the values of its query and without secrets in its path. It need not be one
    /// that parses.
    fn url(&self, text: &str, place: UrlUse) -> String {
        let (located, query) = text.split_once('?').map_or((text, None), |(located, query)| (located, Some(query)));
        let mut shown = match located.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_at(rest.find(['/', '#']).unwrap_or(rest.len()));
                let host = match authority.rsplit_once('@') {
                    // Which of our variables are sent is seen, and in a preview that there is a login.
                    Some((login, host)) if self.is_preview || login.contains("${") => {
                        format!("{}@{host}", self.masked(login))
                    }
                    Some((_, host)) => host.to_owned(),
                    None => authority.to_owned(),
                };
                format!("{scheme}://{host}{}", self.path(path, place))
            }
            None => located.to_owned(),
        };
        if let Some(query) = query {
            let pair = |pair: &str| match pair.split_once('=') {
                // What is fetched may depend on it.
                Some((name, _)) if place == UrlUse::Word && !tells(name) => pair.to_owned(),
                None if place == UrlUse::Word => pair.to_owned(),
                Some((name, value)) => format!("{name}={}", self.masked(value)),
                None => self.masked(pair),
            };
            let pairs: Vec<String> = query.split('&').map(pair).collect();
            shown.push('?');
            shown.push_str(&pairs.join("&"));
        }
        shown
    }

    fn path(&self, path: &str, place: UrlUse) -> String {
        let segment = |segment: &str| match place {
            UrlUse::Connected if !segment.contains("${") && !is_plain_segment(segment) => self.masked(segment),
            UrlUse::Connected | UrlUse::Word => segment.to_owned(),
        };
        path.split('/').map(segment).collect::<Vec<_>>().join("/")
    }
}

/// Where a URL stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UrlUse {
    /// It is connected to.
    Connected,
    /// It is a word of a command line that somebody else wrote: what it leads to may be run.
    Word,
}

/// Whether the value of this name is run, or decides what runs.
fn decides_what_runs(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    RUNS.iter().any(|part| upper.contains(part)) || upper.split(['_', '-', '.']).any(|word| word == "HOOK")
}

/// Whether the command line of an entry uses a variable, so that its value may be run.
fn is_used_by(entry: &McpServerConfigEntry, name: &str) -> bool {
    let uses = |word: &str| {
        [format!("${name}"), format!("${{{name}"), format!("%{name}%")]
            .iter()
            .any(|use_| word.contains(&**use_))
    };
    match &entry.transport {
        McpTransportEntry::Stdio { command, args } => uses(command) || args.iter().any(|arg| uses(arg)),
        McpTransportEntry::Sse { .. } | McpTransportEntry::Http { .. } => false,
    }
}

/// Whether a value is more than a secret: what a shell would act on, or what names a file.
fn is_acted_on(value: &str) -> bool {
    let is_path = value.starts_with(['/', '.', '~', '\\']);
    let is_of_shell = |letter: char| letter.is_control() || " ;|&<>`()'\"\\*?#!$".contains(letter);
    let value = value
        .split_once(' ')
        .filter(|(scheme, _)| is_scheme(scheme))
        .map_or(value, |(_, value)| value);
    is_path || without_variables(value).contains(is_of_shell)
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

/// A text without its `${VAR}`.
fn without_variables(text: &str) -> String {
    let (first, rest) = text.split_once("${").unwrap_or((text, ""));
    let others = rest.split("${").map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    std::iter::once(first).chain(others).collect()
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
