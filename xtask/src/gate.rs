//! `cargo xtask test`: everything a change must pass, cheap stages first, stopping at the first that fails.
//! `STAGES` is the order; a stage is one line there and one function below. Nothing asks for input. Beside cargo,
//! rustfmt and clippy a test needs what `TOOLS` names and the SDKs of `peers`, and the gate installs both or says so.

mod conformance;
mod examples;
mod peers;
mod tools;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::tools::Tool;
use crate::process::{capture, cargo, root, succeed};
use crate::tree::Tree;
use crate::{tidy, wants_help};

/// What the product may pull in: a build from nothing must stay a matter of minutes.
const MAX_CRATES: usize = 400;
/// How long the race tests race in the gate; on a developer's machine they are short.
const RACE_SECS: (&str, &str) = ("RACE_SECS", "30");

/// One step of the gate; what it returns is shown behind its time.
struct Stage {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<String>,
}

const STAGES: &[Stage] = &[
    Stage { name: "fmt", about: "the sources are formatted", run: fmt },
    Stage { name: "tools", about: "the programs that tests run are there; root gets what is missing", run: tools },
    Stage { name: "tidy", about: "the house rules hold, see `cargo xtask tidy --help`", run: house_rules },
    Stage { name: "crates", about: "the product's dependencies stay below their number", run: crates },
    // Before build: it finds what build finds, in less time.
    Stage { name: "clippy", about: "no lint, in tests too", run: clippy },
    Stage { name: "build", about: "every target compiles", run: build },
    Stage {
        name: "peers",
        about: "the real SDKs that tests talk to, installed into target/peers",
        run: peers::install,
    },
    Stage { name: "test", about: "every test, by nextest where it is installed", run: test },
    Stage { name: "conformance", about: "docs/conformance.md says what the suites found", run: conformance::write },
    Stage { name: "doctest", about: "the examples in the docs, where there are any", run: doctest },
    Stage { name: "doc", about: "the docs build, without a broken link", run: doc },
];

/// The command.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if wants_help(args) {
        print!("{}", help());
        return Ok(ExitCode::SUCCESS);
    }
    let stages = selected(args)?;
    let start = Instant::now();
    let mut times = Vec::new();
    for stage in stages {
        let began = Instant::now();
        let outcome = (stage.run)();
        times.push(format!("{} {}", stage.name, seconds(began.elapsed())));
        match outcome {
            Ok(note) => println!("{}", line(stage.name, "ok", began.elapsed(), &note)),
            Err(error) => {
                println!("{}", line(stage.name, "FAILED", began.elapsed(), &format!("{error:#}")));
                println!("{}", line("total", "FAILED", start.elapsed(), &times.join(", ")));
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    println!("{}", line("total", "ok", start.elapsed(), &times.join(", ")));
    Ok(ExitCode::SUCCESS)
}

fn help() -> String {
    let mut help =
        "Usage: cargo xtask test [STAGE...]\n\nRuns these stages in this order, or only those named:\n\n".to_owned();
    for stage in STAGES {
        help.push_str(&format!("  {:<9}{}\n", stage.name, stage.about));
    }
    help
}

/// The stages to run: in the gate's order, whatever the order of the names.
fn selected(names: &[String]) -> Result<Vec<&'static Stage>> {
    if let Some(unknown) = names.iter().find(|name| STAGES.iter().all(|stage| stage.name != name.as_str())) {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        bail!("no stage `{unknown}`: there are {}", known.join(", "));
    }
    Ok(STAGES
        .iter()
        .filter(|stage| names.is_empty() || names.iter().any(|name| name == stage.name))
        .collect())
}

fn line(name: &str, outcome: &str, time: Duration, note: &str) -> String {
    format!("== {name:<8} {outcome:<6} {:>7}  {note}", seconds(time)).trim_end().to_owned()
}

fn seconds(time: Duration) -> String {
    format!("{:.1}s", time.as_secs_f64())
}

fn fmt() -> Result<String> {
    done(succeed(&mut cargo(["fmt", "--all", "--check"])))
}

/// What the tests run beside the product.
const TOOLS: &[Tool] = &[
    Tool { name: "strace", check: &["strace", "--version"], package: "strace" },
    Tool { name: "mandoc", check: &["mandoc", "-Tlint", "-Werror", "/dev/null"], package: "mandoc" },
    Tool { name: "dpkg-deb", check: &["dpkg-deb", "--version"], package: "dpkg" },
    Tool { name: "zsh", check: &["zsh", "--version"], package: "zsh" },
    Tool { name: "fish", check: &["fish", "--version"], package: "fish" },
    Tool { name: "unshare", check: &["unshare", "--version"], package: "util-linux" },
];

fn tools() -> Result<String> {
    done(tools::ensure(TOOLS))
}

fn house_rules() -> Result<String> {
    match tidy::report()? {
        0 => Ok(String::new()),
        violations => bail!("{violations} violations"),
    }
}

fn crates() -> Result<String> {
    let args = ["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--package", "openfang-cli"];
    let count = distinct_crates(&capture(&mut cargo(args))?);
    if count > MAX_CRATES {
        bail!("the product pulls in {count} crates, at most {MAX_CRATES}");
    }
    Ok(format!("{count} of at most {MAX_CRATES} crates"))
}

/// `cargo tree` marks what it has shown before with a star.
fn distinct_crates(tree: &str) -> usize {
    let crates = tree
        .lines()
        .map(|line| line.trim_end_matches("(*)").trim())
        .filter(|line| !line.is_empty());
    crates.collect::<std::collections::BTreeSet<_>>().len()
}

fn clippy() -> Result<String> {
    done(succeed(&mut cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])))
}

/// The same profile and features as the tests, so that the next stage compiles nothing again.
fn build() -> Result<String> {
    done(succeed(&mut cargo(["build", "--workspace", "--all-targets"])))
}

fn test() -> Result<String> {
    let (runner, args): (_, &[&str]) = if capture(&mut cargo(["nextest", "--version"])).is_ok() {
        ("nextest", &["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        ("cargo test", &["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    };
    succeed(cargo(args.iter().copied()).env(RACE_SECS.0, RACE_SECS.1))?;
    Ok(format!("by {runner}"))
}

fn doctest() -> Result<String> {
    let tree = Tree::read(&root())?;
    if !tree.rust().any(|file| examples::has_any(&file.text)) {
        return Ok("there are none".to_owned());
    }
    done(succeed(&mut cargo(["test", "--workspace", "--doc"])))
}

fn doc() -> Result<String> {
    done(succeed(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")))
}

fn done(outcome: Result<()>) -> Result<String> {
    outcome.map(|()| String::new())
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
