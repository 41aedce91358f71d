//! Where a server is, from its entry: a program with its arguments and environment, or a URL with its headers. `${VAR}` is
//! filled in each time, so that a variable that is not set fails this one server and nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use openfang_egress::process::{Environment, EnvironmentKind, Launch, Program, Surroundings};
use openfang_mcp::client::{Endpoint, Locator};
use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::redact::Redactor;
use openfang_types::secret::Secret;

use super::log::ServerLog;
use super::reach::Reach;
use super::secrets::ServerSecrets;

/// The place that an entry names.
pub(super) struct EntryPlace {
    entry: McpServerConfigEntry,
    reach: Arc<Reach>,
    log: Arc<ServerLog>,
    secrets: Arc<ServerSecrets>,
}

impl EntryPlace {
    pub(super) const fn new(
        entry: McpServerConfigEntry,
        reach: Arc<Reach>,
        log: Arc<ServerLog>,
        secrets: Arc<ServerSecrets>,
    ) -> Self {
        Self { entry, reach, log, secrets }
    }

    fn program(&self, command: &str, args: &[String]) -> Result<Endpoint, String> {
        let ours = Surroundings::ours();
        let listed: Vec<String> = self.entry.env.iter().map(EnvEntry::expose).map(str::to_owned).collect();
        let environment = Environment::build(EnvironmentKind::McpServer, &listed, &ours).map_err(text)?;
        let directory = self.directory(&ours)?;
        let program = Program::resolve(command, environment.path(), &directory).map_err(text)?;
        let arguments = args.iter().map(|arg| ours.fill_in("args", arg));
        let arguments = arguments.collect::<Result<Vec<OsString>, _>>().map_err(text)?;
        let log = Arc::clone(&self.log);
        let launch = Launch {
            arguments,
            on_stderr: Some(Arc::new(move |line: &str| log.add("stderr", line))),
            ..Launch::new(program, environment, directory)
        };
        let door = self.reach.processes().map_err(text)?.clone();
        Ok(Endpoint::Program { door, launch: Box::new(launch) })
    }

    /// The working directory: that of the entry, or one of the home.
    fn directory(&self, ours: &Surroundings) -> Result<PathBuf, String> {
        let Some(cwd) = &self.entry.cwd else {
            let directory = self.reach.home().servers();
            std::fs::create_dir_all(&directory).map_err(text)?;
            return Ok(directory);
        };
        let directory = PathBuf::from(ours.fill_in("cwd", cwd).map_err(text)?);
        let shown = directory.display();
        match directory.metadata() {
            Ok(_) if !directory.is_absolute() => Err(format!("cwd {shown} is not an absolute path")),
            Ok(found) if found.is_dir() => Ok(directory),
            Ok(_) => Err(format!("cwd {shown} is not a directory")),
            Err(cause) => Err(format!("cwd {shown} cannot be used: {cause}; create it, or change cwd of the server")),
        }
    }

    fn url<'a>(&self, url: &str, headers: impl Iterator<Item = (&'a String, &'a Secret)>) -> Result<Endpoint, String> {
        let ours = Surroundings::ours();
        let filled = |what: &str, template: &str| {
            let value = ours.fill_in(what, template).map_err(text)?;
            value.into_string().map_err(|_| format!("the {what} is not UTF-8"))
        };
        let settings = self.reach.settings();
        let door = settings.http().clone();
        let url = door.guard().operator(&filled("url", url)?).map_err(text)?;
        let header = |(name, value): (&String, &Secret)| {
            filled(&format!("header {name}"), value.expose()).map(|value| (name.clone(), value))
        };
        let headers = headers.map(header).collect::<Result<Vec<_>, String>>()?;
        Endpoint::url(door, url, headers)
    }
}

impl Locator for EntryPlace {
    fn endpoint(&self) -> Result<Endpoint, String> {
        self.secrets.note(&self.entry)?;
        match &self.entry.transport {
            McpTransportEntry::Stdio { command, args } => self.program(command, args),
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                self.url(url, headers.iter())
            }
        }
    }

    fn redactor(&self) -> Arc<Redactor> {
        self.secrets.redactor()
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
