//! Compares random sequences of operations with a model that is too simple to be wrong: a list of tasks, searched from
//! the front.

use std::collections::BTreeMap;

use openfang_types::event::{EventBody, TaskEvent};
use openfang_types::ids::{Owner, TaskId};
use openfang_types::taint::{Label, Labels};
use openfang_types::task::TaskState;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{artifact, new_task, node, owner, query, status, write};
use crate::{Append, Created, NewTask, Stamp, StoreError, TaskQuery, TaskRecord, TaskStore};

const OWNERS: [&str; 2] = ["ada", "bob"];
const NODES: [u8; 3] = [1, 2, 3];

/// Runs this many random sequences, each on its own store.
pub(crate) fn agrees_with_the_model(cases: u32, fresh: impl Fn() -> Box<dyn TaskStore>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let sequences = vec(operation(), 1..40);
    let checked = TestRunner::new(config).run(&sequences, |operations| {
        runtime.block_on(check(&*fresh(), operations));
        Ok(())
    });
    checked.unwrap();
}

async fn check(store: &dyn TaskStore, operations: Vec<Operation>) {
    let mut model = Model::default();
    for operation in operations {
        model.step(store, operation).await;
        for name in OWNERS {
            assert_eq!(store.counts(&owner(name)).await.unwrap(), model.counts(&owner(name)), "the counts of {name}");
        }
    }
    model.compare(store).await;
}

/// Tasks are named by their order of creation; larger numbers wrap around.
#[derive(Debug, Clone)]
enum Operation {
    Create { owner: usize, message: u8, node: usize, events: Vec<Change>, live_limit: usize },
    Append { task: usize, owner: usize, stale: bool, events: Vec<Change>, label: Option<Label>, node: Option<usize> },
    Claim { task: usize, stale: bool, node: usize },
    RequestCancel { task: usize, owner: usize },
}

#[derive(Debug, Clone)]
enum Change {
    Status(TaskState),
    Artifact(u8),
}

impl Change {
    fn body(&self) -> EventBody {
        match self {
            Self::Status(state) => status(*state),
            Self::Artifact(id) => artifact(&id.to_string()),
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let state = proptest::sample::select(TaskState::ALL.to_vec());
    prop_oneof![state.prop_map(Change::Status), (0..3_u8).prop_map(Change::Artifact)]
}

fn operation() -> impl Strategy<Value = Operation> {
    let (owner, task, at) = (0..OWNERS.len(), 0..64_usize, 0..NODES.len());
    let rarely = || proptest::bool::weighted(0.15);
    let label = proptest::option::of(proptest::sample::select(Label::ALL.to_vec()));
    let create = (owner.clone(), 0..12_u8, at.clone(), vec(change(), 0..3), 1..8_usize).prop_map(
        |(owner, message, node, events, live_limit)| Operation::Create { owner, message, node, events, live_limit },
    );
    let moved = proptest::option::weighted(0.2, at.clone());
    let append = (task.clone(), owner.clone(), rarely(), vec(change(), 0..4), label, moved).prop_map(
        |(task, owner, stale, events, label, node)| Operation::Append { task, owner, stale, events, label, node },
    );
    let claim = (task.clone(), rarely(), at).prop_map(|(task, stale, node)| Operation::Claim { task, stale, node });
    let cancel = (task, owner).prop_map(|(task, owner)| Operation::RequestCancel { task, owner });
    prop_oneof![4 => create, 6 => append, 1 => claim, 1 => cancel]
}

#[derive(Default)]
struct Model {
    tasks: Vec<Modelled>,
}

struct Modelled {
    message: u8,
    record: TaskRecord,
    events: Vec<TaskEvent>,
    cancel_requested: bool,
}

impl Modelled {
    fn state(&self) -> TaskState {
        self.record.task.status.state
    }

    fn is_live(&self) -> bool {
        !self.state().is_terminal()
    }

    fn push(&mut self, bodies: &[EventBody], at: jiff::Timestamp) {
        for body in bodies {
            self.record.task.apply(body);
            self.record.seq += 1;
            let (task_id, seq) = (self.record.task.id, self.record.seq);
            self.events.push(TaskEvent { task_id, seq, at, body: body.clone() });
        }
    }

    const fn stamp(&self) -> Stamp {
        Stamp { version: self.record.version, seq: self.record.seq }
    }
}

/// The rule, expressed differently than in the stores.
fn first_forbidden(mut from: TaskState, events: &[EventBody]) -> Option<StoreError> {
    for to in events.iter().filter_map(EventBody::state) {
        if from.is_terminal() || to == TaskState::Submitted {
            return Some(StoreError::NotAllowed { from, to });
        }
        from = to;
    }
    None
}

impl Model {
    async fn step(&mut self, store: &dyn TaskStore, operation: Operation) {
        match operation {
            Operation::Create { owner: whose, message, node: at, events, live_limit } => {
                let events = events.iter().map(Change::body).collect();
                let new = new_task(&owner(OWNERS[whose]), &message.to_string());
                let new = NewTask { node: node(NODES[at]), events, live_limit, ..new };
                let outcome = store.create(new.clone()).await;
                assert_eq!(outcome, self.create(&new, message), "create {new:?}");
            }
            Operation::Append { task, owner: whose, stale, events, label, node: at } => {
                let Some(record) = self.nth(task).map(|held| held.record.clone()) else { return };
                let append = Append {
                    owner: owner(OWNERS[whose]),
                    version: record.version - u64::from(stale),
                    labels: label
                        .map_or(Labels::none(), |label| Labels::one(label, format!("{label} {}", record.version % 5))),
                    node: at.map(|at| node(NODES[at])),
                    ..write(&record, events.iter().map(Change::body).collect())
                };
                let outcome = store.append(append.clone()).await;
                assert_eq!(outcome, self.append(&append), "{append:?} to {record:?}");
            }
            Operation::Claim { task, stale, node: at } => {
                let Some(held) = self.nth(task) else { return };
                let (id, version) = (held.record.task.id, held.record.version - u64::from(stale));
                let expected = held.claim(version, NODES[at]);
                assert_eq!(store.claim(id, version, node(NODES[at])).await, expected, "claim");
            }
            Operation::RequestCancel { task, owner: whose } => {
                let Some(held) = self.nth(task) else { return };
                let (whose, is_own) = (owner(OWNERS[whose]), held.record.owner.as_str() == OWNERS[whose]);
                held.cancel_requested |= is_own;
                let expected = if is_own { Ok(()) } else { Err(StoreError::NotFound) };
                assert_eq!(store.request_cancel(&whose, held.record.task.id).await, expected, "request_cancel");
            }
        }
    }

    fn nth(&mut self, n: usize) -> Option<&mut Modelled> {
        let count = self.tasks.len();
        self.tasks.get_mut(n.checked_rem(count)?)
    }

    fn create(&mut self, new: &NewTask, message: u8) -> Result<Created, StoreError> {
        if let Some(forbidden) = first_forbidden(TaskState::Submitted, &new.events) {
            return Err(forbidden);
        }
        let of_owner = || self.tasks.iter().filter(|held| held.record.owner == new.owner);
        if let Some(known) = of_owner().find(|held| held.message == message) {
            return Ok(Created::Known(known.record.task.id));
        }
        if of_owner().filter(|held| held.is_live()).count() >= new.live_limit {
            return Err(StoreError::TooManyLive { limit: new.live_limit });
        }
        let record = TaskRecord {
            task: new.task(),
            owner: new.owner.clone(),
            version: 1,
            seq: 0,
            labels: new.labels.clone(),
            trace: new.trace,
            origin: new.origin,
            peer_name: new.peer_name.clone(),
            created_at: new.at,
            node: new.node,
            attempt: 1,
        };
        let mut made = Modelled { message, record, events: Vec::new(), cancel_requested: false };
        made.push(&new.first_events(), new.at);
        let stamp = made.stamp();
        self.tasks.push(made);
        Ok(Created::New(stamp))
    }

    fn append(&mut self, write: &Append) -> Result<Stamp, StoreError> {
        let found = self.tasks.iter_mut().find(|held| held.record.task.id == write.id);
        let held = found.filter(|held| held.record.owner == write.owner).ok_or(StoreError::NotFound)?;
        let from = held.state();
        if let Some(forbidden) = first_forbidden(from, &write.events) {
            return Err(forbidden);
        }
        if from.is_terminal() {
            return Err(StoreError::NotAllowed { from, to: from });
        }
        if held.record.version != write.version {
            return Err(StoreError::Conflict);
        }
        held.push(&write.events, write.at);
        held.record.version += 1;
        held.record.labels.join(&write.labels);
        held.record.node = write.node.unwrap_or(held.record.node);
        Ok(held.stamp())
    }

    fn counts(&self, owner: &Owner) -> BTreeMap<TaskState, u64> {
        let mut counts = BTreeMap::new();
        for held in self.tasks.iter().filter(|held| held.record.owner == *owner) {
            *counts.entry(held.state()).or_default() += 1;
        }
        counts
    }

    async fn compare(&self, store: &dyn TaskStore) {
        for held in &self.tasks {
            let (owner, id) = (&held.record.owner, held.record.task.id);
            assert_eq!(store.get(owner, id).await.unwrap(), held.record);
            assert_eq!(store.events(owner, id, 0, usize::MAX).await.unwrap(), held.events);
        }
        for name in OWNERS {
            for state in [None].into_iter().chain(TaskState::ALL.map(Some)) {
                self.compare_list(store, &TaskQuery { state, limit: 3, ..query(&owner(name)) }).await;
            }
        }
        for at in NODES {
            let wanted = |held: &&Modelled| held.cancel_requested && held.is_live() && held.record.node == node(at);
            assert_eq!(store.cancel_requests(node(at)).await.unwrap(), self.ids(wanted));
            let lost = |held: &&Modelled| {
                matches!(held.state(), TaskState::Submitted | TaskState::Working) && held.record.node != node(at)
            };
            let orphans = store.orphans(&[node(at)]).await.unwrap();
            assert_eq!(orphans.iter().map(|record| record.task.id).collect::<Vec<_>>(), self.ids(lost));
        }
    }

    fn ids(&self, wanted: impl Fn(&&Modelled) -> bool) -> Vec<TaskId> {
        self.tasks.iter().filter(wanted).map(|held| held.record.task.id).collect()
    }

    async fn compare_list(&self, store: &dyn TaskStore, query: &TaskQuery) {
        let wanted = |held: &&Modelled| {
            held.record.owner == query.owner && query.state.is_none_or(|state| held.state() == state)
        };
        let mut expected: Vec<&TaskRecord> = self.tasks.iter().filter(wanted).map(|held| &held.record).collect();
        expected.sort_by_key(|record| std::cmp::Reverse((record.task.status.timestamp, record.task.id)));
        let (mut query, mut seen) = (query.clone(), Vec::new());
        loop {
            let page = store.list(&query).await.unwrap();
            assert_eq!(page.total, expected.len());
            seen.extend(page.tasks);
            assert!(seen.len() <= expected.len(), "a task is shown twice");
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
    }
}

impl Modelled {
    fn claim(&mut self, version: u64, by: u8) -> Result<Stamp, StoreError> {
        if self.record.version != version {
            return Err(StoreError::Conflict);
        }
        if !self.is_live() {
            return Err(StoreError::NotAllowed { from: self.state(), to: self.state() });
        }
        self.record.version += 1;
        self.record.attempt += 1;
        self.record.node = node(by);
        Ok(self.stamp())
    }
}
