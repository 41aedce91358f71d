//! Logs, on standard error: standard output belongs to results.

use openfang_types::config::{LogConfig, LogFormat, LogLevel};
use tracing_subscriber::EnvFilter;

use crate::output::Output;

/// Says how much is logged from now on.
pub(crate) struct LogFilter(Box<dyn Fn(LogLevel) + Send + Sync>);

impl LogFilter {
    /// Logs this much from now on.
    pub(crate) fn follow(&self, level: LogLevel) {
        (self.0)(level);
    }
}

/// Starts logging as configured.
pub(crate) fn start(config: &LogConfig, output: &Output) -> LogFilter {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(config.level))
        .with_writer(std::io::stderr)
        .with_ansi(output.stderr_has_colour());
    // A second start, as in tests, changes nothing. Nor does another level after logging has ended.
    match config.format {
        LogFormat::Text => {
            let lines = lines.with_filter_reloading();
            let handle = lines.reload_handle();
            let _ = lines.try_init();
            LogFilter(Box::new(move |level| drop(handle.reload(filter(level)))))
        }
        LogFormat::Json => {
            let lines = lines.json().with_filter_reloading();
            let handle = lines.reload_handle();
            let _ = lines.try_init();
            LogFilter(Box::new(move |level| drop(handle.reload(filter(level)))))
        }
    }
}

/// What other crates log is of interest from warnings on.
fn filter(level: LogLevel) -> EnvFilter {
    let others = if level == LogLevel::Error { "error" } else { "warn" };
    EnvFilter::new(format!("{others},openfang={}", word(level)))
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
