//! A damaged log: whatever is cut off or flipped in it, the database shows a state that was acknowledged, or refuses.

use std::collections::BTreeMap;

use openfang_types::ids::TaskId;
use openfang_types::taint::Labels;
use openfang_types::task::TaskState;

use super::*;
use crate::contract::transcripts::{said, words};
use crate::contract::{artifact, finished_task, query, status, write};
use crate::{Append, NewTask, StoredValue, TaskRecord};

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}

/// A database that lives, and what it has acknowledged, in order: each entry is the one task that its commit changed. Each
/// commit also adds its number to the transcript of the one conversation.
struct Life {
    home: Home,
    sqlite: Sqlite,
    numbers: Numbers,
    acknowledged: Vec<TaskRecord>,
}

/// A database as it lay on disk at one moment.
struct Moment {
    database: Vec<u8>,
    log: Vec<u8>,
    acknowledged: Vec<TaskRecord>,
}

impl Life {
    fn new() -> Self {
        let home = Home::new();
        let sqlite = home.open();
        Self { home, sqlite, numbers: Numbers(0), acknowledged: Vec::new() }
    }

    /// Ids of messages are scattered, so that the commits change pages all over the place.
    async fn commits(&mut self, count: usize) {
        let store = self.sqlite.stores().tasks;
        let ada = owner("ada");
        for n in 0..count {
            let message = format!("{:x}", self.numbers.next());
            let transcript = said(&[&(self.acknowledged.len() + 1).to_string()]);
            let step = |last: &TaskRecord, events| Append { transcript: transcript.clone(), ..write(last, events) };
            let stored = match self.acknowledged.last() {
                Some(last) if last.task.status.state == TaskState::Submitted => {
                    store.append(step(last, vec![status(TaskState::Working), artifact("a")])).await.unwrap();
                    last.task.id
                }
                Some(last) if last.task.status.state == TaskState::Working => {
                    store.append(step(last, vec![status(TaskState::Failed)])).await.unwrap();
                    last.task.id
                }
                _ => {
                    let new = if n % 3 == 0 { new_task(&ada, &message) } else { finished_task(&ada, &message) };
                    create(&*store, NewTask { transcript, ..new }).await.task.id
                }
            };
            self.acknowledged.push(store.get(&ada, stored).await.unwrap());
        }
    }

    /// Writes something large until the log has been carried over into the database.
    async fn fill_the_log(&mut self) {
        let memory = self.sqlite.stores().memory;
        let size = || fs::metadata(self.home.path()).unwrap().len();
        let before = size();
        while size() == before {
            // What is there already would not be written again.
            let value = format!("{:x}", self.numbers.next()).repeat(4_000);
            memory
                .put(&owner("ada"), "large", StoredValue { value, labels: Labels::none() })
                .await
                .unwrap();
            // The log is carried over after the answer; this is answered after that, and writes nothing.
            self.sqlite.write(|_| Ok(())).await.unwrap();
        }
    }

    fn moment(&self) -> Moment {
        Moment {
            database: fs::read(self.home.path()).unwrap(),
            log: fs::read(self.home.wal()).unwrap(),
            acknowledged: self.acknowledged.clone(),
        }
    }
}

/// What is shown after the damage: the tasks, or nothing because it was refused.
async fn shown(database: &[u8], log: &[u8]) -> Option<Vec<TaskRecord>> {
    let home = Home::new();
    fs::write(home.path(), database).unwrap();
    fs::write(home.wal(), log).unwrap();
    let sqlite = match home.try_open() {
        Ok(sqlite) => sqlite,
        Err(OpenError::Damaged { .. }) => return None,
        Err(other) => panic!("{other}"),
    };
    let tasks = sqlite.stores().tasks;
    let ada = owner("ada");
    let listed = match tasks.list(&query(&ada)).await {
        Ok(page) => page,
        Err(StoreError::Unavailable { .. }) => return None,
        Err(other) => panic!("{other}"),
    };
    if let Some(record) = listed.tasks.first() {
        let commits: u64 = listed.tasks.iter().map(|record| record.version).sum();
        let numbers: Vec<String> = (1..=commits).map(|number| number.to_string()).collect();
        assert_eq!(words(&sqlite.stores(), record).await, numbers, "a commit has its events and its items");
    }
    let mut counts = BTreeMap::new();
    for record in &listed.tasks {
        *counts.entry(record.task.status.state).or_default() += 1;
        assert_eq!(tasks.events(&ada, record.task.id, 0, 99).await.unwrap().len() as u64, record.seq);
    }
    assert_eq!(tasks.counts(&ada).await.unwrap(), counts);
    assert_eq!(integrity(&sqlite).await, "ok");
    Some(listed.tasks)
}

async fn integrity(sqlite: &Sqlite) -> String {
    let check = sqlite
        .read(|connection| connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(unavailable));
    check.await.unwrap()
}

/// Every commit raised one version by one, so their sum says how many commits are shown.
fn assert_prefix(shown: &[TaskRecord], acknowledged: &[TaskRecord], case: &str) -> usize {
    fn by_id(records: &[TaskRecord]) -> BTreeMap<TaskId, &TaskRecord> {
        records.iter().map(|record| (record.task.id, record)).collect()
    }
    let commits = usize::try_from(shown.iter().map(|record| record.version).sum::<u64>()).unwrap();
    assert_eq!(by_id(shown), by_id(&acknowledged[..commits]), "{case}");
    commits
}

/// Damages the log in so many ways; says how often which number of commits was shown.
async fn damage(moment: &Moment, cases: u64) -> BTreeMap<Option<usize>, usize> {
    let whole = shown(&moment.database, &moment.log).await.unwrap();
    let commits = assert_prefix(&whole, &moment.acknowledged, "undamaged");
    assert_eq!(commits, moment.acknowledged.len(), "nothing acknowledged is missing");

    let mut outcomes = BTreeMap::new();
    for seed in 0..cases {
        let mut numbers = Numbers(seed);
        let mut log = moment.log.clone();
        let place = numbers.below(log.len());
        let case = if seed % 2 == 0 {
            log.truncate(place);
            format!("cut at {place}")
        } else {
            // Every tenth one hits what the log says about itself and its first page.
            let place = if seed % 20 == 1 { place % 56 } else { place };
            log[place] ^= 1 << numbers.below(8);
            format!("flipped at {place}")
        };
        let shown = shown(&moment.database, &log).await;
        let commits = shown.map(|tasks| assert_prefix(&tasks, &moment.acknowledged, &case));
        *outcomes.entry(commits).or_default() += 1;
    }
    outcomes
}

#[tokio::test]
async fn a_damaged_log_shows_a_prefix_of_what_was_acknowledged() {
    let mut life = Life::new();
    life.commits(60).await;

    let outcomes = damage(&life.moment(), 500).await;

    assert!(outcomes.len() > 50, "the damage is spread over the life: {outcomes:?}");
}

#[tokio::test]
async fn a_log_that_is_damaged_after_it_was_carried_over_takes_nothing_back() {
    let mut life = Life::new();
    life.commits(30).await;
    life.fill_the_log().await;
    let mut idle = life.moment();
    life.commits(30).await;
    let mut busy = life.moment();
    // The rest was carried over long ago.
    for moment in [&mut idle, &mut busy] {
        moment.log.truncate(2_000_000);
    }

    let outcomes = damage(&idle, 50).await;
    assert_eq!(outcomes, BTreeMap::from([(Some(30), 50)]));
    let outcomes = damage(&busy, 200).await;
    assert!(outcomes.keys().all(|commits| *commits >= Some(30)) && outcomes.len() > 20, "{outcomes:?}");
}
