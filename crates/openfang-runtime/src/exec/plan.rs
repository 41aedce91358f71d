//! A command that was looked at: its words, the file that it runs, and what the rules say. The same command is looked at
//! before it is allowed and before it runs; the *subject* of a plan says whether it is still the same.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::PathBuf;

use openfang_egress::process::{Environment, EnvironmentKind, Program, Sandbox, Surroundings};
use openfang_types::exec::{shell_operator, split};
use openfang_types::limits::{EXEC_COMMAND_MAX_BYTES, EXEC_SHOWN_CHARS, EXEC_WORDS_MAX, EXEC_WORDS_MAX_BYTES};
use openfang_types::unseen::is_unseen;

use super::rules::{FoundProgram, Rules, plain};
use crate::tools::{Ruling, ToolFailure};
use crate::workspaces::ProgramPlace;

/// What a call asks for.
pub(crate) struct ExecRequest<'a> {
    pub(crate) command: &'a str,
    /// Further arguments, as they are.
    pub(crate) arguments: &'a [String],
}

/// A command that was looked at.
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) ruling: Ruling,
    /// What the plan depends on besides the arguments of the call.
    pub(crate) subject: String,
    /// A word that a shell would take for an operator.
    pub(crate) operator: Option<String>,
}

impl Plan {
    /// Looks at a command. Blocks.
    pub(crate) fn of(request: &ExecRequest<'_>, place: &ProgramPlace, rules: &Rules<'_>) -> Result<Self, ToolFailure> {
        let words = words(request)?;
        let operator = shell_operator(&words).map(str::to_owned);
        let environment = Environment::build(EnvironmentKind::Tool, &[], &Surroundings::ours())?;
        let (name, arguments) = words.split_first().ok_or_else(|| ToolFailure::new("the command is empty"))?;
        let (program, file) = found(name, &environment, place)?;
        let is_in_workspace = file.starts_with(&place.root) || program.path().starts_with(&place.root);
        let found = FoundProgram {
            path: program.path(),
            file: &file,
            is_in_workspace,
            root: &place.root,
            search: environment.path(),
        };
        let ruling = match rules.denial(&found, arguments) {
            Some(rule) => Ruling::Refuse(format!("the rule {rule:?} of [exec] deny covers {}", shown(&words))),
            None if rules.allow(&found, arguments) => Ruling::Allow,
            None => Ruling::Ask(question(&found, &words)),
        };
        let subject = subject(&found, place)?;
        let arguments = arguments.iter().map(OsString::from).collect();
        Ok(Self { program, arguments, environment, ruling, subject, operator })
    }
}

/// The words of a command and its further arguments.
fn words(request: &ExecRequest<'_>) -> Result<Vec<String>, ToolFailure> {
    let too_long = || {
        ToolFailure::new(format!(
            "the command is too long: it may have {EXEC_WORDS_MAX} words and {EXEC_WORDS_MAX_BYTES} bytes; write a file and pass \
             its name"
        ))
    };
    if request.command.len() > EXEC_COMMAND_MAX_BYTES || request.arguments.len() > EXEC_WORDS_MAX {
        return Err(too_long());
    }
    let mut words =
        split(request.command).map_err(|fault| ToolFailure::new(format!("the command cannot be run: {fault}")))?;
    words.extend(request.arguments.iter().cloned());
    let bytes: usize = words.iter().map(|word| word.len() + 1).sum();
    if words.len() > EXEC_WORDS_MAX || bytes > EXEC_WORDS_MAX_BYTES {
        return Err(too_long());
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(ToolFailure::new("an argument contains a NUL, at which a program would stop reading"));
    }
    Ok(words)
}

/// The program that a name stands for, and its file.
fn found(name: &str, environment: &Environment, place: &ProgramPlace) -> Result<(Program, PathBuf), ToolFailure> {
    let is_path = name.contains('/');
    let outside = || ToolFailure::new(format!("{} is not a program that can be run here", shorten(name)));
    let program = match Program::resolve(name, environment.path(), &place.directory) {
        Ok(program) => program,
        // What lies outside of the workspace is not told.
        Err(_) if is_path && !place.directory.join(name).starts_with(&place.root) => return Err(outside()),
        Err(error) => return Err(ToolFailure::new(shorten(&error.to_string()))),
    };
    let file = program.path().canonicalize().map_err(|_| outside())?;
    let is_own = file.starts_with(&place.root);
    let is_ours = place.closed.iter().any(|closed| file.starts_with(closed));
    let is_open = Sandbox::is_open_to_all(&file) || place.read.iter().any(|open| file.starts_with(open));
    if (is_ours && !is_own) || (!is_own && program.path().starts_with(&place.root) && !is_open) {
        return Err(outside());
    }
    Ok((program, file))
}

/// What a person is asked, with the rule that would answer it.
fn question(found: &FoundProgram<'_>, words: &[String]) -> String {
    let rule = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let written = toml_text(&rule);
    let rule = match found.is_in_workspace {
        _ if rule.len() > EXEC_SHOWN_CHARS => format!("a rule for {}", shorten(&words[0])),
        true => format!("{{ command = {written}, unsafe = true }}"),
        false => written,
    };
    let whose = if found.is_in_workspace { ", a file that agents can change" } else { "" };
    format!(
        "it runs {}{whose}, and no rule of [exec] allows that; to allow it without a question, add {rule} to allow under [exec] in \
         config.toml",
        plain(found.path).display()
    )
}

/// What a plan depends on: the program, its directory, and of a file that agents can change, which state of it.
fn subject(found: &FoundProgram<'_>, place: &ProgramPlace) -> Result<String, ToolFailure> {
    let state = if found.is_in_workspace { state(&found.file.symlink_metadata()?) } else { String::new() };
    Ok(format!("{:?} {:?} {:?} {state}", found.path, found.file, place.directory))
}

#[cfg(unix)]
fn state(file: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    // The time of the last change of an inode cannot be set.
    format!("{} {} {} {} {}", file.dev(), file.ino(), file.size(), file.ctime(), file.ctime_nsec())
}

#[cfg(not(unix))]
fn state(file: &Metadata) -> String {
    format!("{} {:?}", file.len(), file.modified().ok())
}

/// A word as a command has it.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A text as TOML has it.
fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string().chars().flat_map(escape).collect()
}

fn shown(words: &[String]) -> String {
    shorten(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// A text for a message: escaped, and not too long.
fn shorten(text: &str) -> String {
    let escaped: String = text.chars().take(EXEC_SHOWN_CHARS).flat_map(escape).collect();
    if text.chars().nth(EXEC_SHOWN_CHARS).is_some() { format!("{escaped}…") } else { escaped }
}

/// A character that would not be seen, as TOML writes it.
fn escape(char: char) -> Vec<char> {
    let code = u32::from(char);
    match is_unseen(char) {
        true if code <= 0xffff => format!("\\u{code:04x}").chars().collect(),
        true => format!("\\U{code:08x}").chars().collect(),
        false => vec![char],
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "plan_tests.rs"]
mod tests;
