//! `cargo xtask bench`: builds the binaries as they are installed and lets `openfang-bench` measure the product.
//! What is measured, and against which budget, stands in the `benches` package.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::{process, wants_help};

const OPTIONS: &[&str] = &["--gateway", "--a2a", "--bridge", "--agents", "--quick", "--json", "--strict", PEERS];
const PEERS: &str = "--peers";
/// The build that is installed.
const PROFILE: &str = "dist";
/// Where the gate's stage `peers` installs what is measured beside the product.
const INSTALLED: &str = "peers";
const HELP: &str = "\
Usage: cargo xtask bench [--gateway | --a2a | --bridge | --agents] [--quick] [--json] [--strict] [--peers]

Measures the build of openfang that is installed against a floor: a server that reads and parses the same
requests and answers the same bytes, and does nothing else.

  --gateway  only what concerns the gateway
  --a2a      only what concerns A2A
  --bridge   only what concerns external agents
  --agents   only what concerns agents with a model
  --quick    fewer and shorter rounds, for a first look
  --json     a machine-readable report on standard output
  --strict   fail when a row is over its budget
  --peers    measure servers of the official SDKs and another gateway beside it
             (`cargo xtask test peers` installs them)
";

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(unknown) = args.iter().find(|arg| !OPTIONS.contains(&arg.as_str())) {
        bail!("bench has no option `{unknown}`: try `cargo xtask bench --help`");
    }
    let (mut command, target) = built(None)?;
    if args.iter().any(|arg| arg == PEERS) {
        let peers = target.join(INSTALLED);
        if !peers.join("rust/release/server_a2a_lf").exists() {
            bail!("there are no peers to measure: run `cargo xtask test peers` first");
        }
        command.arg("--peers").arg(peers);
    }
    process::succeed(command.args(args.iter().filter(|arg| *arg != PEERS)))?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the product and `openfang-bench`: the command line of the latter so far, in this role, and the target directory.
pub(crate) fn built(role: Option<&str>) -> Result<(Command, PathBuf)> {
    process::succeed(&mut process::cargo([
        "build",
        "--profile",
        PROFILE,
        "--package",
        "openfang-cli",
        "--package",
        "openfang-bench",
    ]))?;
    let target = Metadata::load()?.target_directory;
    let built = target.join(PROFILE);
    let mut command = process::program(built.join("openfang-bench"));
    command.args(role).arg("--openfang").arg(built.join("openfang"));
    Ok((command, target))
}
