//! The secrets that a server was given, filled in: values of its headers and variables, arguments that say `NAME=value` or
//! follow a name that says so, every `${VAR}`, and what its URL says beside the place. What is harmless by name or shape is
//! left, because answers need it. Together with our own the secrets are taken out of whatever the server says.

use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openfang_egress::process::Surroundings;
use openfang_types::config::{McpServerConfigEntry, McpTransportEntry};
use openfang_types::redact::Redactor;

use crate::peers::mcp_control::harmless::{
    is_harmless_value, is_known_name, is_plain_segment, is_variable_name, tells, variable_tells,
};

/// Headers whose values say nothing that is secret.
const OPEN_HEADERS: [&str; 4] = ["accept", "accept-language", "content-type", "user-agent"];
/// Letters alone are a word up to this length, as `postgres` and `password` are, and a word is needed in answers.
const LONGEST_WORD: usize = 11;
/// A value of a query is a secret from this length on, whatever its name.
const LONG_VALUE: usize = 16;

/// What a server was given, and what is taken out of all it says.
pub(super) struct ServerSecrets {
    redactor: RwLock<Arc<Redactor>>,
}

impl ServerSecrets {
    /// Those of an entry, and ours.
    pub(super) fn new(ours: &Redactor, entry: &McpServerConfigEntry) -> Self {
        let secrets = Self { redactor: RwLock::new(Arc::new(ours.clone())) };
        // What cannot be looked for is said when the server is connected to.
        let _ = secrets.note(entry, &Surroundings::ours());
        secrets
    }

    /// The server is given what its entry says now: a variable may have changed. What it was given before stays secret.
    pub(super) fn note(&self, entry: &McpServerConfigEntry, surroundings: &Surroundings) -> Result<(), String> {
        let mut found = Found { surroundings: surroundings.clone(), values: Vec::new() };
        found.entry(entry);
        let mut redactor = self.redactor.write().unwrap_or_else(PoisonError::into_inner);
        if !redactor.knows(&found.values) {
            *redactor = Arc::new(redactor.with(found.values).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    pub(super) fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.redactor.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The secrets of an entry.
struct Found {
    surroundings: Surroundings,
    values: Vec<String>,
}

impl Found {
    fn entry(&mut self, entry: &McpServerConfigEntry) {
        for variable in &entry.env {
            let passed_on = || format!("${{{}}}", variable.name());
            let template = variable.value().map_or_else(passed_on, str::to_owned);
            self.variable(variable.name(), &template);
        }
        match &entry.transport {
            McpTransportEntry::Stdio { args, .. } => self.arguments(args),
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                self.references(url);
                self.filled(url, Self::url);
                for (name, value) in headers {
                    let is_open = OPEN_HEADERS.contains(&name.to_ascii_lowercase().as_str());
                    self.references(value.expose());
                    self.filled(value.expose(), if is_open { Self::url } else { Self::secret });
                }
            }
        }
    }

    fn arguments(&mut self, args: &[String]) {
        let mut is_value_of_secret = false;
        for arg in args {
            let is_flag = arg.starts_with('-');
            let is_secret = is_value_of_secret && !is_flag;
            is_value_of_secret = is_flag && !arg.contains('=') && tells(arg);
            self.references(arg);
            match arg.split_once(['=', ':']) {
                _ if is_secret => self.filled(arg, Self::secret),
                Some((name, value)) if !value.starts_with("//") && tells(name) => {
                    self.filled(value.trim(), Self::secret)
                }
                Some((name, value)) if is_variable_name(name) => self.variable(name, value),
                Some(_) | None => self.filled(arg, Self::url),
            }
        }
    }

    /// What a variable of the server is.
    fn variable(&mut self, name: &str, template: &str) {
        self.references(template);
        self.filled(template, if variable_tells(name) { Self::secret } else { Self::value_of(name) });
    }

    /// Variables of ours that a text of the entry names: each is a secret by itself, whatever stands around it.
    fn references(&mut self, template: &str) {
        for name in template.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)) {
            let then = if variable_tells(name) { Self::secret } else { Self::value_of(name) };
            self.filled(&format!("${{{name}}}"), then);
        }
    }

    /// How the value of a variable is read whose name does not say that it is a secret.
    fn value_of(name: &str) -> fn(&mut Self, &str) {
        if is_known_name(name) { Self::url } else { Self::value }
    }

    /// A value is a secret unless its shape says otherwise.
    fn value(&mut self, value: &str) {
        let words = [value].into_iter().chain(value.split_whitespace());
        self.values.extend(words.filter(|word| !is_harmless_value(word)).map(str::to_owned));
        self.url(value);
    }

    fn filled(&mut self, template: &str, then: fn(&mut Self, &str)) {
        let filled = self.surroundings.fill_in("the entry", template).ok();
        if let Some(value) = filled.as_deref().and_then(|value| value.to_str()) {
            then(self, value);
        }
    }

    /// A secret is one as a whole and word by word: `Bearer` and the like are none, what follows is.
    fn secret(&mut self, value: &str) {
        for word in [value].into_iter().chain(value.split_whitespace()) {
            if word.len() > LONGEST_WORD || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                self.values.push(word.to_owned());
            }
        }
        if let Some(("Basic" | "basic", both)) = value.split_once(' ')
            && let Some(both) = STANDARD.decode(both.trim()).ok().and_then(|both| String::from_utf8(both).ok())
        {
            self.values.extend(both.split_once(':').map(|(_, password)| password.to_owned()));
            self.values.push(both);
        }
        self.url(value);
    }

    /// What a URL says beside the place.
    fn url(&mut self, value: &str) {
        let Some((_, rest)) = value.split_once("://") else { return };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = place.split(['/', '#']).next().unwrap_or_default();
        let mut found = Vec::new();
        if let Some((login, _)) = authority.rsplit_once('@') {
            found.push(login.split_once(':').map_or(login, |(_, password)| password));
        }
        let pairs = query
            .split('#')
            .next()
            .unwrap_or_default()
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        found.extend(
            pairs
                .filter(|(name, value)| tells(name) || value.len() >= LONG_VALUE)
                .map(|(_, value)| value),
        );
        found.extend(place.split('/').skip(1).filter(|segment| !is_plain_segment(segment)));
        for value in found {
            self.values.extend([value.to_owned(), decoded(value)]);
        }
    }
}

/// A part of a URL with its `%XX` read.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match (first, after) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        match code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
