//! The project's own commands: `cargo xtask test | long | tidy | schema | models | bench | soak | dist`.
//! Each is one module; `main` only picks one and turns its outcome into an exit code.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks on its terminal")]

mod bench;
mod dist;
mod gate;
mod long;
mod metadata;
mod models;
mod process;
mod schema;
mod soak;
mod tidy;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Usage: cargo xtask COMMAND [OPTIONS]

Commands:
  test [STAGE...]   the gate: every stage, or only those named
  long              tests of the gate with many more rounds, by hand
  tidy              the house rules that neither compiler nor clippy can hold
  schema            print config.schema.json; --write updates it, --check fails when it is stale
  models            write the table of models, their windows and prices
  bench             build the release binary and measure it against the floor
  dist              build and pack what is handed out: archive, package, image, checksums, installer
  soak              build the release binary and attack it beside honest clients

Options:
  -h, --help        print help, also after a command
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = args.split_first() else {
        eprint!("{HELP}");
        return Ok(ExitCode::from(2));
    };
    match command.as_str() {
        "test" => gate::run(rest),
        "long" => long::run(rest),
        "tidy" => tidy::run(rest),
        "schema" => schema::run(rest),
        "models" => models::run(rest),
        "bench" => bench::run(rest),
        "dist" => dist::run(rest),
        "soak" => soak::run(rest),
        "-h" | "--help" | "help" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        unknown => bail!("unknown command `{unknown}`: try `cargo xtask --help`"),
    }
}

/// Whether somebody asks what a command does rather than for the command.
fn wants_help(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "-h" || arg == "--help")
}
