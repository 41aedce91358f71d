//! The environment of a child: a short list by its kind, the variables the operator listed, and nothing else.
//!
//! Only this module reads our own environment ([`Surroundings::ours`]); tests pass another. An entry is a name to pass
//! on, or `NAME=value` where `${VAR}` in the value refers to our environment and `${secret:NAME}` to a stored secret. Refused: `*`, invalid names, variables
//! that are not set, and those of OpenFang itself. Values are never shown.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use openfang_types::config::{is_own_variable, secret_reference};
use openfang_types::limits::CHILD_SECRET_MIN_BYTES;
use openfang_types::secret::Secret;

const PATH: &str = "PATH";
const HOME: &str = "HOME";
const TMPDIR: &str = "TMPDIR";
/// The search path if we have no PATH ourselves.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The kind of child, which determines its default variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentKind {
    /// An MCP server: PATH, HOME, USER, LANG, TMPDIR, SHELL and TERM, without which npx and uvx do not start.
    McpServer,
    /// A shell command or a skill: PATH, LANG, and a temporary home.
    Tool,
}

impl EnvironmentKind {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::McpServer => &[PATH, HOME, "USER", "LANG", TMPDIR, "SHELL", "TERM"],
            Self::Tool => &[PATH, "LANG"],
        }
    }
}

/// The variables and stored secrets that a child's environment is made from.
#[derive(Clone)]
pub struct Surroundings {
    variables: BTreeMap<OsString, OsString>,
    secrets: BTreeMap<String, Secret>,
}

impl Surroundings {
    /// Those of this process.
    #[expect(clippy::disallowed_methods, reason = "the allow-list needs something to allow from")]
    pub fn ours() -> Self {
        Self { variables: std::env::vars_os().collect(), secrets: BTreeMap::new() }
    }

    pub fn of<N: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, secrets: BTreeMap::new() }
    }

    /// The same, with stored secrets for `${secret:NAME}`.
    #[must_use]
    pub fn with_secrets(self, secrets: BTreeMap<String, Secret>) -> Self {
        Self { secrets, ..self }
    }

    /// Replaces every `${VAR}` and `${secret:NAME}` in a text. `what` names the text in errors.
    pub fn fill_in(&self, what: &str, text: &str) -> Result<OsString, EnvironmentError> {
        filled_in(what, text, self)
    }

    fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish_non_exhaustive()
    }
}

/// Why an environment cannot be built. Values are never quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The entry asks for all variables.
    #[error("`{entry}` in env: `*` would pass on every secret of this process; list the names")]
    Star {
        /// The name, as written.
        entry: String,
    },
    #[error("`{name}` in env is not the name of a variable; write NAME or NAME=value")]
    BadName {
        /// The name, as written.
        name: String,
    },
    /// The value has a NUL, or a reference that is not closed or has no name.
    #[error("the value of {name} in env {fault}")]
    BadValue { name: String, fault: &'static str },
    /// The entry asks for a variable of OpenFang itself.
    #[error(
        "{variable} is a variable of OpenFang itself and is never passed on ({name}); use a variable with another name"
    )]
    Own {
        variable: String,
        /// The entry that asks for it.
        name: String,
    },
    /// The entry asks for a variable that is not set.
    #[error(
        "the variable {variable} is not set in the process that asks for it ({name}, pid {}); set it where that process is started \
         and start it again, or store it with `openfang secret set {variable}` and write ${{secret:{variable}}}",
        std::process::id()
    )]
    Unset {
        variable: String,
        /// The entry that asks for it.
        name: String,
    },
    /// The entry refers to a secret that is not stored.
    #[error(
        "there is no secret {secret}, and the entry asks for it ({name}); store it with `openfang secret set {secret}`"
    )]
    NoSecret {
        secret: String,
        /// The entry that asks for it.
        name: String,
    },
}

/// The complete environment of a child.
#[derive(Clone)]
pub struct Environment {
    kind: EnvironmentKind,
    values: BTreeMap<OsString, OsString>,
    listed: BTreeSet<OsString>,
}

impl Environment {
    /// What a child of this kind gets, and what is listed for it.
    pub fn build(
        kind: EnvironmentKind,
        listed: &[String],
        surroundings: &Surroundings,
    ) -> Result<Self, EnvironmentError> {
        let usual = kind
            .names()
            .iter()
            .filter_map(|name| Some((OsString::from(name), surroundings.get(name)?.into())));
        let mut values: BTreeMap<OsString, OsString> = usual.collect();
        values.entry(PATH.into()).or_insert_with(|| USUAL_PATH.into());
        let mut environment = Self { kind, values, listed: BTreeSet::new() };
        for entry in listed {
            let (name, value) = listed_value(entry, surroundings)?;
            environment.values.insert(name.into(), value);
            environment.listed.insert(name.into());
        }
        Ok(environment)
    }

    /// Who it is for.
    pub const fn kind(&self) -> EnvironmentKind {
        self.kind
    }

    /// The names and values the operator listed, so that secrets can be removed from the child's output.
    pub fn expose_listed(&self) -> impl Iterator<Item = (&str, &str)> {
        let listed = self.listed.iter().filter_map(|name| Some((name, self.values.get(name)?)));
        listed.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
    }

    /// Where the child looks for programs.
    pub fn path(&self) -> &OsStr {
        self.values.get(OsStr::new(PATH)).map_or(OsStr::new(USUAL_PATH), OsString::as_os_str)
    }

    /// Moves the child into its own home, unless the operator set another.
    pub(super) fn move_to(&mut self, home: &Path) {
        for name in [HOME, TMPDIR] {
            if !self.listed.contains(OsStr::new(name)) {
                self.values.insert(name.into(), home.into());
            }
        }
    }

    /// Names and values, for the child alone.
    pub(super) fn expose(&self) -> Vec<(OsString, OsString)> {
        self.values.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The listed values, line by line, which must be removed from the child's output.
    pub(super) fn secrets(&self) -> Vec<Vec<u8>> {
        let listed = self.listed.iter().filter_map(|name| self.values.get(name));
        let lines = listed.flat_map(|value| value.as_encoded_bytes().split(|byte| *byte == b'\n'));
        lines.filter(|line| line.len() >= CHILD_SECRET_MIN_BYTES).map(<[u8]>::to_vec).collect()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

fn listed_value<'a>(entry: &'a str, ours: &Surroundings) -> Result<(&'a str, OsString), EnvironmentError> {
    let (name, template) = entry.split_once('=').map_or((entry, None), |(name, value)| (name, Some(value)));
    if name.contains('*') {
        return Err(EnvironmentError::Star { entry: name.to_owned() });
    }
    if !is_name(name) {
        return Err(EnvironmentError::BadName { name: name.to_owned() });
    }
    if is_own_variable(name) {
        return Err(EnvironmentError::Own { variable: name.to_owned(), name: name.to_owned() });
    }
    let value = match template {
        None => variable(name, name, ours)?.to_owned(),
        Some(template) => filled_in(name, template, ours)?,
    };
    if value.as_encoded_bytes().contains(&0) {
        return Err(EnvironmentError::BadValue { name: name.to_owned(), fault: "has a NUL in it" });
    }
    Ok((name, value))
}

fn filled_in(name: &str, template: &str, ours: &Surroundings) -> Result<OsString, EnvironmentError> {
    let bad = |fault| EnvironmentError::BadValue { name: name.to_owned(), fault };
    let mut value = OsString::new();
    let mut rest = template;
    while let Some((before, reference)) = rest.split_once("${") {
        value.push(before);
        let (wanted, after) = reference.split_once('}').ok_or_else(|| bad("has a `${` that is not closed"))?;
        if let Some(secret) = secret_reference(wanted) {
            let missing = || EnvironmentError::NoSecret { secret: secret.to_owned(), name: name.to_owned() };
            value.push(ours.secrets.get(secret).ok_or_else(missing)?.expose());
            rest = after;
            continue;
        }
        if !is_name(wanted) {
            return Err(bad("has a `${}` without the name of a variable in it"));
        }
        value.push(variable(wanted, name, ours)?);
        rest = after;
    }
    value.push(rest);
    Ok(value)
}

fn variable<'a>(wanted: &str, entry: &str, ours: &'a Surroundings) -> Result<&'a OsStr, EnvironmentError> {
    if is_own_variable(wanted) {
        return Err(EnvironmentError::Own { variable: wanted.to_owned(), name: entry.to_owned() });
    }
    let unset = || EnvironmentError::Unset { variable: wanted.to_owned(), name: entry.to_owned() };
    ours.get(wanted).ok_or_else(unset)
}

fn is_name(name: &str) -> bool {
    let inner = |char: char| char.is_ascii_alphanumeric() || "_.-".contains(char);
    name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_') && name.chars().all(inner)
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
