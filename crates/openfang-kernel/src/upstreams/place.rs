//! Where a server is, from its entry: a program with its arguments and environment, or a URL with its headers. `${VAR}` is
//! filled in each time, so that a variable that is not set fails this one server and nothing else.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::{Arc, Weak};

use openfang_egress::process::{Environment, EnvironmentKind, Launch, Program, Surroundings};
use openfang_mcp::client::{Endpoint, Place};
use openfang_types::config::{EnvEntry, McpServerConfigEntry, McpTransportEntry};
use openfang_types::secret::Secret;

use super::given::Given;
use super::log::ServerLog;
use crate::Kernel;
use crate::kernel::Inner;

/// The place that an entry names.
pub(super) struct EntryPlace {
    entry: McpServerConfigEntry,
    kernel: Weak<Inner>,
    log: Arc<ServerLog>,
    /// What the server was given, filled in.
    given: Arc<Given>,
}

impl EntryPlace {
    pub(super) const fn new(
        entry: McpServerConfigEntry,
        kernel: Weak<Inner>,
        log: Arc<ServerLog>,
        given: Arc<Given>,
    ) -> Self {
        Self { entry, kernel, log, given }
    }

    fn program(&self, kernel: &Kernel, command: &str, args: &[String]) -> Result<Endpoint, String> {
        let ours = Surroundings::ours();
        let listed: Vec<String> = self.entry.env.iter().map(EnvEntry::expose).map(str::to_owned).collect();
        let environment = Environment::build(EnvironmentKind::McpServer, &listed, &ours).map_err(text)?;
        // A path or a host is no secret, and is needed in answers.
        let secrets = environment.expose_listed().filter(|(name, _)| is_secret(name));
        self.given.note(secrets.map(|(_, value)| value.to_owned()).collect());
        let directory = kernel.inner.home.servers();
        std::fs::create_dir_all(&directory).map_err(text)?;
        let program = Program::resolve(command, environment.path(), &directory).map_err(text)?;
        let arguments = args.iter().map(|arg| ours.fill_in("args", arg));
        let arguments = arguments.collect::<Result<Vec<OsString>, _>>().map_err(text)?;
        let log = Arc::clone(&self.log);
        let launch = Launch {
            arguments,
            on_stderr: Some(Arc::new(move |line: &str| log.add("stderr", line))),
            ..Launch::new(program, environment, directory)
        };
        let door = kernel.processes().map_err(text)?.clone();
        Ok(Endpoint::Program { door, launch: Box::new(launch) })
    }

    fn url<'a>(
        &self,
        kernel: &Kernel,
        url: &str,
        headers: impl Iterator<Item = (&'a String, &'a Secret)>,
    ) -> Result<Endpoint, String> {
        let ours = Surroundings::ours();
        let filled = |what: &str, template: &str| {
            let value = ours.fill_in(what, template).map_err(text)?;
            value.into_string().map_err(|_| format!("the {what} is not UTF-8"))
        };
        let door = kernel.http().clone();
        let url = door.guard().operator(&filled("url", url)?).map_err(text)?;
        let header = |(name, value): (&String, &Secret)| {
            filled(&format!("header {name}"), value.expose()).map(|value| (name.clone(), value))
        };
        let headers = headers.map(header).collect::<Result<Vec<_>, String>>()?;
        // `Bearer` and the like are no secrets, what follows is.
        let words = headers.iter().flat_map(|(_, value)| value.split_whitespace().map(str::to_owned));
        self.given.note(words.collect());
        Endpoint::url(door, url, headers)
    }
}

impl Place for EntryPlace {
    fn endpoint(&self) -> Result<Endpoint, String> {
        let kernel = Kernel { inner: self.kernel.upgrade().ok_or("the house is closing")? };
        match &self.entry.transport {
            McpTransportEntry::Stdio { command, args } => self.program(&kernel, command, args),
            McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
                self.url(&kernel, url, headers.iter())
            }
        }
    }

    fn shown<'t>(&self, said: &'t str) -> Cow<'t, str> {
        self.given.shown(said)
    }
}

/// Whether a variable of this name holds a secret, as far as names tell.
fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"];
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
