//! Logs, on standard error. Standard output is for results.
//!
//! Log messages quote untrusted text: of MCP servers, callers and files. Control characters and invisible characters are
//! escaped here and nowhere else, so that no text can forge a line or drive a terminal. The text format escapes every field,
//! the JSON format the whole line.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use openfang_types::config::{LogConfig, LogFormat, LogLevel};
use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::log_file::LogFile;
use crate::output::{Output, json_text, one_line};

/// A handle that changes the log level.
pub(crate) struct LogFilter(Box<dyn Fn(LogLevel) + Send + Sync>);

impl LogFilter {
    /// Sets the log level.
    pub(crate) fn follow(&self, level: LogLevel) {
        (self.0)(level);
    }
}

/// Starts logging as configured.
pub(crate) fn start(config: &LogConfig, output: &Output) -> LogFilter {
    // A second start, as in tests, changes nothing. Nor does another level after logging has ended.
    match config.format {
        LogFormat::Text => {
            let (lines, filter) = text(config.level, output.stderr_has_colour(), io::stderr);
            let _ = lines.try_init();
            filter
        }
        LogFormat::Json => {
            let (lines, filter) = json(config.level, io::stderr);
            let _ = lines.try_init();
            filter
        }
    }
}

/// Starts the log of a daemon: on standard error, or with `log.file` in a file, always as JSON.
pub(crate) fn start_daemon(config: &LogConfig, output: &Output, path: &Path) -> LogFilter {
    if !config.file {
        return start(config, output);
    }
    match LogFile::open(path) {
        Ok(file) => {
            let (lines, filter) = json(config.level, file);
            let _ = lines.try_init();
            filter
        }
        Err(error) => {
            output
                .complaint(&format!("cannot write the log to {}: {error}; it goes to standard error", path.display()));
            start(config, output)
        }
    }
}

/// Escapes the message of a panic, which may quote untrusted text.
pub(crate) fn escape_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = std::backtrace::Backtrace::capture();
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "openfang: {}", one_line(&panic.to_string()));
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            let _ = writeln!(stderr, "{trace}");
        }
    }));
}

/// The subscriber for the text format.
fn text<W>(level: LogLevel, colour: bool, writer: W) -> (impl Subscriber + Send + Sync, LogFilter)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .with_writer(writer)
        .with_ansi(colour)
        .fmt_fields(format::debug_fn(write_field).delimited(" "))
        .with_filter_reloading();
    let handle = lines.reload_handle();
    (lines.finish(), LogFilter(Box::new(move |level| drop(handle.reload(filter(level))))))
}

/// The subscriber for the JSON format.
fn json<W>(level: LogLevel, writer: W) -> (impl Subscriber + Send + Sync, LogFilter)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .json()
        .with_writer(EscapedJson(writer))
        .with_filter_reloading();
    let handle = lines.reload_handle();
    (lines.finish(), LogFilter(Box::new(move |level| drop(handle.reload(filter(level))))))
}

/// The filter for a level. Other crates log warnings and errors only.
fn filter(level: LogLevel) -> EnvFilter {
    let ours = word(level);
    let others = if level == LogLevel::Error { "error" } else { "warn" };
    EnvFilter::new(format!("{others},openfang={ours}"))
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = one_line(&format!("{value:?}"));
    match field.name() {
        "message" => writer.write_str(&value),
        name if writer.has_ansi_escapes() => write!(writer, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{value}"),
        name => write!(writer, "{name}={value}"),
    }
}

/// Escapes every line that is written. An event is written in one piece.
struct EscapedJson<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for EscapedJson<W> {
    type Writer = EscapedJson<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        EscapedJson(self.0.make_writer())
    }
}

impl<W: Write> Write for EscapedJson<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(json_text(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

const fn word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    }
}

#[cfg(test)]
#[path = "logging_tests.rs"]
mod tests;
