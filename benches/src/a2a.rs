//! The cost of A2A: a durable send alone and compared with the official SDKs, which keep tasks in memory; reading a
//! task and a page of tasks in a small and a large store.

use std::path::Path;

use anyhow::Result;
use bytes::Bytes;

use crate::Peers;
use crate::child::{Home, Server};
use crate::load::{self, Target, Turns};
use crate::measure::{Plan, alone, in_turn, median_round, right_answer, target};
use crate::report::{Budget, Row};
use crate::scenarios::{A2A_CONFIG, A2A_LIST, A2A_SDK_BUDGET, A2A_SEND, CpuBudget, Scenario, TASK_GROWTH_BUDGET};
use crate::store;

const CONNECTIONS: usize = 64;
/// Tasks in the smaller of the two compared stores. The same number is read from both.
const FEW: usize = 1_000;

/// The rows of sending, and of reading among many tasks.
pub(crate) async fn rows(openfang: &Path, peers: Option<&Peers>, plan: Plan) -> Result<Vec<Row>> {
    let home = Home::new(openfang, A2A_CONFIG)?;
    let (server, _) = home.start().await?;
    let CpuBudget::Micros { most, per_second } = A2A_SEND.budget else { anyhow::bail!("a send has no floor") };
    let mut rows = alone(&server, &A2A_SEND, [most, per_second], plan).await?;
    if let Some(peers) = peers {
        rows.extend(beside(&home, &server, peers, plan).await?);
    }
    drop(server);
    rows.extend(growth(openfang, plan).await?);
    Ok(rows)
}

/// The same message to agents on the official SDKs. Only the one in Rust is fast enough as a reference.
async fn beside(home: &Home, ours: &Server, peers: &Peers, plan: Plan) -> Result<Vec<Row>> {
    let scenario = Scenario { path: "/", ..A2A_SEND };
    let theirs = home.start_peer(&peers.a2a_rust)?;
    let targets = [target(&theirs, &scenario), target(ours, &A2A_SEND)];
    right_answer(&targets[0], &scenario).await?;
    let ([before, after], ratio) = in_turn([&targets[0], &targets[1]], CONNECTIONS, plan).await?;
    let row = Row::of_load("  openfang, in turn with it", CONNECTIONS, after);
    let mut rows = vec![
        Row::of_load("a2a-server-lf 0.5, in memory", CONNECTIONS, before),
        Row { ratio: Some(ratio), budget: Some(Budget::Ratio(A2A_SDK_BUDGET)), ..row },
    ];
    drop(theirs);
    let others = [
        ("@a2a-js/sdk 1.3, in memory", &peers.a2a_node, 10),
        ("a2a-sdk 1.3 for Python, in memory", &peers.a2a_python, 40),
    ];
    for (name, script, share) in others {
        let server = Home::start_script(script)?;
        let target = target(&server, &scenario);
        right_answer(&target, &scenario).await?;
        let plan = plan.divided(share);
        load::round(&target, CONNECTIONS, plan.warm_up).await?;
        let mut rounds = Vec::new();
        for _ in 0..plan.rounds {
            rounds.push(load::round(&target, CONNECTIONS, plan.requests).await?);
        }
        rows.push(Row::of_load(name, CONNECTIONS, median_round(&rounds)));
    }
    Ok(rows)
}

/// A task and a page of tasks, among few and among many.
async fn growth(openfang: &Path, plan: Plan) -> Result<Vec<Row>> {
    let (few, many) = (FilledServer::new(openfang, FEW).await?, FilledServer::new(openfang, plan.stored_tasks).await?);
    let targets = [few.gets(), many.gets()];
    let name = "GetTask, many tasks against 1,000";
    let mut rows = vec![compared(name, &targets, plan.divided(2)).await?];
    let targets = [target(&few.server, &A2A_LIST), target(&many.server, &A2A_LIST)];
    rows.push(compared("ListTasks, a page of 50", &targets, plan.divided(20)).await?);
    Ok(rows)
}

async fn compared(name: &'static str, [few, many]: &[Target; 2], plan: Plan) -> Result<Row> {
    for target in [few, many] {
        right_answer(target, &Scenario { answer_contains: "TASK_STATE_COMPLETED", ..A2A_LIST }).await?;
    }
    let ([_, many], ratio) = in_turn([few, many], CONNECTIONS, plan).await?;
    let row = Row { ratio: Some(ratio), ..Row::of_load(name, CONNECTIONS, many) };
    Ok(Row { budget: Some(Budget::Ratio(TASK_GROWTH_BUDGET)), ..row })
}

/// A server with this many tasks.
struct FilledServer {
    server: Server,
    /// Some of the tasks, evenly spread over their age.
    asked: Vec<String>,
    _home: Home,
}

impl FilledServer {
    async fn new(openfang: &Path, total: usize) -> Result<Self> {
        let home = Home::new(openfang, A2A_CONFIG)?;
        // The first start creates the database.
        drop(home.start().await?);
        let ids = store::filled(&home.database(), total).await?;
        let asked = ids.iter().step_by(total.div_ceil(FEW)).map(ToString::to_string).collect();
        let (server, _) = home.start().await?;
        home.checked(&server).await?;
        Ok(Self { server, asked, _home: home })
    }

    fn gets(&self) -> Target {
        let requests = self.asked.iter().map(|id| get(&self.server.address, id)).collect();
        Target { pid: self.server.pid(), address: self.server.address.clone(), requests, turns: Turns::All }
    }
}

fn get(address: &str, id: &str) -> Bytes {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{{"id":"{id}"}}}}"#);
    crate::wire::post("/a2a", A2A_SEND.headers, &body, address).into()
}
