//! `.env` in the home: variables for the daemon, one `NAME=value` a line. Variables that are set win.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use openfang_egress::process::restart_with_variables;
use openfang_types::limits::ENV_FILE_MAX_BYTES;

use crate::error::CliError;

/// Starts the daemon again with the variables of the file, if there are any that it does not have.
pub(super) fn apply(path: &Path) -> Result<(), CliError> {
    let unusable = |why: &dyn std::fmt::Display| CliError::EnvFile { path: path.to_owned(), why: why.to_string() };
    let text = match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text.map_err(|error| unusable(&error))?,
    };
    let variables = parse(&text).map_err(|why| unusable(&why))?;
    restart_with_variables(&variables).map_err(|error| unusable(&error))
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    check_private(&file)?;
    let mut text = String::new();
    file.take(ENV_FILE_MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > ENV_FILE_MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {ENV_FILE_MAX_BYTES} bytes")));
    }
    Ok(text)
}

/// The variables of a text. Errors name the line and do not quote it, because a value may be a secret.
fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut variables = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| format!("line {}: {why}", number + 1);
        let assigned = line.strip_prefix("export ").unwrap_or(line).split_once('=');
        let (name, value) = assigned.ok_or_else(|| wrong("write NAME=value"))?;
        let (name, value) = (name.trim(), value.trim());
        let is_name = |name: &str| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        };
        if !is_name(name) {
            return Err(wrong("the name of a variable has letters, digits and _"));
        }
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = value[1..].strip_suffix(quote).ok_or_else(|| wrong("the quote is not closed"))?;
                if inner.contains(quote) {
                    return Err(wrong("a quoted value does not contain its quote"));
                }
                inner
            }
            Some(_) | None => value,
        };
        if value.contains('\0') {
            return Err(wrong("a value has no NUL"));
        }
        variables.insert(name.to_owned(), value.to_owned());
    }
    Ok(variables)
}

#[cfg(unix)]
fn check_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    match found.mode() & 0o777 {
        mode if mode & 0o077 != 0 => {
            Err(io::Error::other(format!("others can read it (mode {mode:03o}); run `chmod 600` on it")))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[path = "env_file_tests.rs"]
mod tests;
