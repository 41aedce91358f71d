//! The cost of the bridge: an MCP call of an A2A agent compared with the same agent called directly, many streams of an
//! agent that are handed on, and a start with many agents of which most are dead.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use crate::child::{self, Home, Server};
use crate::load::{self, Target};
use crate::measure::{Plan, in_turn, median, right_answer, target};
use crate::process_stat::resident_mb;
use crate::remote_agent::{PLAIN, STREAMING, TICK, TICKS};
use crate::report::{Budget, Row};
use crate::scenarios::{
    A2A_CONFIG, A2A_SEND, BRIDGE_BUDGET, BRIDGE_CALL, BRIDGE_LATER_BUDGET_MS, BRIDGE_MEMORY_BUDGET_KIB,
    BRIDGE_OLD_CLIENT, BRIDGE_STREAM_BUDGET_MS, CROWD, CROWD_FOUND_BUDGET_S, CROWD_MEMORY_BUDGET_MB,
    CROWD_START_BUDGET_MS, MCP_LEGACY, REMOTE_SEND, Scenario,
};
use crate::{Peers, bridge_cancel, streams, wire};

const CONNECTIONS: usize = 32;
/// How long an agent may take to be known before the measurement.
const READY: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// All rows. The agent is the bench's own, and that of the official SDK where it is installed.
pub(crate) async fn rows(openfang: &Path, peers: Option<&Peers>, plan: Plan) -> Result<Vec<Row>> {
    let agent = child::start_agent()?;
    // First, because the disk is busy for a while after the other measurements.
    let mut rows = remote_streams(openfang, &agent, plan).await?;
    rows.extend(bridge_cancel::rows(openfang, &agent).await?);
    let path = format!("/{PLAIN}/");
    let direct = target(&agent, &Scenario { path: &path, ..REMOTE_SEND });
    let names = ["an A2A agent called directly", "  tools/call of it on /mcp, durable and audited"];
    rows.extend(called(openfang, &url(&agent, PLAIN), (&direct, &BRIDGE_CALL), names, plan).await?);
    let old = ["the same, called directly", "  message/send of a 0.3 client to it on /a2a"];
    rows.extend(called(openfang, &url(&agent, PLAIN), (&direct, &BRIDGE_OLD_CLIENT), old, plan).await?);
    let streamed = ["the same, called directly", "  tools/call on /mcp, the agent streams its answer"];
    rows.extend(called(openfang, &url(&agent, STREAMING), (&direct, &BRIDGE_CALL), streamed, plan).await?);
    if let Some(peers) = peers {
        let home = Home::new(openfang, "")?;
        let sdk = home.start_peer(&peers.a2a_rust)?;
        let direct = target(&sdk, &Scenario { path: "/", answer_contains: "add_numbers-result", ..REMOTE_SEND });
        let names = ["a2a-server-lf 0.5 called directly", "  tools/call of it on /mcp"];
        let call = Scenario { answer_contains: "sum", ..BRIDGE_CALL };
        rows.extend(called(openfang, &format!("http://{}/", sdk.address), (&direct, &call), names, plan).await?);
    }
    rows.extend(crowd(openfang, &agent, plan).await?);
    Ok(rows)
}

pub(crate) fn url(agent: &Server, name: &str) -> String {
    format!("http://{}/{name}", agent.address)
}

/// An entry of `[[a2a.external_agents]]`.
pub(crate) fn entry(name: &str, url: &str) -> String {
    format!("[[a2a.external_agents]]\nname = \"{name}\"\nurl = \"{url}\"\nmax_live = 10000\n\n")
}

/// An agent called directly and through the product, in turn.
async fn called(
    openfang: &Path,
    url: &str,
    (direct, scenario): (&Target, &Scenario<'_>),
    [name, bridged_name]: [&'static str; 2],
    plan: Plan,
) -> Result<[Row; 4]> {
    let home = Home::new(openfang, &format!("{A2A_CONFIG}{}", entry("echo", url)))?;
    let (server, _) = home.start().await?;
    ready(&server, 1).await?;
    let bridged = target(&server, scenario);
    right_answer(&bridged, scenario).await?;
    let ([before, after], ratio) = in_turn([direct, &bridged], CONNECTIONS, plan.divided(4)).await?;
    let row = Row::of_load(bridged_name, CONNECTIONS, after);
    let later = [after.p50_ms - before.p50_ms, after.p99_ms - before.p99_ms];
    let [p50, p99] = [("  later than directly, p50", 0), ("  later than directly, p99", 1)].map(|(name, which)| Row {
        budget: Some(Budget::Value(BRIDGE_LATER_BUDGET_MS[which])),
        ..Row::plain(name, later[which], "ms")
    });
    let budget = Some(Budget::Value(BRIDGE_BUDGET));
    Ok([Row::of_load(name, CONNECTIONS, before), Row { ratio: Some(ratio), budget, ..row }, p50, p99])
}

/// Waits until so many agents are ready. Returns how long it took.
pub(crate) async fn ready(server: &Server, wanted: usize) -> Result<Duration> {
    let begun = Instant::now();
    loop {
        let (_, body) = load::once(&server.address, &wire::get("/api/a2a/agents", &server.address)).await?;
        let listed: Value = serde_json::from_slice(&body)?;
        let agents = listed["agents"].as_array().with_context(|| format!("no list of agents: {listed}"))?;
        if agents.iter().filter(|agent| agent["state"] == "ready").count() >= wanted {
            return Ok(begun.elapsed());
        }
        if begun.elapsed() > READY {
            bail!("fewer than {wanted} agents are ready after {READY:?}");
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Streams of an agent, one half as events of A2A, the other as progress of MCP.
async fn remote_streams(openfang: &Path, agent: &Server, plan: Plan) -> Result<Vec<Row>> {
    let home = Home::new(openfang, &format!("{A2A_CONFIG}{}", entry("echo", &url(agent, STREAMING))))?;
    let (server, _) = home.start().await?;
    ready(&server, 1).await?;
    let (before, lost) = (resident_mb(server.pid())?, Arc::new(AtomicUsize::new(0)));
    let reader = |number: usize, arrived| {
        let request = if number.is_multiple_of(2) { a2a_stream(&server) } else { mcp_stream(&server) };
        let (mut last, lost) = (None, Arc::clone(&lost));
        let time_of = move |event: &[u8]| {
            let Some((number, at)) = tick(event)? else { return Ok(None) };
            lost.fetch_add(last.map_or(0, |last: usize| number.abs_diff(last + 1)), Ordering::Relaxed);
            last = Some(number);
            Ok(Some(at))
        };
        streams::read(server.address.clone(), request, arrived, time_of)
    };
    let count = plan.remote_streams;
    let seen = streams::windows((&home, &server), count, plan, reader).await?;
    let late = seen.row("event of a remote agent to client, p99", |seen| seen.p99_ms, "ms");
    let memory = (seen.resident_mb - before) * 1e6 / 1024.0 / count as f64;
    let memory = Row::plain("  memory for each stream", memory, "KiB");
    let lost = Row::plain("  lost events", lost.load(Ordering::Relaxed) as f64, "");
    Ok(vec![
        Row::plain("streams of remote agents", count as f64, ""),
        Row { budget: Some(Budget::Value(BRIDGE_STREAM_BUDGET_MS)), ..late },
        seen.row("  the disk alone, p99 of a sync", |seen| seen.sync_ms, "ms"),
        seen.row("  p50", |seen| seen.p50_ms, "ms"),
        seen.row("  events", |seen| seen.per_second, "/s"),
        seen.row("  an event", |seen| seen.cpu_micros, "us CPU"),
        Row { budget: Some(Budget::Value(0.0)), ..lost },
        Row { budget: Some(Budget::Value(BRIDGE_MEMORY_BUDGET_KIB)), ..memory },
    ])
}

fn a2a_stream(server: &Server) -> Bytes {
    let id = uuid::Uuid::now_v7();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{{"tenant":"echo","message":{{"messageId":"{id}","role":"ROLE_USER","parts":[{{"text":"{TICKS}"}}]}}}}}}"#
    );
    wire::post("/a2a", A2A_SEND.headers, &body, &server.address).into()
}

fn mcp_stream(server: &Server) -> Bytes {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a2a_echo","arguments":{{"message":"{TICKS}"}},"_meta":{{"progressToken":"p"}}}}}}"#
    );
    wire::post(MCP_LEGACY.path, MCP_LEGACY.headers, &body, &server.address).into()
}

/// The number and the time of a tick in an event, whichever its protocol.
fn tick(event: &[u8]) -> Result<Option<(usize, Timestamp)>> {
    let text = String::from_utf8_lossy(event);
    let Some(rest) = text.split(TICK).nth(1) else { return Ok(None) };
    let mut words = rest.split([' ', '"']);
    let number = words.next().context("a tick has a number")?.parse()?;
    Ok(Some((number, words.next().context("a tick has a time")?.parse()?)))
}

/// The start with many agents, most of them dead: half of these refuse connections, the others never answer.
async fn crowd(openfang: &Path, agent: &Server, plan: Plan) -> Result<Vec<Row>> {
    let [all, dead] = CROWD;
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let refusing = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut config = A2A_CONFIG.to_owned();
    for number in 0..all {
        let url = match number {
            _ if number >= dead => url(agent, &format!("agent-{number}")),
            _ if number.is_multiple_of(2) => format!("http://{refusing}/{number}"),
            _ => format!("http://{}/{number}", silent.local_addr()?),
        };
        let _ = write!(config, "{}", entry(&format!("agent-{number}"), &url));
    }
    let (alone, crowded) = (Home::new(openfang, A2A_CONFIG)?, Home::new(openfang, &config)?);
    // The first start creates the homes.
    drop(alone.start().await?);
    let (server, _) = crowded.start().await?;
    let found = ready(&server, all - dead).await?;
    drop(server);
    let (mut more, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..plan.starts {
        let (server, without) = alone.start().await?;
        tokio::time::sleep(crate::measure::IDLE_AFTER).await;
        let base = resident_mb(server.pid())?;
        drop(server);
        let (server, with) = crowded.start().await?;
        tokio::time::sleep(crate::measure::IDLE_AFTER).await;
        memory.push(resident_mb(server.pid())? - base);
        more.push((with.as_secs_f64() - without.as_secs_f64()) * 1e3);
    }
    let start = Row::of_rounds("start with 1,000 agents, 950 of them dead, more than without", &more, "ms");
    let found = Row::plain("  until those that live are known", found.as_secs_f64(), "s");
    let memory = Row::plain("  memory, more than without", median(memory.into_iter()), "MB");
    Ok(vec![
        Row { budget: Some(Budget::Value(CROWD_START_BUDGET_MS)), ..start },
        Row { budget: Some(Budget::Value(CROWD_FOUND_BUDGET_S)), ..found },
        Row { budget: Some(Budget::Value(CROWD_MEMORY_BUDGET_MB)), ..memory },
    ])
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
