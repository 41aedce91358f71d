//! The context of a command: the home, the configuration overlays and the output.

use std::path::Path;
use std::sync::OnceLock;

use openfang_egress::daemon::{Daemon, WireTracer, find_daemon};
use openfang_kernel::Kernel;
use openfang_kernel::config_file::{self, Overlay, UsableConfig};
use openfang_kernel::home::{FirstRun, Home};
use openfang_kernel::strict_toml::ValueSource;
use openfang_types::config::{Config, ConfigProblem, LogConfig, LogLevel};

use crate::args::Global;
use crate::error::CliError;
use crate::output::Output;
use crate::remote::ServerOrigin;
use crate::temporary_home::TemporaryHome;

const LOG_LEVEL_KEY: &str = "log.level";

pub(crate) struct Session {
    pub(crate) output: Output,
    pub(crate) home: Home,
    /// The command line that runs openfang on the same home.
    program: String,
    overlays: Vec<Overlay>,
    pub(crate) log_level: Option<String>,
    trace_wire: bool,
    pub(crate) in_process: bool,
    /// The server on another machine that the command is for.
    pub(crate) remote: Option<ServerOrigin>,
    /// Whether the command only reads, and leaves no home behind where there is none.
    only_reads: bool,
    temporary: OnceLock<TemporaryHome>,
    kernel: OnceLock<Kernel>,
}

impl Session {
    pub(crate) fn new(global: &Global, output: Output) -> Result<Self, CliError> {
        let directory = match &global.home {
            Some(directory) => std::path::absolute(directory).unwrap_or_else(|_| directory.clone()),
            None => config_file::home_directory().ok_or(CliError::NoHome)?,
        };
        if directory.exists() && !directory.is_dir() {
            return Err(CliError::HomeIsFile(directory));
        }
        let program = match &global.home {
            Some(_) => format!("openfang --home {}", quoted(&directory)),
            None => "openfang".to_owned(),
        };
        let mut overlays = config_file::environment();
        overlays.extend(global.log_level.iter().map(|level| flag("--log-level", LOG_LEVEL_KEY, level)));
        let home = match config_file::key_file() {
            Some(path) => Home::at(directory).with_key_file(path),
            None => Home::at(directory),
        };
        Ok(Self {
            output,
            home,
            program,
            overlays,
            log_level: global.log_level.clone(),
            trace_wire: global.trace_wire,
            in_process: global.in_process,
            remote: global.url.as_deref().map(ServerOrigin::parse).transpose()?,
            only_reads: false,
            temporary: OnceLock::new(),
            kernel: OnceLock::new(),
        })
    }

    /// The same for a command that only reads.
    #[must_use]
    pub(crate) fn only_reading(self, only_reads: bool) -> Self {
        Self { only_reads, ..self }
    }

    /// The home that a kernel of this process works on. A command that only reads gets a new one, which is removed at the end,
    /// if there is none.
    pub(crate) fn home_to_work_on(&self) -> Result<(Home, FirstRun), CliError> {
        if !self.only_reads || self.home.root().exists() {
            return Ok((self.home.clone(), self.prepare_home()?));
        }
        let temporary = TemporaryHome::create()?;
        let home = Home::at(temporary.path().to_owned());
        home.prepare()?;
        self.output.note(&format!(
            "there is no home at {} yet, so this is what a new one has; create it with `{}`",
            self.home.root().display(),
            self.command("init")
        ));
        // One command opens one backend.
        let _ = self.temporary.set(temporary);
        Ok((home, FirstRun::No))
    }

    /// The effective configuration: file, environment, global flags and flags of the command.
    pub(crate) fn config(&self, flags: &[Overlay]) -> Result<Config, CliError> {
        Ok(config_file::load(&self.home.config(), &self.overlays(flags))?)
    }

    /// The effective configuration without invalid entries of MCP servers.
    pub(crate) fn usable_config(&self, flags: &[Overlay]) -> Result<UsableConfig, CliError> {
        Ok(config_file::load_usable(&self.home.config(), &self.overlays(flags))?)
    }

    /// The overlays over the file, with flags of the command. Later overlays win.
    pub(crate) fn overlays(&self, flags: &[Overlay]) -> Vec<Overlay> {
        [&self.overlays, flags].concat()
    }

    /// When an edit of config.toml that this process made takes effect.
    pub(crate) async fn effect(&self) -> &'static str {
        match self.daemon().await {
            Ok(Some(_)) => "the running daemon reads config.toml within seconds, unless [reload] watch is off",
            Ok(None) | Err(_) => "no daemon is running; this takes effect at the next start",
        }
    }

    /// A configuration problem that depends on the content of the home, with its location.
    pub(crate) fn faulty(&self, flags: &[Overlay], problem: ConfigProblem) -> CliError {
        config_file::placed(&self.home.config(), &self.overlays(flags), problem).into()
    }

    /// Creates the home if needed. A home that everybody may write is refused.
    pub(crate) fn prepare_home(&self) -> Result<FirstRun, CliError> {
        let first_run = self.home.prepare()?;
        self.check_exposure()?;
        Ok(first_run)
    }

    /// Refuses a home that everybody may write, and complains about one that a few others may.
    pub(crate) fn check_exposure(&self) -> Result<(), CliError> {
        let exposures = self.home.exposures()?;
        exposures.iter().for_each(|exposure| self.output.complaint(&exposure.to_string()));
        Ok(())
    }

    /// Stores the kernel of this process, so that it can be closed at the end.
    pub(crate) fn works_with(&self, kernel: &Kernel) {
        // One command opens one backend.
        let _ = self.kernel.set(kernel.clone());
    }

    /// Closes the kernel of this process, if there is one.
    pub(crate) async fn close(&self) {
        if let Some(kernel) = self.kernel.get() {
            kernel.close().await;
        }
    }

    /// The daemon of this home, if one is running.
    pub(crate) async fn daemon(&self) -> Result<Option<Daemon>, CliError> {
        let tracer = if self.trace_wire { self.output.wire_tracer() } else { WireTracer::off() };
        let found = find_daemon(&self.home.daemon(), tracer).await?;
        if found.is_none() && self.trace_wire {
            self.output.note("no daemon is running: there are no requests to trace");
        }
        Ok(found)
    }

    /// The log configuration of a single command. The level in config.toml applies to the daemon only; a flag or an environment
    /// variable applies here.
    pub(crate) fn command_log(&self) -> LogConfig {
        let asked = self.overlays.iter().rev().find(|overlay| overlay.key == LOG_LEVEL_KEY);
        let level = asked.and_then(|overlay| serde_json::from_value(overlay.value.as_str().into()).ok());
        LogConfig { level: level.unwrap_or(LogLevel::Warn), ..LogConfig::default() }
    }

    /// Whether a program that knows nothing of this shell would use the same home.
    pub(crate) fn is_default_home(&self) -> bool {
        config_file::directories()
            .home
            .is_some_and(|user| user.join(".openfang") == self.home.root())
    }

    /// A command line for the user to copy.
    pub(crate) fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program)
    }
}

/// A flag that overlays a key of the configuration.
pub(crate) fn flag(name: &str, key: &str, value: &str) -> Overlay {
    Overlay { place: ValueSource::Flag(name.to_owned()), key: key.to_owned(), value: value.to_owned() }
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+,:@%".contains(c));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
