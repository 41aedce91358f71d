//! The cost of MCP: a long list, many sessions, a start on stdio, and a comparison with the official SDK.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::child::{Home, Server};
use crate::load;
use crate::measure::{Plan, compare, in_turn, median, target};
use crate::process_stat;
use crate::report::{Budget, Row};
use crate::scenarios::{
    API_KEY, CpuBudget, MCP_LEGACY, MCP_LIST, MCP_MODERN, RMCP_BUDGETS, SESSIONS, SESSIONS_MEMORY_BUDGET_MB,
    STDIO_BUDGET_MS,
};

/// The rows that need their own homes.
pub(crate) async fn rows(openfang: &Path, plan: Plan) -> Result<Vec<Row>> {
    let long = Home::new(openfang, "")?.with_agents(1_000)?;
    let (server, _) = long.start().await?;
    let CpuBudget::TimesFloor(most) = MCP_LIST.budget else { anyhow::bail!("the list is measured against a floor") };
    let mut rows = compare(&long, &server, &MCP_LIST, most, plan.divided(20)).await?;
    drop(server);

    let home = Home::new(openfang, "")?;
    let (server, _) = home.start().await?;
    rows.push(sessions(&server).await?);
    drop(server);
    // No daemon runs, so the stdio server has to start everything itself.
    let mut starts = Vec::new();
    for _ in 0..plan.starts {
        starts.push(home.stdio_start()?.as_secs_f64() * 1e3);
    }
    let start = Row::plain("openfang mcp to initialize", median(starts.into_iter()), "ms");
    rows.push(Row { budget: Some(Budget::Value(STDIO_BUDGET_MS)), ..start });
    Ok(rows)
}

/// Ten thousand clients that open a session, use it once and never close it.
async fn sessions(server: &Server) -> Result<Row> {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
    }});
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    for _ in 0..SESSIONS {
        let (head, _) = load::once(&server.address, &post(server, "", &initialize)).await?;
        let id = head.headers.iter().find(|(name, _)| name == "mcp-session-id").context("no session id")?;
        load::once(&server.address, &post(server, &format!("mcp-session-id: {}\r\n", id.1), &ping)).await?;
    }
    let resident = process_stat::resident_mb(server.pid())?;
    let row = Row::plain("memory with 10,000 legacy sessions", resident, "MB");
    Ok(Row { budget: Some(Budget::Value(SESSIONS_MEMORY_BUDGET_MB)), ..row })
}

fn post(server: &Server, headers: &str, body: &serde_json::Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {API_KEY}\r\ncontent-type: application/json\r\n\
         {headers}content-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .into_bytes()
}

/// The same calls to a server of the official SDK, alternating with ours.
pub(crate) async fn beside_peer(openfang: &Path, peer: &Path, plan: Plan) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let setups = [("", "  openfang, everything on"), ("[audit]\nreads = false\n", "  openfang, reads not audited")];
    for scenario in [&MCP_MODERN, &MCP_LEGACY] {
        for ((config, name), most) in setups.into_iter().zip(RMCP_BUDGETS) {
            let home = Home::new(openfang, config)?;
            let (ours, _) = home.start().await?;
            let theirs = home.start_peer(peer)?;
            let ([theirs, ours], ratio) =
                in_turn([&target(&theirs, scenario), &target(&ours, scenario)], 32, plan).await?;
            let peer_name = if scenario.name == MCP_MODERN.name { "rmcp, 2026-07-28" } else { "rmcp, 2025-11-25" };
            rows.push(Row::of_load(peer_name, 32, theirs));
            rows.push(Row { ratio: Some(ratio), budget: Some(Budget::Ratio(most)), ..Row::of_load(name, 32, ours) });
        }
    }
    Ok(rows)
}
