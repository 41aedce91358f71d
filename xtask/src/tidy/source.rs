//! A Rust source, line by line, split into code and comments. String and character literals are emptied, so a rule
//! never mistakes text for code. Not a parser: it knows what may hide a comment or a quote, and nothing else.

use std::iter::Peekable;
use std::str::Chars;

/// One line of a source.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The code, with emptied literals.
    pub(crate) code: String,
    /// The comment with its marker; of a block comment the part on this line.
    pub(crate) comment: String,
    /// What the string literals say, each with [`LITERAL_END`] behind it; of a long one the part on this line.
    pub(crate) text: String,
}

/// Ends the text of a string literal.
pub(crate) const LITERAL_END: char = '\0';

/// Splits a source.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut scanner = Scanner { rest: text.chars().peekable(), lines: vec![Line::default()] };
    while let Some(char) = scanner.next() {
        scanner.code(char);
    }
    scanner.lines
}

struct Scanner<'a> {
    rest: Peekable<Chars<'a>>,
    lines: Vec<Line>,
}

impl Scanner<'_> {
    /// The next character; a line break opens a new line, whatever we are in.
    fn next(&mut self) -> Option<char> {
        let char = self.rest.next()?;
        if char == '\n' {
            self.lines.push(Line::default());
        }
        Some(char)
    }

    fn code(&mut self, char: char) {
        match (char, self.rest.peek().copied()) {
            ('\n', _) => {}
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => self.string(),
            ('r', Some('"' | '#')) if self.may_open_raw_string() => self.raw_string(),
            ('\'', _) => self.quote(),
            _ => self.push_code(char),
        }
    }

    fn line_comment(&mut self) {
        self.push_comment('/');
        while let Some(char) = self.rest.next_if(|char| *char != '\n') {
            self.push_comment(char);
        }
    }

    fn block_comment(&mut self) {
        self.push_comment('/');
        let mut depth = 0_usize;
        let mut previous = '/';
        while let Some(char) = self.next() {
            if char != '\n' {
                self.push_comment(char);
            }
            let pair = (previous, char);
            // A character belongs to one marker only: `/*/` opens and does not close.
            previous = if matches!(pair, ('/', '*') | ('*', '/')) { ' ' } else { char };
            match pair {
                ('/', '*') => depth += 1,
                ('*', '/') if depth == 1 => return,
                ('*', '/') => depth -= 1,
                _ => {}
            }
        }
    }

    fn string(&mut self) {
        self.push_code('"');
        while let Some(char) = self.next() {
            match char {
                '\\' => drop(self.next()),
                '"' => break,
                _ => self.push_text(char),
            }
        }
        self.push_text(LITERAL_END);
        self.push_code('"');
    }

    /// `r"` and `br"` open a raw string, `for"` does not; `r#type` is a name.
    fn may_open_raw_string(&self) -> bool {
        let mut before = self.lines.last().map_or("", |line| line.code.as_str()).chars().rev();
        let previous = match before.next() {
            Some('b' | 'c') => before.next(),
            other => other,
        };
        let opens = self.rest.clone().find(|char| *char != '#') == Some('"');
        opens && !previous.is_some_and(is_word)
    }

    fn raw_string(&mut self) {
        let mut hashes = 0;
        while self.rest.next_if_eq(&'#').is_some() {
            hashes += 1;
        }
        self.rest.next();
        self.push_code('"');
        while let Some(char) = self.next() {
            if char == '"' && (0..hashes).all(|_| self.rest.next_if_eq(&'#').is_some()) {
                break;
            }
            self.push_text(char);
        }
        self.push_text(LITERAL_END);
        self.push_code('"');
    }

    /// A character literal is emptied, a lifetime is kept.
    fn quote(&mut self) {
        let mut ahead = self.rest.clone();
        let (first, second) = (ahead.next(), ahead.next());
        self.push_code('\'');
        if first == Some('\\') {
            self.rest.next();
            self.rest.next();
            while self.rest.next_if(|char| *char != '\'').is_some() {}
        } else if second == Some('\'') {
            self.rest.next();
        } else {
            return;
        }
        self.rest.next();
        self.push_code('\'');
    }

    fn push_code(&mut self, char: char) {
        if let Some(line) = self.lines.last_mut() {
            line.code.push(char);
        }
    }

    fn push_text(&mut self, char: char) {
        if let Some(line) = self.lines.last_mut() {
            line.text.push(char);
        }
    }

    fn push_comment(&mut self, char: char) {
        if let Some(line) = self.lines.last_mut() {
            line.comment.push(char);
        }
    }
}

/// Whether a character may be part of a name.
pub(crate) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The names and keywords in a piece of code or prose.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char| !is_word(char)).filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
