//! Logs, on standard error: standard output belongs to results.

use openfang_types::config::{LogConfig, LogFormat, LogLevel};
use tracing_subscriber::EnvFilter;

use crate::output::Output;

/// Starts logging as configured. What other crates log is of interest from warnings on.
pub(crate) fn start(config: &LogConfig, output: &Output) {
    let ours = word(config.level);
    let others = if config.level == LogLevel::Error { "error" } else { "warn" };
    let filter = EnvFilter::new(format!("{others},openfang={ours}"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(output.stderr_has_colour());
    // A second start, as in tests, changes nothing.
    let _ = match config.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
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
