//! The `openfang` binary: a door into [`openfang_cli::run`].

use std::process::ExitCode;

use clap::Parser as _;
use openfang_cli::Args;

fn main() -> ExitCode {
    openfang_cli::run(Args::parse())
}
