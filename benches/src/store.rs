//! The store with few tasks and with many: reading a task, reading a page, and writing must cost the same.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use openfang_store::{Append, Created, NewTask, ResendKey, Sqlite, Stamp, TaskQuery, TranscriptWrite};
use openfang_types::event::EventBody;
use openfang_types::ids::{NodeId, Owner, TaskId};
use openfang_types::limits::PAGE_MAX_BYTES;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Origin, Role, TaskParts, TaskState, TaskStatus};
use uuid::Uuid;

use crate::measure::median;
use crate::ratio::Ratio;
use crate::report::{Budget, Row};
use crate::scenarios::STORE_GROWTH_BUDGET;

const FEW: usize = 1_000;
const SAMPLES: usize = 2_000;
/// The samples are split into this many parts, whose medians are compared.
const ROUNDS: usize = 5;

/// The cost of each operation in microseconds.
#[derive(Default)]
struct Costs {
    get: Vec<f64>,
    page: Vec<f64>,
    append: Vec<f64>,
}

/// The rows: each operation with few and with many tasks, alternating, and the disk space of a task.
pub(crate) async fn rows(many: usize) -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let paths = [directory.path().join("few.db"), directory.path().join("many.db")];
    let mut few = SampledStore::new(&paths[0], FEW).await?;
    let mut many_tasks = SampledStore::new(&paths[1], many).await?;
    for n in 0..SAMPLES {
        few.sample(n).await?;
        many_tasks.sample(n).await?;
    }
    let [before, after] = [std::fs::metadata(&paths[0])?.len(), std::fs::metadata(&paths[1])?.len()];
    let row = |name, of: fn(&Costs) -> &Vec<f64>| -> Result<Row> {
        let (few, many) = (in_rounds(of(&few.costs))?, in_rounds(of(&many_tasks.costs))?);
        let (ratio, budget) = (Some(Ratio::of(&few, &many)), Some(Budget::Ratio(STORE_GROWTH_BUDGET)));
        Ok(Row { ratio, budget, ..Row::of_rounds(name, &many, "us") })
    };
    let per_task = after.saturating_sub(before) as f64 / (many - FEW) as f64;
    Ok(vec![
        row("store get, many tasks against 1,000", |costs| &costs.get)?,
        row("store list page", |costs| &costs.page)?,
        row("store append", |costs| &costs.append)?,
        Row::plain("store on disk per task", per_task, "bytes"),
    ])
}

/// Fills a database with this many finished tasks of the admin. Returns their ids.
pub(crate) async fn filled(path: &Path, total: usize) -> Result<Vec<TaskId>> {
    let bench = Bench::open(path)?;
    let mut ids = Vec::with_capacity(total);
    bench.fill(&mut ids, total).await?;
    Ok(ids)
}

struct Bench {
    sqlite: Sqlite,
    owner: Owner,
}

impl Bench {
    fn open(path: &Path) -> Result<Self> {
        let sqlite = Sqlite::open(path, NodeId::from_uuid(Uuid::now_v7()))?;
        sqlite.stores().quota.set(u64::MAX);
        Ok(Self { sqlite, owner: Owner::admin() })
    }

    /// Creates finished tasks up to this number, in large commits.
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
            scope: None,
            door: openfang_types::principal::Door::Rest,
            push: None,
            remote: None,
            transcript: TranscriptWrite::default(),
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
            remote: None,
            transcript: TranscriptWrite::default(),
            node: None,
            door: None,
            at,
        }
    }
}

/// A store with this many tasks, and its samples.
struct SampledStore {
    bench: Bench,
    ids: Vec<TaskId>,
    live: TaskId,
    stamp: Stamp,
    query: TaskQuery,
    costs: Costs,
}

impl SampledStore {
    async fn new(path: &Path, total: usize) -> Result<Self> {
        let ids = filled(path, total).await?;
        let bench = Bench::open(path)?;
        let query = TaskQuery {
            owner: bench.owner.clone(),
            agent: None,
            state: None,
            context_id: None,
            changed_since: None,
            scope: None,
            limit: 50,
            after: None,
            parts: TaskParts::STATUS,
            max_bytes: PAGE_MAX_BYTES,
        };
        let new = bench.new_task(TaskState::Working)?;
        let live = new.id;
        let Created::New(stamp) = bench.sqlite.stores().tasks.create(new).await? else {
            anyhow::bail!("a fresh task is new")
        };
        Ok(Self { bench, ids, live, stamp, query, costs: Costs::default() })
    }

    /// Reads one task; now and then reads a page and writes to a task. Everything is read once before, so that the
    /// system's cache does not influence the result.
    async fn sample(&mut self, n: usize) -> Result<()> {
        let tasks = self.bench.sqlite.stores().tasks;
        let wanted = self.ids[(n * 7_919) % self.ids.len()];
        tasks.get(&self.bench.owner, wanted).await?;
        self.costs.get.push(timed(tasks.get(&self.bench.owner, wanted)).await?.0);
        if n.is_multiple_of(10) {
            tasks.list(&self.query).await?;
            self.costs.page.push(timed(tasks.list(&self.query)).await?.0);
            let (took, stamp) = timed(tasks.append(self.bench.append(self.live, self.stamp))).await?;
            self.costs.append.push(took);
            self.stamp = stamp;
        }
        Ok(())
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

/// The medians of the samples' parts.
fn in_rounds(samples: &[f64]) -> Result<Vec<f64>> {
    anyhow::ensure!(samples.len() >= ROUNDS, "nothing was measured");
    let parts = samples.chunks(samples.len().div_ceil(ROUNDS));
    Ok(parts.map(|part| median(part.iter().copied())).collect())
}
