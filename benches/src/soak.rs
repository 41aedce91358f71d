//! `openfang-bench soak`: attackers and honest clients on one server with default limits. Each attack runs alone, then
//! all run together. The report says, for every phase, how the honest clients were affected, how much memory the server
//! used, whether it was healthy, and whether every part of the attack took place.
//!
//! `stage.rs` is the server with its users, `honest.rs` the honest clients, `watch.rs` observes the process,
//! `attacks.rs` is the table of attacks, `tally.rs` counts what they did, `report.rs` has the verdict.

mod attacks;
mod client;
mod honest;
mod hostile_server;
mod http2;
mod report;
mod stage;
mod tally;
mod watch;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio_util::sync::CancellationToken;

use self::attacks::{ATTACKS, Attack};
use self::honest::Honest;
use self::report::{Phase, Report};
use self::stage::Stage;
use self::tally::Tallies;
use self::watch::Watch;

pub(crate) use hostile_server::run as run_hostile_server;

/// The duration of a long run.
const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_secs(60);
/// Phases in addition to one for each attack: idle, which counts twice because all others are compared with it, and all
/// together.
const FURTHER_PHASES: usize = 3;
/// The name of the phase in which all attacks run.
const TOGETHER: &str = "all together";

const HELP: &str = "\
Usage: openfang-bench soak --openfang PATH [--short] [--only NAME]

  --openfang PATH   the release binary to attack
  --short           one minute instead of ten
  --only NAME       only this attack, or only `all together`
";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Options<'a> {
    openfang: &'a Path,
    total: Duration,
    only: Option<&'a str>,
}

/// The role: `soak OPTIONS`.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let options = options(words)?;
    let attacks: Vec<&Attack> = ATTACKS
        .iter()
        .filter(|attack| options.only.is_none_or(|only| only == attack.name || only == TOGETHER))
        .collect();
    if attacks.is_empty() {
        let known: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
        bail!("no attack has that name: there are {}, {TOGETHER}", known.join(", "));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(soak(&options, &attacks))?;
    print!("{}", report.table());
    Ok(if report.is_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options<'a>(words: &[&'a str]) -> Result<Options<'a>> {
    let (mut openfang, mut total, mut only) = (None, LONG, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--openfang" => openfang = words.next().copied().map(Path::new),
            "--short" => total = SHORT,
            "--only" => only = words.next().copied(),
            unknown => bail!("soak has no option `{unknown}`\n\n{HELP}"),
        }
    }
    match openfang {
        Some(openfang) => Ok(Options { openfang, total, only }),
        None => bail!("--openfang is missing\n\n{HELP}"),
    }
}

async fn soak(options: &Options<'_>, attacks: &[&'static Attack]) -> Result<Report> {
    let stage = Stage::set(options.openfang).await?;
    let watch = Watch::start(stage.server.pid(), stage.server.address.clone());
    let scene = Scene { honest: Honest::start(&stage), stage, watch };
    let alone = if options.only == Some(TOGETHER) { &[] } else { attacks };
    let shares = u32::try_from(alone.len() + FURTHER_PHASES).unwrap_or(u32::MAX);
    let share = options.total / shares;
    let mut report = Report::default();
    report.add(scene.phase("idle", &[], share * 2).await?);
    for attack in alone {
        report.add(scene.phase(attack.name, std::slice::from_ref(attack), share).await?);
    }
    if attacks.len() > 1 {
        report.add(scene.phase(TOGETHER, attacks, share).await?);
    }
    report.complaints = scene.honest.stop();
    report.ending = Some(scene.stage.end().await?);
    Ok(report)
}

/// The server, its honest clients, and its observer.
struct Scene {
    stage: Stage,
    honest: Honest,
    watch: Watch,
}

impl Scene {
    /// One phase: honest clients next to these attacks, from their preparation until they have stopped.
    async fn phase(&self, name: &'static str, attacks: &[&'static Attack], lasting: Duration) -> Result<Phase> {
        eprintln!("soak: {name}, {:.0} s", lasting.as_secs_f64());
        let (stop, tallies) = (CancellationToken::new(), Tallies::default());
        let targets = self.stage.targets(attacks, &tallies);
        let attackers = attacks::start(attacks, targets, stop.clone()).await?;
        tokio::time::sleep(lasting).await;
        stop.cancel();
        attackers.join().await?;
        // Nothing is discarded: observations during preparation and shutdown of attacks belong to their phase.
        Ok(Phase::of(name, self.honest.take(), self.watch.take()).with_idle_parts(tallies.idle_parts()))
    }
}

#[cfg(test)]
#[path = "soak_tests.rs"]
mod tests;
