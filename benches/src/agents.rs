//! The cost of agents with a model, with a provider that answers at once: a step of the loop, the first words of an answer,
//! how much of a request repeats the one before, and the memory of runs that wait for their provider.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::BytesMut;
use jiff::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::child::{self, Home, Server};
use crate::load::{self, FRESH, Round};
use crate::measure::{IDLE_AFTER, Plan, median, right_answer, store_counters, target};
use crate::process_stat::resident_mb;
use crate::provider::{NOW, PREFIXES, SENT, STEPS, WAIT};
use crate::report::{Budget, Row};
use crate::scenarios::{
    AGENT_COMMITS_BUDGET, AGENT_FIRST_DELTA_BUDGET_MS, AGENT_PREFIX_BUDGET, AGENT_STEP_BUDGET, AGENT_STEPS,
    AGENT_WAIT_BUDGET_KB, AGENT_WAITING, AGENT_WORK,
};
use crate::wire;

const AGENT: &str = "thinker";
const PATH: &str = "/api/agents/thinker/message";
const READ_BYTES: usize = 4 * 1024;
/// How long an answer may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn rows(openfang: &Path, plan: Plan) -> Result<Vec<Row>> {
    let provider = child::start_provider()?;
    let home = Home::new(
        openfang,
        &format!("[providers.bench]\nwire = \"chat\"\nbase_url = \"http://{}/v1\"\n", provider.address),
    )?;
    let home = home.with_manifest(
        AGENT,
        "[model]\nprovider = \"bench\"\nmodel = \"m\"\nsystem_prompt = \"Add the numbers.\"\n\
         [capabilities]\ntools = [\"add_numbers\", \"get_*\"]\n",
    )?;
    let (server, _) = home.start().await?;
    let mut rows = steps(&server, plan).await?;
    rows.push(prefixes(&provider).await?);
    rows.extend(first_deltas(&server, plan).await?);
    rows.push(waiting(&server).await?);
    Ok(rows)
}

/// Runs of many steps, one after the other: nothing but the run itself shares a commit with it.
async fn steps(server: &Server, plan: Plan) -> Result<Vec<Row>> {
    debug_assert!(AGENT_WORK.body.contains(FRESH) && AGENT_WORK.body.contains(STEPS), "a conversation of its own each");
    let work = target(server, &AGENT_WORK);
    right_answer(&work, &AGENT_WORK).await?;
    let runs = (plan.requests / 2_000).max(3);
    load::round(&work, 1, runs).await?;
    let before = store_counters(server).await?;
    let mut rounds = Vec::new();
    for _ in 0..plan.rounds {
        rounds.push(load::round(&work, 1, runs).await?);
    }
    let [commits, _] = store_counters(server).await?;
    let count = (plan.rounds * runs * AGENT_STEPS) as f64;
    let of =
        |figure: fn(&Round) -> f64| rounds.iter().map(|round| figure(round) / AGENT_STEPS as f64).collect::<Vec<_>>();
    let cpu = Row::of_rounds("a step of an agent with a model, with a call", &of(|round| round.cpu_micros), "us CPU");
    let time = Row::of_rounds("  time of a step", &of(|round| round.p50_ms), "ms");
    let commits = Row::plain("  commits in a step", (commits - before[0]) / count, "");
    Ok(vec![
        Row { budget: Some(Budget::Value(AGENT_STEP_BUDGET)), ..cpu },
        time,
        Row { budget: Some(Budget::Value(AGENT_COMMITS_BUDGET)), ..commits },
    ])
}

/// The worst request: how much of the one before it begins it.
async fn prefixes(provider: &Server) -> Result<Row> {
    let (_, body) = load::once(&provider.address, &wire::get(PREFIXES, &provider.address)).await?;
    let shares: Vec<f64> = serde_json::from_slice(&body)?;
    let worst = shares.into_iter().min_by(f64::total_cmp).context("no request was compared")?;
    let row = Row::plain("  of a request that the next one repeats", worst * 100.0, "%");
    Ok(Row { budget: Some(Budget::AtLeast(AGENT_PREFIX_BUDGET)), ..row })
}

/// From the first piece of the provider to the event of the client.
async fn first_deltas(server: &Server, plan: Plan) -> Result<[Row; 2]> {
    let mut late = Vec::new();
    for _ in 0..plan.starts * 40 {
        late.push(first_delta(server).await?);
    }
    late.sort_by(f64::total_cmp);
    let at = |share: f64| late.get((late.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    let [p50, p99] =
        [("first words of an answer to client, p50", 0.5), ("  p99", 0.99)].map(|(name, share)| (name, at(share)));
    let row = |(name, value), budget| Row { budget: Some(Budget::Value(budget)), ..Row::plain(name, value, "ms") };
    Ok([row(p50, AGENT_FIRST_DELTA_BUDGET_MS[0]), row(p99, AGENT_FIRST_DELTA_BUDGET_MS[1])])
}

#[expect(clippy::disallowed_methods, reason = "the bench dials the server it measures")]
async fn first_delta(server: &Server) -> Result<f64> {
    let body = format!(r#"{{"text":"{NOW}"}}"#);
    let request = wire::post(PATH, "accept: text/event-stream\r\n", &body, &server.address);
    let mut stream = TcpStream::connect(&server.address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(&request).await?;
    let (mut buffer, mut late) = (BytesMut::with_capacity(READ_BYTES), None);
    loop {
        let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut buffer))
            .await
            .context("no answer came")??;
        let text = String::from_utf8_lossy(&buffer);
        late = match late {
            Some(late) => Some(late),
            None => delay(&text)?,
        };
        match late {
            Some(late) if text.contains("\"completed\"") => return Ok(late),
            _ if read == 0 => bail!("the stream ended early: {text}"),
            _ => {}
        }
    }
}

/// How long ago the provider sent what has arrived now. None if it has not arrived whole.
fn delay(text: &str) -> Result<Option<f64>> {
    let Some(sent) = text.split(SENT).nth(1) else { return Ok(None) };
    let Some((at, _)) = sent.split_once('"') else { return Ok(None) };
    let at: Timestamp = at.parse()?;
    Ok(Some(Timestamp::now().duration_since(at).as_secs_f64() * 1e3))
}

/// Runs whose provider does not answer.
async fn waiting(server: &Server) -> Result<Row> {
    tokio::time::sleep(IDLE_AFTER).await;
    let before = resident_mb(server.pid())?;
    for number in 0..AGENT_WAITING {
        let body = format!(r#"{{"text":"{WAIT} {number}","returnImmediately":true}}"#);
        let (head, answer) = load::once(&server.address, &wire::post(PATH, "", &body, &server.address)).await?;
        if head.status != 200 {
            bail!("a run was refused: {}", String::from_utf8_lossy(&answer));
        }
    }
    tokio::time::sleep(IDLE_AFTER).await;
    let seen = [resident_mb(server.pid())?];
    let each = (median(seen.into_iter()) - before) * 1e3 / AGENT_WAITING as f64;
    let row = Row::plain("memory of a run that waits for its provider", each, "kB");
    Ok(Row { budget: Some(Budget::Value(AGENT_WAIT_BUDGET_KB)), ..row })
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
