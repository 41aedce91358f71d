//! Records of files in SQLite keep the contract, their counters stay true, and labels of earlier versions are kept.

use std::cell::RefCell;
use std::time::Duration;

use openfang_types::taint::Label;
use openfang_types::task::TaskState;

use super::super::tests::Home;
use super::*;
use crate::contract::{self, artifact, create, end, finished_task, new_task, now, owner, status, write};
use crate::{DatabaseFile, Retention, StoredValue, Stores};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/v1.db");

/// A fresh database each time; all of them live as long as this.
#[derive(Default)]
struct Homes(RefCell<Vec<Home>>);

impl Homes {
    fn fresh(&self) -> Stores {
        let home = Home::new();
        let stores = home.open().stores();
        self.0.borrow_mut().push(home);
        stores
    }
}

#[tokio::test]
async fn files_keep_the_contract() {
    let homes = Homes::default();
    contract::files(|| homes.fresh()).await;
}

#[tokio::test]
async fn owners_have_a_quota() {
    let homes = Homes::default();
    contract::owners_have_a_quota(|| homes.fresh()).await;
}

#[tokio::test]
async fn the_counted_bytes_are_those_that_are_there_whatever_happened() {
    let home = Home::new();
    let sqlite = home.open();
    let stores = sqlite.stores();
    let ada = owner("ada");
    let long = finished_task(&ada, &"m".repeat(200));
    let long = crate::NewTask { events: [long.events.clone(), vec![]].concat(), ..long };
    create(&*stores.tasks, long).await;
    let record = create(&*stores.tasks, new_task(&ada, "live")).await;
    stores
        .tasks
        .append(write(&record, vec![artifact("a"), status(TaskState::Working)]))
        .await
        .unwrap();
    end(&*stores.tasks, &ada, record.task.id, TaskState::Completed).await;
    create(&*stores.tasks, new_task(&ada, "goes on")).await;
    for value in ["a long value", "short"] {
        let kept = StoredValue { value: value.to_owned(), labels: Labels::one(Label::McpServer, "files") };
        stores.memory.put(&ada, "k", kept).await.unwrap();
    }
    let next = FileRecord { bytes: 7, labels: Labels::one(Label::McpServer, "files") };
    stores.files.announce(&ada, "owners/ada/x", next.clone()).await.unwrap();
    stores.files.announce(&ada, "owners/ada/y", next).await.unwrap();
    stores.files.settle(&ada, "owners/ada/x", Some(FileRecord::default())).await.unwrap();
    stores.files.settle(&ada, "owners/ada/y", None).await.unwrap();
    let findings = || DatabaseFile::open(&home.path()).unwrap().check().unwrap().findings;
    assert_eq!(findings(), []);

    let fold = Retention {
        finished_per_owner: 10,
        finished_for: Duration::from_secs(3_600),
        fold_after: Duration::ZERO,
        ..Retention::FOREVER
    };
    let folded = stores.tasks.retain(fold, now()).await.unwrap();
    assert!(folded.folded > 0);
    assert_eq!(findings(), []);
    let evict = Retention { finished_per_owner: 0, ..fold };
    assert_eq!(stores.tasks.retain(evict, now()).await.unwrap().evicted, 2);
    assert_eq!(findings(), []);
}

#[tokio::test]
async fn labels_of_an_earlier_version_belong_to_the_owners_of_the_files() {
    let home = Home::new();
    std::fs::copy(FIXTURE, home.path()).unwrap();
    let old = Connection::open(home.path()).unwrap();
    let labels = r#"[{"label":"external-network","source":"web_fetch"}]"#;
    let keys = ["file:owners/ada/a/b.txt", "file:users/bob/agents/one/x", "file:agents/one/y", "kept"];
    for key in keys {
        old.execute("INSERT INTO memory VALUES ('*house', ?1, '', ?2)", [key, labels]).unwrap();
    }
    old.execute("INSERT INTO memory VALUES ('*house', 'file:owners/ada/clean', '', '[]')", [])
        .unwrap();
    old.execute("INSERT INTO memory_counts VALUES ('*house', 5)", []).unwrap();
    drop(old);

    let stores = home.open().stores();

    let foreign = FileRecord { bytes: 0, labels: Labels::one(Label::ExternalNetwork, "web_fetch") };
    for (whose, path) in [("ada", "owners/ada/a/b.txt"), ("bob", "users/bob/agents/one/x"), ("admin", "agents/one/y")] {
        let whose = if whose == "admin" { Owner::admin() } else { owner(whose) };
        assert_eq!(stores.files.get(&whose, path).await, Ok(Some(foreign.clone())), "{path}");
    }
    let house = Owner::house();
    assert_eq!(stores.memory.keys(&house, "", 9).await.unwrap().len(), 1);
    assert!(stores.memory.get(&house, "kept").await.unwrap().is_some());
    assert_eq!(DatabaseFile::open(&home.path()).unwrap().check().unwrap().findings, []);
}

#[tokio::test]
async fn labels_below_a_directory_are_found_along_an_index() {
    let home = Home::new();
    let sql = "SELECT DISTINCT labels FROM files INDEXED BY files_with_labels
               WHERE owner = ?1 AND path > ?2 || '/' AND path < ?2 || '0' AND labels IS NOT NULL";
    let plan = home
        .open()
        .read(move |connection| Ok(super::super::tests::plan(connection, sql)))
        .await
        .unwrap();

    assert!(plan[0].contains("USING COVERING INDEX files_with_labels (owner=? AND path>? AND path<?)"), "{plan:?}");
}
