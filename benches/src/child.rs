//! The measured servers as child processes: the product in its own home, and the floor. A child is killed by its id
//! when its value is dropped, on every exit of the bench.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use crate::floor::Answer;
use crate::{load, scenarios, wire};

const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(1);
const LOG: &str = "bench.log";

/// A running server; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        kill(&mut self.child);
    }
}

/// A child that has not printed its address yet.
struct Starting(Option<Child>);

impl Starting {
    fn child(&mut self) -> Result<&mut Child> {
        self.0.as_mut().context("the child was handed over already")
    }

    fn started(mut self, address: String) -> Result<Server> {
        let child = self.0.take().context("the child was handed over already")?;
        Ok(Server { child, address })
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            kill(child);
        }
    }
}

/// Both calls fail only if the child is already gone.
fn kill(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// A home for the product with the bench's config. It is deleted with its value.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
    openfang: PathBuf,
}

/// The content of `daemon.json`.
#[derive(Debug, Deserialize)]
struct Daemon {
    address: String,
}

impl Home {
    /// Creates the home. The product adds the rest at its first start.
    pub(crate) fn new(openfang: &Path, more_config: &str) -> Result<Self> {
        Self::with_config(openfang, &scenarios::config(more_config))
    }

    /// Creates a home with exactly this config.
    pub(crate) fn with_config(openfang: &Path, config: &str) -> Result<Self> {
        let openfang = openfang.canonicalize().with_context(|| format!("there is no {}", openfang.display()))?;
        let directory = TempDir::with_prefix("openfang-bench-")?;
        fs::write(directory.path().join("config.toml"), config)?;
        Ok(Self { directory, openfang })
    }

    /// Adds this many agents, which makes their list long.
    pub(crate) fn with_agents(self, count: usize) -> Result<Self> {
        (0..count).try_fold(self, |home, number| home.with_direct_agent(&format!("a{number:04}"), &["get_greeting"]))
    }

    /// Adds an agent without a model that may use these tools.
    pub(crate) fn with_direct_agent(self, name: &str, tools: &[&str]) -> Result<Self> {
        self.with_direct_agent_for_text(name, tools, None)
    }

    /// Adds such an agent that passes plain text to a tool.
    pub(crate) fn with_direct_agent_for_text(self, name: &str, tools: &[&str], for_text: Option<&str>) -> Result<Self> {
        let directory = self.directory.path().join("agents").join(name);
        fs::create_dir_all(&directory)?;
        let for_text = for_text.map(|tool| format!("default_tool = \"{tool}\"\n")).unwrap_or_default();
        let manifest = format!(
            "name = \"{name}\"\ndescription = \"Agent {name}, which does as it is told.\"\n{for_text}[model]\n\
             provider = \"direct\"\n[capabilities]\ntools = {tools:?}\n"
        );
        fs::write(directory.join("agent.toml"), manifest)?;
        Ok(self)
    }

    /// Adds an agent with these sections in its manifest.
    pub(crate) fn with_manifest(self, name: &str, sections: &str) -> Result<Self> {
        let directory = self.directory.path().join("agents").join(name);
        fs::create_dir_all(&directory)?;
        let manifest = format!("name = \"{name}\"\ndescription = \"Agent {name}.\"\n{sections}");
        fs::write(directory.join("agent.toml"), manifest)?;
        Ok(self)
    }

    /// Adds an agent that plays a script.
    pub(crate) fn with_script(self, name: &str, script: &str) -> Result<Self> {
        let directory = self.directory.path().join("agents").join(name);
        fs::create_dir_all(&directory)?;
        let manifest = format!(
            "name = \"{name}\"\ndescription = \"Plays a script.\"\n[model]\nprovider = \"script\"\n\
             [capabilities]\ntools = []\n"
        );
        fs::write(directory.join("agent.toml"), manifest)?;
        fs::write(directory.join("script.toml"), script)?;
        Ok(self)
    }

    /// From the start of the stdio server to its answer to `initialize`.
    pub(crate) fn stdio_start(&self) -> Result<Duration> {
        let mut command = program(&self.openfang);
        command.arg("mcp").env("OPENFANG_HOME", self.directory.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begin = Instant::now();
        let mut starting = Starting(Some(command.spawn().context("the stdio server does not start")?));
        let child = starting.child()?;
        let mut input = child.stdin.take().context("no standard input")?;
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no standard output")?).read_line(&mut line)?;
        if !line.contains("protocolVersion") {
            bail!("the stdio server answered {line:?}");
        }
        Ok(begin.elapsed())
    }

    /// Runs a command of the product in this home. Returns whether it succeeded, and its output.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<(bool, String)> {
        let output = program(&self.openfang)
            .args(arguments)
            .env("OPENFANG_HOME", self.directory.path())
            .output()
            .context("the product does not start")?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Stops a server of this home the way an operator would. Returns how long it took.
    pub(crate) async fn stop(&self, mut server: Server) -> Result<Duration> {
        let begun = Instant::now();
        let mut command = program(&self.openfang);
        command.arg("stop").env("OPENFANG_HOME", self.directory.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let _told = Starting(Some(command.spawn().context("the product does not start")?));
        while server.child.try_wait()?.is_none() {
            if begun.elapsed() > STOP_TIMEOUT {
                bail!("the product did not end within {STOP_TIMEOUT:?}:\n{}", self.log());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(begun.elapsed())
    }

    /// Starts a third-party server, which prints its address to stdout.
    pub(crate) fn start_peer(&self, path: &Path) -> Result<Server> {
        listening(program(path).arg("0"))
    }

    /// Starts such a server from a script.
    pub(crate) fn start_script([interpreter, script]: &[PathBuf; 2]) -> Result<Server> {
        let mut command = program(interpreter);
        // Keeps the script's directory where its packages are, instead of the target of its link.
        command.env("NODE_PRESERVE_SYMLINKS", "1").env("NODE_PRESERVE_SYMLINKS_MAIN", "1");
        listening(command.arg(script).arg("0"))
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.path().join("data/openfang.db")
    }

    /// Starts another gateway with this config.
    pub(crate) fn start_gateway(&self, path: &Path, config: &str) -> Result<Server> {
        let file = self.directory.path().join("gateway.toml");
        fs::write(&file, config)?;
        listening(program(path).arg(file))
    }

    /// Starts the product and waits for its first successful response. The time includes the start.
    pub(crate) async fn start(&self) -> Result<(Server, Duration)> {
        let home = self.directory.path();
        // A killed product leaves this file behind.
        let _ = fs::remove_file(home.join("daemon.json"));
        let log = File::create(home.join(LOG))?;
        let mut command = program(&self.openfang);
        command.arg("start").env("OPENFANG_HOME", home).stdout(log.try_clone()?).stderr(log);
        let begin = Instant::now();
        let mut starting = Starting(Some(command.spawn().context("the product does not start")?));
        loop {
            if let Some(address) = self.healthy().await {
                return Ok((starting.started(address)?, begin.elapsed()));
            }
            if let Some(status) = starting.child()?.try_wait()? {
                bail!("the product ended with {status}:\n{}", self.log());
            }
            if begin.elapsed() > START_TIMEOUT {
                bail!("the product gave no answer within {START_TIMEOUT:?}:\n{}", self.log());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Where everything of the product lies.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Waits until the product has checked its database, which it does after a kill.
    pub(crate) async fn checked(&self, server: &Server) -> Result<()> {
        loop {
            let (_, body) = load::once(&server.address, &wire::get("/health", &server.address)).await?;
            if !String::from_utf8_lossy(&body).contains("\"check\":\"running\"") {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn healthy(&self) -> Option<String> {
        let text = fs::read_to_string(self.directory.path().join("daemon.json")).ok()?;
        let Daemon { address } = serde_json::from_str(&text).ok()?;
        let (head, _) = load::once(&address, &wire::get("/health", &address)).await.ok()?;
        (head.status == 200).then_some(address)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join(LOG)).unwrap_or_default()
    }

    /// Starts a floor that returns the product's recorded response.
    pub(crate) fn start_floor(&self, answer: &Answer) -> Result<Server> {
        let file = self.directory.path().join("floor.json");
        fs::write(&file, serde_json::to_string(answer)?)?;
        listening(program(&std::env::current_exe()?).arg("floor").arg(file))
    }
}

/// Starts an upstream that is reached by HTTP.
pub(crate) fn start_upstream(tools: usize) -> Result<Server> {
    listening(program(&std::env::current_exe()?).args(["upstream", "http", &tools.to_string()]))
}

/// Starts the A2A agent that calls are handed on to.
pub(crate) fn start_agent() -> Result<Server> {
    listening(program(&std::env::current_exe()?).arg("agent"))
}

/// Starts the provider that agents with a model ask.
pub(crate) fn start_provider() -> Result<Server> {
    listening(program(&std::env::current_exe()?).arg("provider"))
}

/// Starts a program that prints its address to stdout.
fn listening(command: &mut Command) -> Result<Server> {
    command.stdout(Stdio::piped());
    let name = command.get_program().to_string_lossy().into_owned();
    let mut starting = Starting(Some(command.spawn().with_context(|| format!("{name} does not start"))?));
    let stdout = starting
        .child()?
        .stdout
        .take()
        .with_context(|| format!("{name} has no standard output"))?;
    let mut address = String::new();
    BufReader::new(stdout).read_line(&mut address)?;
    starting.started(address.trim().to_owned())
}

/// A program with an empty environment except for PATH.
fn program(path: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the bench measures processes, so it has to start them")]
    let (mut command, search_path) = (Command::new(path), std::env::var_os("PATH"));
    command.env_clear().stdin(Stdio::null());
    if let Some(search_path) = search_path {
        command.env("PATH", search_path);
    }
    command
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
