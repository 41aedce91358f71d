//! Splits a command into words as a POSIX shell does, and does nothing else that a shell does: no variables, no patterns,
//! no substitutions, no comments. What would be an operator is part of a word.

use std::fmt;

/// Why a command cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordsFault {
    /// There is no word.
    Empty,
    /// A quote is not closed.
    OpenQuote(char),
    /// A backslash is the last character.
    TrailingBackslash,
    /// A NUL, at which a program would stop reading.
    Nul,
    /// A line break outside of quotes, where a shell would begin another command.
    LineBreak,
}

impl fmt::Display for WordsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty; name a program"),
            Self::OpenQuote(quote) => write!(f, "a {quote} is not closed"),
            Self::TrailingBackslash => f.write_str("it ends with a backslash"),
            Self::Nul => f.write_str("it contains a NUL"),
            Self::LineBreak => f.write_str(
                "it has a line break outside of quotes; one call runs one program, so make a call for each line",
            ),
        }
    }
}

/// The words of a command.
pub fn split(command: &str) -> Result<Vec<String>, WordsFault> {
    if command.contains('\0') {
        return Err(WordsFault::Nul);
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.trim_matches([' ', '\t', '\n', '\r']).chars();
    while let Some(char) = rest.next() {
        match char {
            '\n' | '\r' => return Err(WordsFault::LineBreak),
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next() {
                // A line that goes on.
                Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err(WordsFault::TrailingBackslash),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) { Err(WordsFault::Empty) } else { Ok(words) }
}

fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsFault> {
    for char in rest {
        match char {
            '\'' => return Ok(()),
            other => word.push(other),
        }
    }
    Err(WordsFault::OpenQuote('\''))
}

fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), WordsFault> {
    while let Some(char) = rest.next() {
        match char {
            '"' => return Ok(()),
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            other => word.push(other),
        }
    }
    Err(WordsFault::OpenQuote('"'))
}

/// The first word that a shell would take for an operator. It is passed to the program as it is.
pub fn shell_operator(words: &[String]) -> Option<&str> {
    let is_operator = |word: &&str| {
        matches!(*word, "|" | "||" | "&" | "&&" | ";" | ">" | ">>" | "<" | "<<" | "2>" | "2>&1" | "&>")
            || word.starts_with("$(")
            || (word.len() > 1 && word.ends_with(';'))
    };
    words.iter().skip(1).map(String::as_str).find(is_operator)
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
