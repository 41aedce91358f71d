//! `cargo xtask schema`: the JSON Schema of `config.toml` for editors, as the binary itself gives it.
//! The copy in the tree is made by `--write` and held to the binary by `--check`.

use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::{process, wants_help};

const FILE: &str = "config.schema.json";
const HELP: &str = "\
Usage: cargo xtask schema [--write | --check]

Prints the JSON Schema of config.toml.

  --write   update config.schema.json instead
  --check   fail when config.schema.json differs
";

/// What to do with the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Print,
    Write,
    Check,
}

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let mode = mode(args)?;
    let schema = current()?;
    apply(mode, &schema, &process::root().join(FILE))
}

fn mode(args: &[String]) -> Result<Mode> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(Mode::Print),
        ["--write"] => Ok(Mode::Write),
        ["--check"] => Ok(Mode::Check),
        _ => bail!("schema takes --write or --check, not `{}`", args.join(" ")),
    }
}

/// What the binary built from this tree says.
fn current() -> Result<String> {
    let mut command = process::cargo(["run", "--quiet", "--package", "openfang-cli", "--", "config", "schema"]);
    let schema = process::capture(command.stderr(Stdio::inherit()))?;
    Ok(format!("{}\n", schema.trim_end()))
}

fn apply(mode: Mode, schema: &str, file: &Path) -> Result<ExitCode> {
    match mode {
        Mode::Print => print!("{schema}"),
        Mode::Write => fs::write(file, schema).with_context(|| format!("cannot write {}", file.display()))?,
        Mode::Check => {
            if fs::read_to_string(file).unwrap_or_default() != schema {
                bail!("{FILE} is not what the binary says: run `cargo xtask schema --write`");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
