//! `cargo xtask long`: tests of the gate with many more rounds. The rounds come from the environment, so the code is the
//! same.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::process::{cargo, succeed};
use crate::wants_help;

/// A test that can run for longer.
struct LongRun {
    name: &'static str,
    about: &'static str,
    /// The variable with the number of rounds.
    variable: &'static str,
    rounds: &'static str,
    /// A part of the names of the tests.
    filter: &'static str,
}

const RUNS: &[LongRun] = &[
    LongRun {
        name: "kills",
        about: "300 times kill -9 with 8 tasks of an external agent under way",
        variable: "EXTERNAL_KILLS",
        rounds: "300",
        filter: "external::crash",
    },
    LongRun {
        name: "agents",
        about: "300 times kill -9 while an agent with a model makes five calls that append to a ledger",
        variable: "AGENT_KILLS",
        rounds: "300",
        filter: "model_agents::crash",
    },
    LongRun {
        name: "cuts",
        about: "200 cuts in the streams of every A2A SDK",
        variable: "EXTERNAL_CUTS",
        rounds: "200",
        filter: "survives_cuts",
    },
];

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{}", help());
        return Ok(ExitCode::SUCCESS);
    }
    for run in selected(args)? {
        println!("== {}: {}", run.name, run.about);
        let tests = ["test", "--package", "openfang-cli", "--test", "e2e", run.filter];
        succeed(cargo(tests).env(run.variable, run.rounds))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn help() -> String {
    let mut help = "Usage: cargo xtask long [NAME...]\n\nRuns tests of the gate with many more rounds, all or only \
                    those named. Takes hours.\n\n"
        .to_owned();
    for run in RUNS {
        help.push_str(&format!("  {:<8}{}\n", run.name, run.about));
    }
    help
}

fn selected(names: &[String]) -> Result<Vec<&'static LongRun>> {
    if let Some(unknown) = names.iter().find(|name| RUNS.iter().all(|run| run.name != name.as_str())) {
        let known: Vec<&str> = RUNS.iter().map(|run| run.name).collect();
        bail!("no long run `{unknown}`: there are {}", known.join(", "));
    }
    Ok(RUNS
        .iter()
        .filter(|run| names.is_empty() || names.iter().any(|name| name == run.name))
        .collect())
}

#[cfg(test)]
#[path = "long_tests.rs"]
mod tests;
