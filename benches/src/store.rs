//! The store with few tasks and with many: reading one, a page of them, and writing to one must cost the same.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use openfang_store::{Append, Created, NewTask, ResendKey, Sqlite, Stamp, TaskQuery};
use openfang_types::event::EventBody;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Role, TaskState, TaskStatus};
use uuid::Uuid;

use crate::report::{Budget, Row};
use crate::scenarios::STORE_GROWTH_BUDGET;

const FEW: usize = 1_000;
const SAMPLES: usize = 2_000;

/// What one operation takes, in microseconds.
struct Costs {
    get: f64,
    page: f64,
    append: f64,
}

/// The rows: each operation at few and at many tasks, and what a task takes on disk.
pub(crate) async fn rows(many: usize) -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("bench.db");
    let bench = Bench { sqlite: Sqlite::open(&path, NodeId::from_uuid(Uuid::now_v7()))?, owner: Owner::admin() };
    let mut ids = Vec::new();
    bench.fill(&mut ids, FEW).await?;
    let few = bench.measure(&ids).await?;
    let before = std::fs::metadata(&path)?.len();
    bench.fill(&mut ids, many).await?;
    let many_costs = bench.measure(&ids).await?;
    let grown = std::fs::metadata(&path)?.len().saturating_sub(before);
    let row = |name, few: f64, many: f64| Row {
        ratio: Some(many / few),
        budget: Some(Budget::Ratio(STORE_GROWTH_BUDGET)),
        ..Row::plain(name, many, "us")
    };
    let per_task = grown as f64 / (many - FEW) as f64;
    Ok(vec![
        row("store get, many tasks against 1,000", few.get, many_costs.get),
        row("store list page", few.page, many_costs.page),
        row("store append", few.append, many_costs.append),
        Row::plain("store on disk per task", per_task, "bytes"),
    ])
}

/// Makes a database hold this many finished tasks of the admin, and says which.
pub(crate) async fn filled(path: &Path, total: usize) -> Result<Vec<TaskId>> {
    let bench = Bench { sqlite: Sqlite::open(path, NodeId::from_uuid(Uuid::now_v7()))?, owner: Owner::admin() };
    let mut ids = Vec::with_capacity(total);
    bench.fill(&mut ids, total).await?;
    Ok(ids)
}

struct Bench {
    sqlite: Sqlite,
    owner: Owner,
}

impl Bench {
    /// Finished tasks, up to this many, many commits at a time.
    async fn fill(&self, ids: &mut Vec<TaskId>, total: usize) -> Result<()> {
        let tasks = self.sqlite.stores().tasks;
        while ids.len() < total {
            let size = 500.min(total - ids.len());
            let batch: Vec<NewTask> = (0..size).map(|_| self.new_task(TaskState::Completed)).collect::<Result<_>>()?;
            ids.extend(batch.iter().map(|new| new.id));
            let writes: Vec<_> = batch.into_iter().map(|new| tasks.create(new)).collect();
            for write in writes {
                write.await?;
            }
        }
        Ok(())
    }

    async fn measure(&self, ids: &[TaskId]) -> Result<Costs> {
        let tasks = self.sqlite.stores().tasks;
        let query = TaskQuery {
            owner: self.owner.clone(),
            agent: None,
            state: None,
            context_id: None,
            changed_since: None,
            limit: 50,
            after: None,
        };
        let live = self.new_task(TaskState::Working)?;
        let id = live.id;
        let Created::New(mut stamp) = tasks.create(live).await? else { anyhow::bail!("a fresh task is new") };
        let (mut gets, mut pages, mut appends) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..SAMPLES {
            let wanted = ids[(n * 7_919) % ids.len()];
            gets.push(timed(tasks.get(&self.owner, wanted)).await?.0);
            if n % 10 == 0 {
                pages.push(timed(tasks.list(&query)).await?.0);
                let (took, written) = timed(tasks.append(self.append(id, stamp))).await?;
                appends.push(took);
                stamp = written;
            }
        }
        Ok(Costs { get: median(gets)?, page: median(pages)?, append: median(appends)? })
    }

    fn new_task(&self, state: TaskState) -> Result<NewTask> {
        let at = jiff::Timestamp::now();
        let id = Uuid::now_v7();
        Ok(NewTask {
            id: TaskId::from_uuid(id),
            owner: self.owner.clone(),
            agent: "starter".parse()?,
            context_id: "c".parse()?,
            resend_key: ResendKey::new(&id.to_string(), b""),
            message: Message::text(format!("m-{id}").parse()?, Role::User, "/add_numbers {\"a\": 3, \"b\": 7}"),
            events: vec![status(state, at)],
            labels: Labels::none(),
            trace: openfang_types::ids::TraceId::from_uuid(id),
            origin: Origin::OpenFang,
            peer_name: None,
            push: None,
            node: NodeId::from_uuid(id),
            at,
            live_limit: usize::MAX,
        })
    }

    fn append(&self, id: TaskId, stamp: Stamp) -> Append {
        let at = jiff::Timestamp::now();
        Append {
            owner: self.owner.clone(),
            id,
            version: stamp.version,
            events: vec![status(TaskState::Working, at)],
            labels: Labels::none(),
            node: None,
            at,
        }
    }
}

fn status(state: TaskState, timestamp: jiff::Timestamp) -> EventBody {
    EventBody::Status(TaskStatus { state, message: None, timestamp })
}

async fn timed<T>(work: openfang_store::StoreFuture<'_, T>) -> Result<(f64, T)> {
    let begun = Instant::now();
    let done = work.await?;
    Ok((begun.elapsed().as_secs_f64() * 1e6, done))
}

fn median(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("nothing was measured")
}
