//! `cargo xtask bench`: builds the release binaries and lets `openfang-bench` measure the product.
//! What is measured, and against which budget, stands in the `benches` package.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::{process, wants_help};

const OPTIONS: &[&str] = &["--quick", "--json", "--strict"];
const HELP: &str = "\
Usage: cargo xtask bench [--quick] [--json] [--strict]

Measures the release build of openfang against a floor: a server that reads and parses the same
requests and answers the same bytes, and does nothing else.

  --quick    fewer and shorter rounds, for a first look
  --json     a machine-readable report on standard output
  --strict   fail when a row is over its budget
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
    process::succeed(&mut process::cargo([
        "build",
        "--release",
        "--package",
        "openfang-cli",
        "--package",
        "openfang-bench",
    ]))?;
    let release = Metadata::load()?.target_directory.join("release");
    let mut command = process::program(release.join("openfang-bench"));
    process::succeed(command.arg("--openfang").arg(release.join("openfang")).args(args))?;
    Ok(ExitCode::SUCCESS)
}
