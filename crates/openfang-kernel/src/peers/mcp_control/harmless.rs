//! Which values that a server is given are no secrets, and which names say that their value is one.
//!
//! The rule is one: what an operator gives to a server is a secret. The exceptions are here: names that every program knows,
//! and values whose shape says that they are a number, a path, an address or a plain word, which answers need.

use std::path::Path;

use openfang_types::limits::CHILD_SECRET_MIN_BYTES;

/// Variables that every program knows.
const NAMES: [&str; 24] = [
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "OLDPWD",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HOSTNAME",
    "EDITOR",
    "PAGER",
    "NODE_ENV",
    "NODE_PATH",
    "PYTHONPATH",
    "LOG_LEVEL",
    "RUST_LOG",
    "DEBUG",
    "NO_COLOR",
];
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
/// Parts of the name of a variable that say so too.
const TELLING_OF_VARIABLES: [&str; 11] =
    ["KEY", "PASS", "AUTH", "JWT", "CRED", "PWD", "SIGNING", "SALT", "HMAC", "WEBHOOK", "PRIVATE"];
/// Whole words of the name of a variable that say so.
const TELLING_WORDS: [&str; 4] = ["PAT", "PIN", "OTP", "DSN"];
/// Letters alone are a word up to this length, as `postgres` and `production` are.
const LONGEST_WORD: usize = 11;
/// Plain words that a harmless value may have.
const MOST_WORDS: usize = 3;
const LONGEST_NUMBER: usize = 20;

/// Whether a name says that its value is a secret.
pub(crate) fn tells(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    name.ends_with("key") || name == "auth" || name == "pat" || TELLING.iter().any(|part| name.contains(part))
}

/// Whether a variable of this name holds a secret. There is more of that among variables than among arguments.
pub(crate) fn variable_tells(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let has_word = || upper.split(['_', '-']).any(|word| TELLING_WORDS.contains(&word));
    !is_known_name(name) && (tells(name) || TELLING_OF_VARIABLES.iter().any(|part| upper.contains(part)) || has_word())
}

/// Whether a text is what variables are called.
pub(crate) fn is_variable_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether what a variable of this name holds is no secret. What a URL holds beside its place is one all the same.
pub(crate) fn is_harmless(name: &str, value: &str) -> bool {
    is_known_name(name) || (!variable_tells(name) && is_harmless_value(value))
}

/// Whether every program knows a variable of this name.
pub(crate) fn is_known_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&&*upper) || upper.starts_with("LC_") || upper.starts_with("XDG_")
}

/// Whether the shape of a value says that it is no secret.
pub(crate) fn is_harmless_value(value: &str) -> bool {
    value.len() < CHILD_SECRET_MIN_BYTES
        || is_number(value)
        || is_url(value)
        || is_path(value)
        || is_host(value)
        || is_few_words(value)
}

/// Whether a part of the path of a URL is a plain name, and no secret that stands there as in the URL of a webhook.
pub(crate) fn is_plain_segment(segment: &str) -> bool {
    let is_plain = |piece: &str| {
        let is_lower = piece.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_digits = piece.bytes().all(|byte| byte.is_ascii_digit());
        piece.len() < CHILD_SECRET_MIN_BYTES
            || (is_lower && piece.len() <= LONGEST_NUMBER)
            || is_digits
            || is_word(piece)
    };
    segment.split(['-', '_', '.', '~', '@', '+', ':']).all(is_plain)
}

fn is_number(value: &str) -> bool {
    value.len() <= LONGEST_NUMBER && value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.:,/_ ".contains(&byte))
}

/// A URL is taken apart instead: its login, its query and parts of its path may be secrets, its place is none.
fn is_url(value: &str) -> bool {
    let scheme = value.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    }) && !value.contains(char::is_whitespace)
}

/// A path, or several as in `PATH`. A secret in base64 may begin with a slash, so its first directory has to exist.
fn is_path(value: &str) -> bool {
    let is_one = |part: &str| {
        let first = part.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
        match first {
            Some(first) => part == "/" || (!first.is_empty() && Path::new("/").join(first).exists()),
            None => ["./", "../", "~/"].iter().any(|start| part.starts_with(start)),
        }
    };
    let is_of_windows = value.as_bytes().get(1..3) == Some(b":\\");
    is_of_windows || value.split(':').all(is_one)
}

fn is_host(value: &str) -> bool {
    let (host, port) = value.split_once(':').unwrap_or((value, ""));
    let is_label = |label: &str| {
        let is_of_host = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_of_host) && is_plain_segment(label)
    };
    let is_named = host == "localhost"
        || host
            .rsplit_once('.')
            .is_some_and(|(_, last)| last.bytes().all(|byte| byte.is_ascii_lowercase()));
    is_named && host.split('.').all(is_label) && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_few_words(value: &str) -> bool {
    let words = value.split(['-', '_', '.', ' ', ',', ':', '/']);
    words.clone().count() <= MOST_WORDS && words.clone().all(is_word)
}

/// Letters of one case, perhaps with a capital in front, or very few letters and digits.
fn is_word(text: &str) -> bool {
    let rest = text.get(1..).unwrap_or_default();
    let is_one_case =
        rest.bytes().all(|byte| byte.is_ascii_lowercase()) || text.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_letters = text.bytes().all(|byte| byte.is_ascii_alphabetic());
    (text.len() <= LONGEST_WORD && is_letters && is_one_case)
        || (text.len() <= MOST_WORDS && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
#[path = "harmless_tests.rs"]
mod tests;
