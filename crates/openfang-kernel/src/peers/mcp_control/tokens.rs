//! Tokens in an entry that comes from elsewhere: taken out, so that they can be stored as secrets, and referred to instead.

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::ids::SecretName;
use openfang_types::limits::SECRET_MIN_CHARS;
use openfang_types::secret::Secret;

use super::harmless::{tells, variable_tells};

/// Takes the tokens out of variables and headers of an entry. What is left refers to secrets of these names.
pub fn take_tokens(entry: &mut McpServerConfigEntry) -> Vec<(SecretName, Secret)> {
    let mut taken = Vec::new();
    let server = entry.name.to_string();
    for variable in &mut entry.env {
        let (name, Some(value)) = (variable.name(), variable.value()) else { continue };
        if variable_tells(name)
            && let Some(token) = token_in(value)
            && let Ok(secret) = format!("{server}.{name}").parse::<SecretName>()
        {
            let token = token.to_owned();
            let rest = value.strip_suffix(token.as_str()).unwrap_or_default();
            *variable = EnvEntry::new(format!("{name}={rest}${{secret:{secret}}}"));
            taken.push((secret, Secret::new(token)));
        }
    }
    let headers = match &mut entry.transport {
        McpTransportEntry::Stdio { .. } => return taken,
        McpTransportEntry::Sse { headers, .. } | McpTransportEntry::Http { headers, .. } => headers,
    };
    for (name, value) in headers {
        if (tells(name) || name.eq_ignore_ascii_case("authorization"))
            && let Some(token) = token_in(value.expose())
            && let Ok(secret) = format!("{server}.{name}").parse::<SecretName>()
        {
            let token = token.to_owned();
            let scheme = value.expose().strip_suffix(token.as_str()).unwrap_or_default();
            *value = Secret::new(format!("{scheme}${{secret:{secret}}}"));
            taken.push((secret, Secret::new(token)));
        }
    }
    taken
}

/// The token of a value: the last word, as in `Bearer TOKEN`, unless the value refers to something.
fn token_in(value: &str) -> Option<&str> {
    let token = value.rsplit(' ').next()?;
    (!value.contains("${") && token.chars().count() >= SECRET_MIN_CHARS).then_some(token)
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
