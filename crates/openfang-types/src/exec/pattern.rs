//! What a rule covers: a program, and its arguments by position.
//!
//! The words of a rule are those of a command. A `*` within a word stands for characters of that one argument. The word `*`
//! is any one argument that is not an option; at the end it is any number of arguments of any kind. An option is covered
//! by a word that says so with a `-`, and by the `*` at the end.

use std::fmt;

use super::runners::{runs_programs, runs_programs_by_option};
use super::words::split;
use crate::capability::text_matches;
use crate::limits::EXEC_RULE_MAX_BYTES;

const ANY: &str = "*";

/// A rule that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    program: ProgramPattern,
    arguments: Vec<String>,
    takes_rest: bool,
    is_unsafe: bool,
}

/// The program that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramPattern {
    Any,
    /// A name, or a path as a command has it.
    Named(String),
}

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternFault {
    /// It cannot be split into words.
    Words(String),
    TooLong,
    /// The name of the program has a `*` in it.
    StarInProgram,
    /// It covers every program.
    AnyProgram,
    /// The program runs programs, and the rule has a `*`.
    RunsPrograms(String),
    /// The program is a file of a workspace, which agents can change.
    InWorkspace,
}

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(why) => f.write_str(why),
            Self::TooLong => write!(f, "it is longer than {EXEC_RULE_MAX_BYTES} bytes"),
            Self::StarInProgram => f.write_str("name the program: its name or path cannot have a `*`"),
            Self::AnyProgram => f.write_str("`*` covers every program; if you mean that, add unsafe = true"),
            Self::RunsPrograms(name) => {
                write!(f, "{name} runs any program that its arguments name; leave out the `*`, or add unsafe = true")
            }
            Self::InWorkspace => f.write_str(
                "the program is a file of the workspace, which agents can change; if you mean that, add unsafe = true",
            ),
        }
    }
}

impl CommandPattern {
    /// Reads a rule that allows.
    pub fn allowing(text: &str, is_unsafe: bool) -> Result<Self, PatternFault> {
        let pattern = Self { is_unsafe, ..Self::denying(text)? };
        let has_star = pattern.takes_rest || pattern.arguments.iter().any(|word| word.contains('*'));
        match &pattern.program {
            _ if is_unsafe => Ok(pattern),
            ProgramPattern::Any => Err(PatternFault::AnyProgram),
            ProgramPattern::Named(name) if name.contains('/') && !name.starts_with('/') => {
                Err(PatternFault::InWorkspace)
            }
            ProgramPattern::Named(name) if has_star && runs_programs(file_name(name)) => {
                Err(PatternFault::RunsPrograms(name.clone()))
            }
            ProgramPattern::Named(_) => Ok(pattern),
        }
    }

    /// Reads a rule that denies. Every program can be denied.
    pub fn denying(text: &str) -> Result<Self, PatternFault> {
        if text.len() > EXEC_RULE_MAX_BYTES {
            return Err(PatternFault::TooLong);
        }
        let mut words = split(text).map_err(|fault| PatternFault::Words(fault.to_string()))?.into_iter();
        let program = match words.next() {
            Some(any) if any == ANY => ProgramPattern::Any,
            Some(name) if name.contains('*') => return Err(PatternFault::StarInProgram),
            name => ProgramPattern::Named(name.unwrap_or_default()),
        };
        let mut arguments: Vec<String> = words.collect();
        let takes_rest = arguments.last().is_some_and(|last| last == ANY);
        if takes_rest {
            arguments.pop();
        }
        Ok(Self { program, arguments, takes_rest, is_unsafe: false })
    }

    /// The program that the rule is about.
    pub const fn program(&self) -> &ProgramPattern {
        &self.program
    }

    /// Whether the operator said that the rule may cover programs that run programs.
    pub const fn is_unsafe(&self) -> bool {
        self.is_unsafe
    }

    /// Whether it allows the arguments of a program that has these names: that of the command, and that of the file.
    pub fn allows(&self, names: &[&str], arguments: &[String]) -> bool {
        self.fits(arguments, Options::Said) && (self.is_unsafe || self.is_harmless(names, arguments))
    }

    /// Whether it denies the arguments.
    pub fn denies(&self, arguments: &[String]) -> bool {
        let is_bare = self.arguments.is_empty() && !self.takes_rest;
        // The name of a program alone denies all of it.
        is_bare || self.fits(arguments, Options::All)
    }

    fn fits(&self, arguments: &[String], options: Options) -> bool {
        let has_count = if self.takes_rest {
            arguments.len() >= self.arguments.len()
        } else {
            arguments.len() == self.arguments.len()
        };
        let fits = |(word, argument): (&String, &String)| {
            let is_open = word.starts_with('*') && options == Options::Said;
            !(is_open && argument.starts_with('-')) && text_matches(word, argument)
        };
        has_count && self.arguments.iter().zip(arguments).all(fits)
    }

    /// Whether no `*` of the rule lets an argument name a program to be run.
    fn is_harmless(&self, names: &[&str], arguments: &[String]) -> bool {
        let is_open = |(index, _): &(usize, &String)| self.arguments.get(*index).is_none_or(|word| word.contains('*'));
        let mut open = arguments
            .iter()
            .enumerate()
            .filter(is_open)
            .map(|(_, argument)| argument.as_str())
            .peekable();
        let has_open = open.peek().is_some() || self.takes_rest;
        let open: Vec<&str> = open.collect();
        names.iter().all(|name| {
            !(has_open && runs_programs(name)) && runs_programs_by_option(name, open.iter().copied()).is_none()
        })
    }
}

/// Which options a `*` at the beginning of a word covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Options {
    /// None: they are said.
    Said,
    All,
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
