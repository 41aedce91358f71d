//! The only module that prints. Results go to standard output, hints and errors to standard error.
//!
//! On a terminal tables fit its width, and colors are used unless `NO_COLOR` is set. Control characters in texts of agents
//! and tools are escaped, also into a pipe. With `--json` a command prints exactly one document, or one per line for
//! streams.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use openfang_egress::daemon::WireTracer;
use openfang_kernel::config_file;
use serde::Serialize;

use crate::args::Global;
use crate::diff::DiffLine;
use crate::error::CliError;
use table::Look;

pub(crate) use paint::Tone;
pub(crate) use screen::{SavedTerminal, Screen};
pub(crate) use table::{Cell, Fields, Table};

mod escape;
mod mask;
mod paint;
mod screen;
mod table;

/// A reported terminal width below this is ignored.
const NARROWEST: usize = 40;

/// Escapes untrusted text to a single line without invisible characters.
pub(crate) fn one_line(text: &str) -> String {
    escape::line(text)
}

/// Whether a terminal shows every character of a text.
pub(crate) fn is_plain(text: &str) -> bool {
    escape::text(text) == text
}

/// Escapes a JSON document that contains untrusted text.
pub(crate) fn json_text(document: &str) -> String {
    escape::json(document)
}

#[derive(Debug, Clone)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    stdout: Surface,
    stderr: Surface,
}

/// The properties of an output stream.
#[derive(Debug, Clone, Copy)]
struct Surface {
    is_terminal: bool,
    colour: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let wanted = !config_file::no_color();
        let surface = |is_terminal| Surface { is_terminal, colour: is_terminal && wanted };
        Self {
            json: global.json,
            quiet: global.quiet,
            stdout: surface(io::stdout().is_terminal()),
            stderr: surface(io::stderr().is_terminal()),
        }
    }

    /// Whether `--json` was passed.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) const fn stderr_has_colour(&self) -> bool {
        self.stderr.colour
    }

    /// Prints one JSON document, indented.
    pub(crate) fn document(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print(&escape::json(&text), "\n")
    }

    /// Prints one JSON document on one line and flushes.
    pub(crate) fn json_line(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        self.print(&escape::json(&text), "\n")
    }

    /// Prints JSON documents, one per line, in one write.
    pub(crate) fn json_lines(&self, values: &[impl Serialize]) -> Result<(), CliError> {
        let mut text = String::new();
        for value in values {
            text.push_str(&serde_json::to_string(value).map_err(io::Error::from)?);
            text.push('\n');
        }
        self.print(&escape::json(&text), "")
    }

    /// Prints a text and a line break.
    pub(crate) fn text(&self, text: &str) -> Result<(), CliError> {
        self.print(&escape::text(text), if text.ends_with('\n') { "" } else { "\n" })
    }

    /// Prints a piece of a text and flushes.
    pub(crate) fn piece(&self, text: &str) -> Result<(), CliError> {
        self.print(&escape::text(text), "")
    }

    pub(crate) fn table(&self, table: &Table) -> Result<(), CliError> {
        self.print(&table.render(&self.look()), "")
    }

    /// Prints a table without cutting its last column.
    pub(crate) fn whole_table(&self, table: &Table) -> Result<(), CliError> {
        self.print(&table.render(&Look { width: None, ..self.look() }), "")
    }

    pub(crate) fn fields(&self, fields: &Fields) -> Result<(), CliError> {
        self.print(&fields.render(&self.look()), "")
    }

    /// Prints the changes of a file. Values whose names sound like a secret are left out.
    pub(crate) fn diff(&self, path: &Path, lines: &[DiffLine<'_>]) -> Result<(), CliError> {
        let path = escape::line(&path.display().to_string());
        let mut text = format!("--- {path}\n+++ {path}\n");
        for line in lines {
            let (mark, line, tone) = match line {
                DiffLine::Same(line) => (" ", *line, Tone::Plain),
                DiffLine::Removed(line) => ("-", *line, Tone::Bad),
                DiffLine::Added(line) => ("+", *line, Tone::Good),
                DiffLine::Gap => (" ", "...", Tone::Faint),
            };
            let line = format!("{mark}{}", escape::text(&mask::masked(line)));
            text.push_str(&paint::paint(&line, tone, self.stdout.colour));
            text.push('\n');
        }
        self.print(&text, "")
    }

    /// Prints information about a started process, on standard error.
    pub(crate) fn announce(&self, text: &str) {
        if self.remarks() {
            say(&escape::text(text));
        }
    }

    /// Prints a hint on standard error. Scripts silence it with `--quiet` or `--json`.
    pub(crate) fn note(&self, text: &str) {
        if self.remarks() {
            say(&paint::paint(&escape::text(text), Tone::Faint, self.stderr.colour));
        }
    }

    /// Whether remarks are shown.
    pub(crate) const fn remarks(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Whether remarks are shown on a terminal, where a line can be written anew.
    pub(crate) const fn can_rewrite(&self) -> bool {
        self.remarks() && self.stderr.is_terminal
    }

    /// Writes a line of a terminal anew, cut to its width; nothing to clear it.
    pub(crate) fn rewrite(&self, text: &str) {
        let width = terminal_width().filter(|width| *width >= NARROWEST).unwrap_or(NARROWEST * 2);
        let line: String = escape::line(text).chars().take(width - 1).collect();
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{}", paint::paint(&line, Tone::Faint, self.stderr.colour));
        let _ = stderr.flush();
    }

    /// Prints a question on standard error, without a line break.
    pub(crate) fn question(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{}", escape::text(text));
        let _ = stderr.flush();
    }

    /// Prints a failure that is part of a result, such as a failed task. JSON output contains it already.
    pub(crate) fn complaint(&self, text: &str) {
        if !self.json {
            self.say_error(text);
        }
    }

    /// Prints the error of the command.
    pub(crate) fn error(&self, error: &CliError) {
        if self.json {
            say(&escape::json(&error.to_json().to_string()));
        } else {
            self.say_error(&error.to_text());
        }
    }

    /// Prints a usage error of clap.
    pub(crate) fn usage(&self, text: &str) {
        say(escape::text(text).trim_end());
    }

    /// A tracer that prints requests and responses on standard error.
    pub(crate) fn wire_tracer(&self) -> WireTracer {
        let stderr = self.stderr;
        WireTracer::to(move |line| say(&paint::paint(&escape::text(line), Tone::Faint, stderr.colour)))
    }

    fn say_error(&self, text: &str) {
        let name = paint::paint("openfang:", Tone::Bad, self.stderr.colour);
        say(&format!("{name} {}", escape::text(text)));
    }

    fn print(&self, text: &str, end: &str) -> Result<(), CliError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.write_all(end.as_bytes())?;
        Ok(stdout.flush()?)
    }

    fn look(&self) -> Look {
        let width = if self.stdout.is_terminal { terminal_width() } else { None };
        Look { colour: self.stdout.colour, width: width.filter(|width| *width >= NARROWEST) }
    }
}

/// Writes a line to standard error. A write error is ignored, because it cannot be reported.
fn say(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{line}");
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}
