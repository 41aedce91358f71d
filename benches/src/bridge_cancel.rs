//! How soon an agent of another server is told of a cancel, from the client's word on.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures_util::future::try_join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bridge::{entry, ready, url};
use crate::child::{Home, Server};
use crate::remote_agent::{CANCELED, STREAMING, TICK, TICKS};
use crate::report::{Budget, Row};
use crate::scenarios::{A2A_CONFIG, A2A_SEND, BRIDGE_CANCEL_BUDGET_MS, BRIDGE_CANCELS};
use crate::{load, wire};

/// How long anything may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// Cancels of tasks that are under way at the same time.
pub(crate) async fn rows(openfang: &Path, agent: &Server) -> Result<Vec<Row>> {
    let home = Home::new(openfang, &format!("{A2A_CONFIG}{}", entry("echo", &url(agent, STREAMING))))?;
    let (server, _) = home.start().await?;
    ready(&server, 1).await?;
    let begun = try_join_all((0..BRIDGE_CANCELS).map(|number| begin(&server, number))).await?;
    let words = try_join_all(begun.into_iter().map(|(text, id)| cancel(&server, text, id))).await?;
    let mut delays = delays(agent, &words).await?;
    delays.sort_by(f64::total_cmp);
    let p99 = Row::plain("cancel of a client to remote agent, p99", at(&delays, 0.99), "ms");
    Ok(vec![
        Row { budget: Some(Budget::Value(BRIDGE_CANCEL_BUDGET_MS)), ..p99 },
        Row::plain("  p50", at(&delays, 0.5), "ms"),
    ])
}

/// The value below which this share of the sorted ones is.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Begins a task, and returns its message and its id once the agent works on it.
async fn begin(server: &Server, number: usize) -> Result<(String, String)> {
    let text = format!("{TICKS}-{number}");
    let message = json!({ "messageId": uuid::Uuid::now_v7(), "role": "ROLE_USER", "parts": [{ "text": text }] });
    let configuration = json!({ "returnImmediately": true });
    let params = json!({ "tenant": "echo", "message": message, "configuration": configuration });
    let begun = rpc(server, "SendMessage", params).await?;
    let id = begun["task"]["id"].as_str().with_context(|| format!("no task: {begun}"))?.to_owned();
    let deadline = Instant::now() + PATIENCE;
    while !rpc(server, "GetTask", json!({ "id": id })).await?.to_string().contains(TICK) {
        if Instant::now() > deadline {
            bail!("the agent does not begin");
        }
        tokio::time::sleep(POLL).await;
    }
    Ok((text, id))
}

/// Cancels a task. Returns its message, and when the client said so.
async fn cancel(server: &Server, text: String, id: String) -> Result<(String, Timestamp)> {
    let said = Timestamp::now();
    rpc(server, "CancelTask", json!({ "id": id })).await?;
    Ok((text, said))
}

/// How many milliseconds after each word the agent was told.
async fn delays(agent: &Server, words: &[(String, Timestamp)]) -> Result<Vec<f64>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (_, body) = load::once(&agent.address, &wire::get(CANCELED, &agent.address)).await?;
        let told: HashMap<String, Timestamp> = serde_json::from_slice(&body)?;
        let delay =
            |(text, said): &(String, Timestamp)| Some(told.get(text)?.duration_since(*said).as_secs_f64() * 1e3);
        if let Some(delays) = words.iter().map(delay).collect() {
            return Ok(delays);
        }
        if Instant::now() > deadline {
            bail!("the agent was told of {} of {} cancels", told.len(), words.len());
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn rpc(server: &Server, method: &str, params: Value) -> Result<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = wire::post("/a2a", A2A_SEND.headers, &body, &server.address);
    let (_, answer) = load::once(&server.address, &request).await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    match answer.get("result") {
        Some(result) => Ok(result.clone()),
        None => bail!("{method} was refused: {answer}"),
    }
}
