//! `cargo xtask soak`: builds the binaries as they are installed and lets `openfang-bench` attack the product beside honest clients, with
//! default limits. The attacks and the bounds stand in the `benches` package.

use std::process::ExitCode;

use anyhow::Result;

use crate::{bench, process, wants_help};

const HELP: &str = "\
Usage: cargo xtask soak [--short] [--only NAME]

Attacks the build of openfang that is installed, with default limits, while honest clients use it, and prints
what they noticed: failures, the p99 against the p99 at rest, the peak memory, the health. Fails when
anything is out of bounds. Takes ten minutes.

  --short      one minute instead of ten
  --only NAME  only this attack
";

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let (mut command, _) = bench::built(Some("soak"))?;
    process::succeed(command.args(args))?;
    Ok(ExitCode::SUCCESS)
}
