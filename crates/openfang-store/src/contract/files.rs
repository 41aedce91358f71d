//! What every home must keep of workspace files, and how much an owner may keep in it.

use openfang_types::ids::Owner;
use openfang_types::limits::FILE_LIST_MAX_ENTRIES;
use openfang_types::taint::{Label, Labels};
use openfang_types::task::TaskState;

use super::{artifact, create, end, finished_task, new_task, owner, status, write};
use crate::{FilePath, FileRecord, FileStore, StoreError, StoredValue, Stores};

pub(crate) async fn files(fresh: impl Fn() -> Stores) {
    a_write_carries_both_contents_until_it_is_settled(&*fresh().files).await;
    labels_below_a_directory_are_those_of_all_its_files(&*fresh().files).await;
    files_are_listed_in_order(&*fresh().files).await;
}

fn foreign() -> Labels {
    Labels::one(Label::ExternalNetwork, "web_fetch")
}

fn record(bytes: u64, labels: Labels) -> FileRecord {
    FileRecord { bytes, labels }
}

async fn a_write_carries_both_contents_until_it_is_settled(store: &dyn FileStore) {
    let (ada, bob) = (owner("ada"), owner("bob"));
    let (dirty, clean) = (record(9, foreign()), record(3, Labels::none()));

    assert_eq!(store.announce(&ada, "w/f", dirty.clone()).await, Ok(None));
    store.settle(&ada, "w/f", Some(dirty.clone())).await.unwrap();
    assert_eq!(store.announce(&ada, "w/f", clean.clone()).await, Ok(Some(dirty.clone())));
    assert_eq!(store.get(&ada, "w/f").await, Ok(Some(dirty)), "the larger one, with the labels of both");
    store.settle(&ada, "w/f", Some(clean.clone())).await.unwrap();
    assert_eq!(store.get(&ada, "w/f").await, Ok(Some(clean)));
    assert_eq!(store.get(&bob, "w/f").await, Ok(None), "somebody else's file of the same name");

    store.settle(&ada, "w/f", None).await.unwrap();
    store.settle(&ada, "w/none", None).await.unwrap();
    assert_eq!(store.get(&ada, "w/f").await, Ok(None));
}

async fn labels_below_a_directory_are_those_of_all_its_files(store: &dyn FileStore) {
    let ada = owner("ada");
    let personal = Labels::one(Label::Pii, "file people.txt");
    let paths: Vec<String> = (0..FILE_LIST_MAX_ENTRIES + 5).map(|n| format!("w/d/{n:05}")).collect();
    let puts = paths.iter().map(|path| store.settle(&ada, path, Some(record(1, personal.clone()))));
    futures_util::future::try_join_all(puts).await.unwrap();
    store.settle(&ada, "w/d/z/last", Some(record(1, foreign()))).await.unwrap();
    store
        .settle(&ada, "w/d2/x", Some(record(1, Labels::one(Label::Secret, "x"))))
        .await
        .unwrap();
    store
        .settle(&owner("bob"), "w/d/x", Some(record(1, Labels::one(Label::Secret, "x"))))
        .await
        .unwrap();

    let labels = store.labels_below(&ada, "w/d").await.unwrap();

    assert_eq!(labels, foreign().joined(&personal));
    assert_eq!(store.labels_below(&ada, "w/d/z").await, Ok(foreign()));
    assert_eq!(store.labels_below(&ada, "w/empty").await, Ok(Labels::none()));
}

async fn files_are_listed_in_order(store: &dyn FileStore) {
    let at = |whose: &str, path: &str| FilePath { owner: owner(whose), path: path.to_owned() };
    let all = [at("ada", "w/a"), at("ada", "w/b"), at("bob", "v/a")];
    for FilePath { owner, path } in all.iter().rev() {
        store.settle(owner, path, Some(FileRecord::default())).await.unwrap();
    }

    assert_eq!(store.paths(None, 2).await.unwrap(), all[..2]);
    assert_eq!(store.paths(Some(&all[1]), 2).await.unwrap(), all[2..]);
    assert_eq!(store.paths(Some(&all[2]), 2).await.unwrap(), []);
}

/// What is left when an owner may keep 10,000 bytes.
pub(crate) async fn owners_have_a_quota(fresh: impl Fn() -> Stores) {
    files_memory_and_tasks_share_the_room(&fresh()).await;
    a_task_that_lives_can_end_where_nothing_else_fits(&fresh()).await;
    the_house_is_not_counted(&fresh()).await;
}

fn text(bytes: usize) -> StoredValue {
    StoredValue { value: "x".repeat(bytes), labels: Labels::none() }
}

#[track_caller]
fn assert_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::OwnerFull { limit: 10_000, .. })), "{outcome:?}");
}

async fn files_memory_and_tasks_share_the_room(stores: &Stores) {
    stores.quota.set(10_000);
    let (ada, bob) = (owner("ada"), owner("bob"));
    stores.files.announce(&ada, "w/f", record(4_000, foreign())).await.unwrap();
    stores.memory.put(&ada, "k", text(4_000)).await.unwrap();
    create(&*stores.tasks, finished_task(&ada, "first")).await;

    assert_full(stores.files.announce(&ada, "w/g", record(2_000, Labels::none())).await);
    assert_full(stores.memory.put(&ada, "l", text(2_000)).await);
    for n in 0.. {
        let created = stores.tasks.create(finished_task(&ada, &format!("m{n}"))).await;
        if created.is_err() {
            assert_full(created);
            break;
        }
        assert!(n < 100, "tasks are not counted");
    }
    let said = stores.memory.put(&ada, "l", text(4_000)).await.unwrap_err().to_string();
    assert!(said.contains("memory 40") && said.contains("storage.owner_bytes"), "{said}");

    stores.files.announce(&bob, "w/g", record(2_000, Labels::none())).await.unwrap();
    stores.memory.put(&ada, "k", text(10)).await.unwrap();
    stores.memory.put(&ada, "l", text(2_000)).await.unwrap();
    stores.files.settle(&ada, "w/f", Some(record(10, Labels::none()))).await.unwrap();
    stores.files.announce(&ada, "w/g", record(2_000, Labels::none())).await.unwrap();
    create(&*stores.tasks, finished_task(&ada, "room again")).await;
}

async fn a_task_that_lives_can_end_where_nothing_else_fits(stores: &Stores) {
    stores.quota.set(10_000);
    let ada = owner("ada");
    let record = create(&*stores.tasks, new_task(&ada, "m")).await;
    fill(stores, &ada).await;

    assert_full(stores.tasks.append(write(&record, vec![artifact("a"), status(TaskState::Working)])).await);
    let ended = end(&*stores.tasks, &ada, record.task.id, TaskState::Failed).await;

    assert_eq!(ended.task.status.state, TaskState::Failed);
}

async fn fill(stores: &Stores, owner: &Owner) {
    for size in [1_000, 100, 10, 1] {
        let mut n = 0;
        while stores.memory.put(owner, &format!("{size}-{n}"), text(size)).await.is_ok() {
            n += 1;
        }
    }
}

async fn the_house_is_not_counted(stores: &Stores) {
    stores.quota.set(10);

    stores.memory.put(&Owner::house(), "k", text(2_000)).await.unwrap();
    assert!(matches!(stores.memory.put(&owner("ada"), "k", text(20)).await, Err(StoreError::OwnerFull { .. })));
}
