//! The cost of the gateway: a relayed call compared with another gateway and the same upstream, the time and memory of
//! many tools, and the effect of bad upstreams on a good one.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use crate::child::{self, Home, Server};
use crate::load::{self, Target, Turns};
use crate::measure::{IDLE_AFTER, Plan, in_turn, median_round, right_answer, target};
use crate::process_stat;
use crate::ratio::Ratio;
use crate::report::{Budget, Row};
use crate::scenarios::{
    AGGREGATE_BUDGET, API_KEY, FAIRNESS_BUDGET, FEW_TOOLS, GATEWAY_BUDGETS, GATEWAY_LEGACY, GATEWAY_MODERN,
    GATEWAY_PREFIXED, MANY_TOOLS, Scenario, TOOL_GROWTH_BUDGET, TOOL_MEMORY_BUDGET, UPSTREAM_MEMORY_BUDGET_MB,
    UPSTREAM_TOOLS,
};
use crate::upstream;

/// The name of the upstream in every config.
const NAME: &str = "up";
/// Connections that call an upstream that never answers, and one that crashes.
const PESTERING: usize = 16;
const PAUSE: Duration = Duration::from_millis(20);
/// Connections that call the good upstream meanwhile.
const MODEST: usize = 8;

/// All rows. The comparison needs another gateway.
pub(crate) async fn rows(openfang: &Path, other: Option<&Path>, plan: Plan) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if let Some(other) = other {
        rows.extend(beside(openfang, other, plan).await?);
    }
    rows.extend(growth(openfang, plan).await?);
    rows.extend(memory(openfang).await?);
    rows.push(fairness(openfang, plan).await?);
    Ok(rows)
}

/// The same calls through another gateway and through ours, to the same upstream, each client in its own session.
async fn beside(openfang: &Path, other: &Path, plan: Plan) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let behind_http = child::start_upstream(FEW_TOOLS)?;
    let names = [
        ["mcp-proxy, stdio upstream, in sessions", "  openfang /mcp/servers/{name}"],
        ["mcp-proxy, HTTP upstream, in sessions", "  openfang /mcp/servers/{name}"],
    ];
    let transports = [Transport::Program("stdio", FEW_TOOLS), Transport::Url(&behind_http.address)];
    for ([theirs, ours], transport) in names.into_iter().zip(transports) {
        let home = Home::new(openfang, &transport.entry(NAME, "protocol = \"legacy\"\n")?)?;
        let (server, _) = home.start().await?;
        let peer = home.start_gateway(other, &transport.backend()?)?;
        for (connections, most) in GATEWAY_BUDGETS {
            let targets = [
                in_sessions(&peer, "/", &format!("{NAME}/{}", upstream::ECHO), connections).await?,
                in_sessions(&server, GATEWAY_LEGACY.path, upstream::ECHO, connections).await?,
            ];
            for target in &targets {
                right_answer(target, &GATEWAY_LEGACY).await?;
            }
            let share = if connections == 1 { 8 } else { 2 };
            let ([before, after], ratio) =
                in_turn([&targets[0], &targets[1]], connections, plan.divided(share)).await?;
            rows.push(Row::of_load(theirs, connections, before));
            let budget = Some(Budget::Ratio(most));
            rows.push(Row { ratio: Some(ratio), budget, ..Row::of_load(ours, connections, after) });
        }
    }
    Ok(rows)
}

/// The transport of an upstream.
enum Transport<'a> {
    /// As a program, with its behavior and its number of tools.
    Program(&'a str, usize),
    Url(&'a str),
}

impl Transport<'_> {
    /// As an entry of our config.
    fn entry(&self, name: &str, more: &str) -> Result<String> {
        let transport = match self {
            Self::Program(kind, tools) => {
                format!("type = \"stdio\"\ncommand = {}\nargs = {}\n", bench()?, upstream_args(kind, *tools))
            }
            Self::Url(address) => format!("type = \"http\"\nurl = \"http://{address}/mcp\"\n"),
        };
        Ok(format!("[[mcp_servers]]\nname = \"{name}\"\n{more}[mcp_servers.transport]\n{transport}\n"))
    }

    /// As the config of mcp-proxy, with a credential like ours.
    fn backend(&self) -> Result<String> {
        let transport = match self {
            Self::Program(kind, tools) => {
                format!("transport = \"stdio\"\ncommand = {}\nargs = {}\n", bench()?, upstream_args(kind, *tools))
            }
            Self::Url(address) => format!("transport = \"http\"\nurl = \"http://{address}/mcp\"\n"),
        };
        Ok(format!(
            "[proxy]\nname = \"bench\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = 0\n\
             [auth]\ntype = \"bearer\"\ntokens = [\"{API_KEY}\"]\n[[backends]]\nname = \"{NAME}\"\n{transport}"
        ))
    }
}

/// The path of this program as a config string.
fn bench() -> Result<String> {
    Ok(json!(std::env::current_exe()?).to_string())
}

fn upstream_args(kind: &str, tools: usize) -> String {
    json!(["upstream", kind, tools.to_string()]).to_string()
}

/// Calls of clients with a session, one for each connection.
async fn in_sessions(server: &Server, path: &str, tool: &str, connections: usize) -> Result<Target> {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
    }});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": {"text": "hello"},
    }});
    let mut requests = Vec::new();
    for _ in 0..connections {
        let (head, _) = load::once(&server.address, &post(server, path, "", &initialize)).await?;
        let id = head.headers.iter().find(|(name, _)| name == "mcp-session-id").context("no session id")?;
        let headers = format!("mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {}\r\n", id.1);
        load::once(&server.address, &post(server, path, &headers, &initialized)).await?;
        requests.push(post(server, path, &headers, &call));
    }
    Ok(Target { pid: server.pid(), address: server.address.clone(), requests, turns: Turns::Own })
}

fn post(server: &Server, path: &str, headers: &str, body: &serde_json::Value) -> Bytes {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {API_KEY}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .into()
}

/// A call among few tools and among many.
async fn growth(openfang: &Path, plan: Plan) -> Result<Vec<Row>> {
    let home = |tools| Home::new(openfang, &Transport::Program("stdio", tools).entry(NAME, "")?);
    let (few, many) = (home(FEW_TOOLS)?, home(MANY_TOOLS)?);
    let (few, many) = (few.start().await?.0, many.start().await?.0);
    let mut rows = Vec::new();
    for scenario in [&GATEWAY_MODERN, &GATEWAY_LEGACY, &GATEWAY_PREFIXED] {
        let targets = [target(&few, scenario), target(&many, scenario)];
        for target in &targets {
            listed(target, scenario).await?;
        }
        let ([_, many], ratio) = in_turn([&targets[0], &targets[1]], 32, plan.divided(2)).await?;
        let row = Row { ratio: Some(ratio), ..Row::of_load(scenario.name, 32, many) };
        rows.push(Row { budget: Some(Budget::Ratio(TOOL_GROWTH_BUDGET)), ..row });
    }
    rows.push(aggregated(&few, plan).await?);
    Ok(rows)
}

/// A call through the aggregated endpoint, beside the same call handed through.
async fn aggregated(server: &Server, plan: Plan) -> Result<Row> {
    let [direct, aggregated] = [&GATEWAY_MODERN, &GATEWAY_PREFIXED].map(|scenario| target(server, scenario));
    let ([_, aggregated], ratio) = in_turn([&direct, &aggregated], 32, plan.divided(2)).await?;
    let row = Row::of_load("tools/call on /mcp against /mcp/servers, same tool", 32, aggregated);
    Ok(Row { ratio: Some(ratio), budget: Some(Budget::Ratio(AGGREGATE_BUDGET)), ..row })
}

/// Waits until a tool can be called: `/mcp` does not know it before its server is connected.
async fn listed(target: &Target, scenario: &Scenario<'_>) -> Result<()> {
    let mut last = Ok(());
    for _ in 0..100 {
        last = right_answer(target, scenario).await.map(drop);
        if last.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    last
}

/// The memory of an upstream's tools, after they were listed everywhere.
async fn memory(openfang: &Path) -> Result<[Row; 2]> {
    let definitions = upstream::definition_bytes(MANY_TOOLS) as f64 / 1e6;
    let (mut some, mut many, mut grown) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..MEMORY_ROUNDS {
        let idle = resident_with(openfang, None).await?;
        some.push(resident_with(openfang, Some(UPSTREAM_TOOLS)).await?);
        let resident = resident_with(openfang, Some(MANY_TOOLS)).await?;
        many.push(resident);
        grown.push(resident - idle);
    }
    let ratio = Ratio::of(&[definitions; MEMORY_ROUNDS], &grown);
    let some = Row::of_rounds("memory with an upstream of 100 tools", &some, "MB");
    let many = Row { ratio: Some(ratio), ..Row::of_rounds(MANY_ROW, &many, "MB") };
    Ok([
        Row { budget: Some(Budget::Value(UPSTREAM_MEMORY_BUDGET_MB)), ..some },
        Row { budget: Some(Budget::Ratio(TOOL_MEMORY_BUDGET)), ..many },
    ])
}

/// The number of starts of each server whose memory is measured.
const MEMORY_ROUNDS: usize = 5;
const MANY_ROW: &str = "memory with 10,000 tools, growth by bytes of definitions";

async fn resident_with(openfang: &Path, tools: Option<usize>) -> Result<f64> {
    let entry = tools.map(|tools| Transport::Program("stdio", tools).entry(NAME, ""));
    let home = Home::new(openfang, &entry.transpose()?.unwrap_or_default())?;
    let (server, _) = home.start().await?;
    if tools.is_some() {
        listed(&target(&server, &GATEWAY_PREFIXED), &GATEWAY_PREFIXED).await?;
        for path in [GATEWAY_PREFIXED.path, GATEWAY_LEGACY.path] {
            read_list(&server, path).await?;
        }
    }
    tokio::time::sleep(IDLE_AFTER).await;
    process_stat::resident_mb(server.pid())
}

/// Reads a list to its last page.
async fn read_list(server: &Server, path: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Answer {
        result: Page,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page {
        next_cursor: Option<String>,
    }
    let mut cursor: Option<String> = None;
    loop {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let request = post(server, path, "mcp-protocol-version: 2025-11-25\r\n", &list);
        let (_, body) = load::once(&server.address, &request).await?;
        let answer: Answer = serde_json::from_slice(&body).context("a list that is none")?;
        cursor = answer.result.next_cursor;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// How long calls of a good upstream wait, alone and next to one that never answers and one that crashes with every
/// call.
async fn fairness(openfang: &Path, plan: Plan) -> Result<Row> {
    let good = Transport::Program("stdio", FEW_TOOLS).entry(NAME, "")?;
    let silent = Transport::Program("silent", FEW_TOOLS).entry("silent", "timeout_secs = 2\n")?;
    let crashing = Transport::Program("crashing", FEW_TOOLS).entry("crashing", "")?;
    let home = Home::new(openfang, &format!("{good}{silent}{crashing}"))?;
    let (server, _) = home.start().await?;
    let healthy = target(&server, &GATEWAY_LEGACY);
    right_answer(&healthy, &GATEWAY_LEGACY).await?;
    let bad = |name: &str| {
        let path = format!("/mcp/servers/{name}");
        let call = Scenario { path: &path, ..GATEWAY_LEGACY };
        target(&server, &call).requests.into_iter().next().context("nothing to ask")
    };
    let (to_silent, to_crashing) = (bad("silent")?, bad("crashing")?);
    let plan = plan.divided(4);
    load::round(&healthy, MODEST, plan.warm_up).await?;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        alone.push(load::round(&healthy, MODEST, plan.requests).await?);
        let mut pestering = JoinSet::new();
        for _ in 0..PESTERING {
            pestering.spawn(load::pester(server.address.clone(), to_silent.clone(), PAUSE));
        }
        pestering.spawn(load::pester(server.address.clone(), to_crashing.clone(), PAUSE));
        beside.push(load::round(&healthy, MODEST, plan.requests).await?);
        pestering.shutdown().await;
    }
    let [alone_p99, beside_p99] =
        [&alone, &beside].map(|rounds| rounds.iter().map(|round| round.p99_ms).collect::<Vec<_>>());
    let (ratio, beside) = (Ratio::of(&alone_p99, &beside_p99), median_round(&beside));
    let name = "p99 of a good upstream, beside a silent and a crashing one";
    let row = Row { load: Some((MODEST, beside)), ..Row::of_rounds(name, &beside_p99, "ms") };
    Ok(Row { ratio: Some(ratio), budget: Some(Budget::Ratio(FAIRNESS_BUDGET)), ..row })
}
