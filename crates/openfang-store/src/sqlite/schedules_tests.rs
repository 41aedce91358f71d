//! The schedules of a database: the contract, two processes on one file, and how statements find their rows.

use super::super::tests::{Home, plan};
use crate::contract::{self, node};
use crate::sqlite::{Sqlite, schema};

#[tokio::test]
async fn schedules_keep_the_contract() {
    let homes = std::cell::RefCell::new(Vec::new());
    contract::schedules(|| {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    })
    .await;
}

/// Two openings of one file are what two processes have.
#[tokio::test]
async fn of_two_processes_one_gets_a_run_and_both_hear_of_changes() {
    let home = Home::new();
    let (one, other) = (home.open(), Sqlite::open(&home.path(), node(2)).unwrap());
    contract::started_once(&one.stores(), &other.stores()).await;
}

#[test]
fn a_look_at_what_is_due_reads_what_is_due() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    schema::make(&connection).unwrap();
    for (sql, index) in [
        (
            "SELECT body FROM schedules WHERE due_at IS NOT NULL AND due_at <= ?1 ORDER BY due_at LIMIT ?2",
            "schedules_due",
        ),
        ("SELECT min(due_at) FROM schedules WHERE due_at IS NOT NULL AND due_at > ?1", "schedules_due"),
        ("SELECT 1 FROM schedules WHERE trace IS NOT NULL AND trace = ?1", "schedules_by_trace"),
    ] {
        let steps = plan(&connection, sql);
        assert!(steps.iter().any(|step| step.contains(index)), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("SCAN")), "{steps:?}");
    }
}
