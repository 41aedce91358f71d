//! The method: floor and product alternate within one run, so that their ratio is fair whatever else the machine does.
//! The result is the median of all rounds. Then start time and idle memory are measured.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::child::{Home, Server};
use crate::floor::Answer;
use crate::load::{self, FRESH, Round, Target, Turns};
use crate::ratio::{Ratio, spread};
use crate::report::{Budget, Report, Row};
use crate::scenarios::{CpuBudget, IDLE_MEMORY_BUDGET_MB, SCENARIOS, Scenario};
use crate::{Options, Part, Peers, a2a, agents, bridge, gateway, mcp, process_stat, store, streams, wire};

/// How long after its start a server counts as idle.
pub(crate) const IDLE_AFTER: Duration = Duration::from_secs(2);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Requests per round, enough to keep the server busy for about a second.
    pub(crate) requests: usize,
    pub(crate) warm_up: usize,
    pub(crate) starts: usize,
    /// Tasks in the larger of the two compared stores.
    pub(crate) stored_tasks: usize,
    /// Streams of remote agents that are open at the same time.
    pub(crate) remote_streams: usize,
}

impl Plan {
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        requests: 40_000,
        warm_up: 10_000,
        starts: 5,
        stored_tasks: 1_000_000,
        remote_streams: 1_000,
    };
    pub(crate) const QUICK: Self =
        Self { rounds: 3, requests: 5_000, warm_up: 2_000, starts: 3, stored_tasks: 100_000, remote_streams: 100 };

    /// More rounds with fewer requests each.
    pub(crate) const fn divided(self, by: usize) -> Self {
        Self { requests: self.requests / by, warm_up: self.warm_up / by, ..self }
    }
}

/// Everything in the table.
pub(crate) async fn run(options: &Options, plan: Plan) -> Result<Report> {
    let (openfang, peers) = (options.openfang.as_path(), options.peers.as_ref());
    let other = peers.map(|peers| peers.gateway.as_path());
    let is_wanted = |part: Part| options.part.is_none_or(|only| only == part);
    let mut rows = Vec::new();
    if is_wanted(Part::House) {
        rows.extend(house(openfang, peers, plan).await?);
    }
    if is_wanted(Part::Gateway) {
        rows.extend(gateway::rows(openfang, other, plan).await?);
    }
    if is_wanted(Part::A2a) {
        // First, because the disk is busy for a while after the other measurements.
        rows.extend(streams::rows(openfang, plan).await?);
        rows.extend(a2a::rows(openfang, peers, plan).await?);
    }
    if is_wanted(Part::Bridge) {
        rows.extend(bridge::rows(openfang, peers, plan).await?);
    }
    if is_wanted(Part::Agents) {
        rows.extend(agents::rows(openfang, plan).await?);
    }
    Ok(Report { plan, rows })
}

/// Everything except the gateway, A2A, the bridge and agents with a model.
async fn house(openfang: &Path, peers: Option<&Peers>, plan: Plan) -> Result<Vec<Row>> {
    let home = Home::new(openfang, "")?;
    let mut rows = Vec::new();
    // The first start creates the home, so that later starts show the usual cost.
    let (product, _) = home.start().await?;
    for scenario in SCENARIOS {
        rows.extend(match scenario.budget {
            CpuBudget::TimesFloor(most) => compare(&home, &product, scenario, most, plan).await?,
            CpuBudget::Micros { most, per_second } => alone(&product, scenario, [most, per_second], plan).await?,
        });
    }
    drop(product);
    rows.extend(mcp::rows(openfang, plan).await?);
    if let Some(peers) = peers {
        rows.extend(mcp::beside_peer(openfang, &peers.sdk, plan).await?);
    }
    rows.extend(start_and_idle(&home, plan).await?);
    rows.extend(store::rows(plan.stored_tasks).await?);
    Ok(rows)
}

/// The rows of one scenario: floor and product for each number of connections.
pub(crate) async fn compare(
    home: &Home,
    product: &Server,
    scenario: &Scenario<'_>,
    most: f64,
    plan: Plan,
) -> Result<Vec<Row>> {
    let product = target(product, scenario);
    let (head, body) = right_answer(&product, scenario).await?;
    let server = home.start_floor(&Answer::recorded(head.status, head.headers, &body)?)?;
    let floor = target(&server, scenario);
    let mut rows = Vec::new();
    for connections in scenario.connections.iter().copied() {
        let ([floor, product], ratio) = in_turn([&floor, &product], connections, plan).await?;
        rows.push(Row::of_load("floor", connections, floor));
        rows.push(Row {
            ratio: Some(ratio),
            budget: Some(Budget::Ratio(most)),
            ..Row::of_load(scenario.name, connections, product)
        });
    }
    Ok(rows)
}

/// A scenario without a floor: its cost, its speed, and the disk writes.
pub(crate) async fn alone(
    server: &Server,
    scenario: &Scenario<'_>,
    [most, per_second]: [f64; 2],
    plan: Plan,
) -> Result<Vec<Row>> {
    let product = target(server, scenario);
    right_answer(&product, scenario).await?;
    let mut rows = Vec::new();
    for connections in scenario.connections.iter().copied() {
        load::round(&product, connections, plan.warm_up).await?;
        let before = (store_counters(server).await?, Instant::now());
        let mut rounds = Vec::new();
        for _ in 0..plan.rounds {
            rounds.push(load::round(&product, connections, plan.requests).await?);
        }
        let (after, seconds) = (store_counters(server).await?, before.1.elapsed().as_secs_f64());
        let (commits, writes) = (after[0] - before.0[0], after[1] - before.0[1]);
        let round = median_round(&rounds);
        rows.push(Row { budget: Some(Budget::Value(most)), ..Row::of_load(scenario.name, connections, round) });
        let rates: Vec<f64> = rounds.iter().map(|round| round.requests_per_second).collect();
        let rate = Row::of_rounds("  per second", &rates, "/s");
        rows.push(Row { budget: Some(Budget::AtLeast(per_second)), ..rate });
        rows.push(Row::plain("  syncs per second", commits / seconds, "/s"));
        rows.push(Row::plain("  writes per sync", writes / commits, ""));
    }
    Ok(rows)
}

pub(crate) async fn right_answer(target: &Target, scenario: &Scenario<'_>) -> Result<(wire::Head, bytes::Bytes)> {
    let request = target.requests.first().context("nothing to ask")?;
    let (head, body) = load::once(&target.address, request).await?;
    let text = String::from_utf8_lossy(&body);
    if head.status != 200 || !text.contains(scenario.answer_contains) {
        bail!("{} answered {}: {text}", scenario.name, head.status);
    }
    Ok((head, body))
}

/// Commits and writes of the store so far.
pub(crate) async fn store_counters(server: &Server) -> Result<[f64; 2]> {
    let request = wire::get("/metrics", &server.address);
    let (_, body) = load::once(&server.address, &request).await?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .with_context(|| format!("no {name} in /metrics"))
    };
    Ok([value("openfang_store_commits_total")?, value("openfang_store_writes_total")?])
}

pub(crate) fn target(server: &Server, scenario: &Scenario<'_>) -> Target {
    let request = wire::request(scenario, &server.address).into();
    let turns = if scenario.body.contains(FRESH) { Turns::Fresh } else { Turns::Own };
    Target { pid: server.pid(), address: server.address.clone(), requests: vec![request], turns }
}

/// The medians of both, and the second one's CPU as a multiple of the first one's.
pub(crate) async fn in_turn(targets: [&Target; 2], connections: usize, plan: Plan) -> Result<([Round; 2], Ratio)> {
    let mut rounds = [Vec::new(), Vec::new()];
    for target in targets {
        load::round(target, connections, plan.warm_up).await?;
    }
    for _ in 0..plan.rounds {
        for (target, rounds) in targets.iter().zip(&mut rounds) {
            rounds.push(load::round(target, connections, plan.requests).await?);
        }
    }
    let [base, side] = [0, 1].map(|side| rounds[side].iter().map(|round| round.cpu_micros).collect::<Vec<_>>());
    Ok((rounds.map(|rounds| median_round(&rounds)), Ratio::of(&base, &side)))
}

async fn start_and_idle(home: &Home, plan: Plan) -> Result<[Row; 2]> {
    let mut starts = Vec::new();
    for _ in 1..plan.starts {
        starts.push(home.start().await?.1);
    }
    let (last, time) = home.start().await?;
    starts.push(time);
    tokio::time::sleep(IDLE_AFTER).await;
    let resident = process_stat::resident_mb(last.pid())?;
    let starts: Vec<f64> = starts.iter().map(|start| start.as_secs_f64() * 1e3).collect();
    Ok([
        Row::of_rounds("start to first answer", &starts, "ms"),
        Row { budget: Some(Budget::Value(IDLE_MEMORY_BUDGET_MB)), ..Row::plain("idle memory", resident, "MB") },
    ])
}

/// The median of each figure separately.
pub(crate) fn median_round(rounds: &[Round]) -> Round {
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure));
    Round {
        requests_per_second: of(|round| round.requests_per_second),
        p50_ms: of(|round| round.p50_ms),
        p99_ms: of(|round| round.p99_ms),
        cpu_micros: of(|round| round.cpu_micros),
        cpu_spread: spread(&rounds.iter().map(|round| round.cpu_micros).collect::<Vec<_>>()),
    }
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
