//! Where a server is, from its entry: a program with its arguments and environment, or a URL with its headers. `${VAR}` and
//! `${secret:NAME}` are filled in each time, so that one that is missing fails this one server and nothing else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_egress::process::{Environment, EnvironmentKind, Launch, Network, Program, Sandbox, Surroundings};
use openfang_mcp::client::{Endpoint, Locator, NoEndpoint};
use openfang_types::config::{EnvEntry, McpSandbox, McpServerConfigEntry, McpTransportEntry};
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

    fn program(&self, command: &str, args: &[String], ours: &Surroundings) -> Result<Endpoint, NoEndpoint> {
        let listed: Vec<String> = self.entry.env.iter().map(EnvEntry::expose).map(str::to_owned).collect();
        let environment =
            Environment::build(EnvironmentKind::McpServer, &listed, ours).map_err(NoEndpoint::until_changed)?;
        let directory = self.directory(ours)?;
        let program = Program::resolve(command, environment.path(), &directory).map_err(NoEndpoint::for_now)?;
        let arguments = args.iter().map(|arg| ours.fill_in("args", arg));
        let arguments = arguments.collect::<Result<Vec<OsString>, _>>().map_err(NoEndpoint::until_changed)?;
        let log = Arc::clone(&self.log);
        let sandbox = self.entry.sandbox.as_ref().map(|walls| sandbox(walls, &program, &directory));
        let launch = Launch {
            arguments,
            sandbox,
            on_stderr: Some(Arc::new(move |line: &str| log.add("stderr", line))),
            ..Launch::new(program, environment, directory)
        };
        let door = self.reach.processes().map_err(NoEndpoint::for_now)?.clone();
        Ok(Endpoint::Program { door, launch: Box::new(launch) })
    }

    /// The working directory: that of the entry, or one of the home.
    fn directory(&self, ours: &Surroundings) -> Result<PathBuf, NoEndpoint> {
        let Some(cwd) = &self.entry.cwd else {
            let directory = self.reach.home().servers();
            std::fs::create_dir_all(&directory).map_err(NoEndpoint::for_now)?;
            return Ok(directory);
        };
        let directory = PathBuf::from(ours.fill_in("cwd", cwd).map_err(NoEndpoint::until_changed)?);
        let shown = directory.display();
        let why = match directory.metadata() {
            Ok(_) if !directory.is_absolute() => format!("cwd {shown} is not an absolute path"),
            Ok(found) if found.is_dir() => return Ok(directory),
            Ok(_) => format!("cwd {shown} is not a directory"),
            Err(cause) => format!("cwd {shown} cannot be used: {cause}; create it, or change cwd of the server"),
        };
        Err(NoEndpoint::for_now(why))
    }

    fn url<'a>(
        &self,
        url: &str,
        headers: impl Iterator<Item = (&'a String, &'a Secret)>,
        ours: &Surroundings,
    ) -> Result<Endpoint, NoEndpoint> {
        let filled = |what: &str, template: &str| {
            let value = ours.fill_in(what, template).map_err(NoEndpoint::until_changed)?;
            value
                .into_string()
                .map_err(|_| NoEndpoint::until_changed(format_args!("the {what} is not UTF-8")))
        };
        let settings = self.reach.settings();
        let door = settings.http().clone();
        let url = door.guard().operator(&filled("url", url)?).map_err(NoEndpoint::for_now)?;
        let header = |(name, value): (&String, &Secret)| {
            filled(&format!("header {name}"), value.expose()).map(|value| (name.clone(), value))
        };
        let headers = headers.map(header).collect::<Result<Vec<_>, NoEndpoint>>()?;
        Endpoint::url(door, url, headers).map_err(NoEndpoint::for_now)
    }
}

impl Locator for EntryPlace {
    fn endpoint(&self) -> Result<Endpoint, NoEndpoint> {
        let settings = self.reach.settings();
        let lent = self.reach.lending().to_server(&self.entry, settings.http().guard());
        let ours = lent.map_err(NoEndpoint::until_changed)?;
        self.secrets.note(&self.entry, &ours).map_err(NoEndpoint::for_now)?;
        match &self.entry.transport {
            McpTransportEntry::Stdio { command, args } => self.program(command, args, &ours),
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                self.url(url, headers.iter(), &ours)
            }
        }
    }

    fn redactor(&self) -> Arc<Redactor> {
        self.secrets.redactor()
    }
}

/// The walls around a program. It can read itself and its working directory.
fn sandbox(walls: &McpSandbox, program: &Program, directory: &Path) -> Sandbox {
    let mut read = walls.read.clone();
    read.extend([program.path().to_owned(), directory.to_owned()]);
    let network = if walls.network { Network::Allowed } else { Network::Denied };
    Sandbox { read, write: walls.write.clone(), network }
}
