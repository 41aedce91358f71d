//! An entry of a published server. Whatever its author wrote is text: nothing in it is filled in from this machine.

use std::collections::BTreeMap;

use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry, is_own_variable};
use openfang_types::ids::ServerName;
use openfang_types::secret::Secret;

use super::document::{Argument, Input, Package, Remote, ServerDocument};

/// Variables that decide how programs start, and what they load.
const STARTING: [&str; 9] = [
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BASH_ENV",
    "ENV",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "GIT_SSH_COMMAND",
];
const STARTING_PREFIXES: [&str; 5] = ["LD_", "DYLD_", "PYTHON", "NPM_CONFIG_", "UV_"];
/// Options with which a container reaches out of itself.
const OPENING: [&str; 13] = [
    "-v",
    "--volume",
    "--mount",
    "--privileged",
    "--net",
    "--network",
    "--pid",
    "--ipc",
    "--cap-add",
    "--device",
    "--security-opt",
    "--userns",
    "--volumes-from",
];

/// What the user gave: values of variables and headers by name, and of arguments by name or hint.
pub(crate) type Inputs = BTreeMap<String, String>;

/// A value that is needed and was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) is_secret: bool,
}

/// An entry that can be written, or what is missing for it.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) entry: McpServerConfigEntry,
    pub(crate) missing: Vec<Missing>,
}

/// Makes an entry of the first package or remote that can be used, or says why none can.
pub(crate) fn new_entry(server: &ServerDocument, name: ServerName, given: &Inputs) -> Result<NewEntry, String> {
    let mut reasons = Vec::new();
    for package in &server.packages {
        match of_package(package, name.clone(), given) {
            Ok(entry) => return Ok(entry),
            Err(why) => reasons.push(format!("{} {}: {why}", package.registry_type, package.identifier)),
        }
    }
    for remote in &server.remotes {
        match of_remote(remote, name.clone(), given) {
            Ok(entry) => return Ok(entry),
            Err(why) => reasons.push(format!("{}: {why}", remote.url)),
        }
    }
    if reasons.is_empty() {
        reasons.push("it has no packages and no remotes".to_owned());
    }
    Err(reasons.join("; "))
}

fn of_package(package: &Package, name: ServerName, given: &Inputs) -> Result<NewEntry, String> {
    if package.transport.as_ref().is_some_and(|transport| transport.kind != "stdio") {
        return Err("it is not served over standard input and output".to_owned());
    }
    let mut answers = Answers { given, missing: Vec::new() };
    let runtime = answers.arguments(&package.runtime_arguments)?;
    let own = answers.arguments(&package.package_arguments)?;
    let mut env = Vec::new();
    for variable in &package.environment_variables {
        check_variable(&variable.name)?;
        if let Some(value) = answers.value(&variable.name, &variable.input)? {
            env.push(EnvEntry::new(format!("{}={value}", variable.name)));
        }
    }
    let version = pinned(package.version.as_deref());
    let (command, args) = match package.registry_type.as_str() {
        "npm" => ("npx", npx(&package.identifier, version?, runtime)?),
        "pypi" => ("uvx", uvx(&package.identifier, version?, runtime)?),
        "oci" => ("docker", docker(package, runtime, &env)?),
        other => return Err(format!("packages of type {other} are not supported")),
    };
    let args = args.into_iter().chain(own).collect();
    let transport = McpTransportEntry::Stdio { command: command.to_owned(), args };
    let entry = McpServerConfigEntry { env, ..McpServerConfigEntry::new(name, transport) };
    Ok(NewEntry { entry, missing: answers.missing })
}

fn npx(package: &str, version: &str, runtime: Vec<String>) -> Result<Vec<String>, String> {
    check_identifier(package, "@/._~-")?;
    let runtime = runtime.into_iter().filter(|word| word != "-y" && word != "--yes");
    Ok(["-y".to_owned()]
        .into_iter()
        .chain(runtime)
        .chain([format!("{package}@{version}")])
        .collect())
}

fn uvx(package: &str, version: &str, runtime: Vec<String>) -> Result<Vec<String>, String> {
    check_identifier(package, "._-")?;
    Ok(runtime.into_iter().chain([format!("{package}=={version}")]).collect())
}

fn docker(package: &Package, runtime: Vec<String>, env: &[EnvEntry]) -> Result<Vec<String>, String> {
    check_identifier(&package.identifier, "./:@_-")?;
    let is_opening = |word: &&String| OPENING.contains(&word.split('=').next().unwrap_or_default());
    if let Some(word) = runtime.iter().find(is_opening) {
        return Err(format!("{word} would give the container access to this machine"));
    }
    let last = package.identifier.rsplit('/').next().unwrap_or_default();
    let image = match last.contains([':', '@']) {
        true => package.identifier.clone(),
        false => format!("{}:{}", package.identifier, pinned(package.version.as_deref())?),
    };
    let mut args = ["run", "-i", "--rm"].map(str::to_owned).to_vec();
    // The value is in the environment of docker, not on its command line.
    args.extend(env.iter().flat_map(|variable| ["-e".to_owned(), variable.name().to_owned()]));
    args.extend(runtime);
    args.push(image);
    Ok(args)
}

fn of_remote(remote: &Remote, name: ServerName, given: &Inputs) -> Result<NewEntry, String> {
    check_text(&remote.url)?;
    if remote.url.contains('{') {
        return Err("its URL has variables; add it with --url".to_owned());
    }
    let mut answers = Answers { given, missing: Vec::new() };
    let mut headers = BTreeMap::new();
    for header in &remote.headers {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if header.name.is_empty() || !header.name.chars().all(is_name) {
            return Err("it wants a header without a valid name".to_owned());
        }
        if let Some(value) = answers.value(&header.name, &header.input)? {
            headers.insert(header.name.clone(), Secret::new(value));
        }
    }
    let url = remote.url.clone();
    let transport = match remote.kind.as_str() {
        "streamable-http" => McpTransportEntry::Http { url, headers },
        "sse" => McpTransportEntry::Sse { url, headers },
        other => return Err(format!("the transport {other} is not supported")),
    };
    Ok(NewEntry { entry: McpServerConfigEntry::new(name, transport), missing: answers.missing })
}

/// What was given, and what is still missing.
struct Answers<'a> {
    given: &'a Inputs,
    missing: Vec<Missing>,
}

impl Answers<'_> {
    /// The value of an input: what was given, what the author fixed, or the default. None if it is not needed.
    fn value(&mut self, name: &str, input: &Input) -> Result<Option<String>, String> {
        if let Some(value) = self.given.get(name) {
            return Ok(Some(value.clone()));
        }
        input.value.as_deref().map_or(Ok(()), check_text)?;
        let written = input.value.as_ref().filter(|value| !value.contains('{')).or(input.default.as_ref());
        if let Some(value) = written {
            check_text(value)?;
            return Ok(Some(value.clone()));
        }
        if input.is_required || input.value.is_some() {
            let (name, description) = (name.to_owned(), input.description.clone());
            self.missing.push(Missing { name, description, is_secret: input.is_secret });
        }
        Ok(None)
    }

    fn arguments(&mut self, arguments: &[Argument]) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for argument in arguments {
            let flag = argument.name.as_ref().filter(|_| argument.kind == "named");
            let key = flag.or(argument.value_hint.as_ref()).map_or("argument", String::as_str);
            // A flag whose value nobody needs is left out.
            let Some(value) = self.value(key, &argument.input)? else { continue };
            if let Some(flag) = flag {
                check_text(flag)?;
                words.push(flag.clone());
            }
            words.push(value);
        }
        Ok(words)
    }
}

/// Text of a stranger: no references, nothing that a terminal would act on.
fn check_text(text: &str) -> Result<(), String> {
    if text.contains("${") {
        return Err("its document refers to variables or secrets of this machine".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("its document contains control characters".to_owned());
    }
    Ok(())
}

fn check_variable(name: &str) -> Result<(), String> {
    let upper = name.to_ascii_uppercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("it wants a variable without a valid name".to_owned());
    }
    if is_own_variable(name)
        || STARTING.contains(&upper.as_str())
        || STARTING_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
    {
        return Err(format!("it wants to set {name}, which decides how programs start"));
    }
    Ok(())
}

fn check_identifier(text: &str, others: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    let is_fine = !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) && !text.contains("..");
    if is_fine { Ok(()) } else { Err("its package has no valid name".to_owned()) }
}

/// The version of a package. A name such as `latest` can be another program tomorrow.
fn pinned(version: Option<&str>) -> Result<&str, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    match version {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(is_plain) => {
            Ok(version)
        }
        Some(_) | None => Err("it has no fixed version".to_owned()),
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
