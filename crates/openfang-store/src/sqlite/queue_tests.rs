//! The queue of a database: the contract, two processes on one file, and how statements find their rows.

use openfang_types::limits::STORE_BATCH;

use super::super::tests::{Home, plan};
use crate::contract::{self, node};
use crate::sqlite::{Sqlite, schema};

#[tokio::test]
async fn the_queue_keeps_the_contract() {
    let homes = std::cell::RefCell::new(Vec::new());
    contract::queue(|| {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    })
    .await;
}

/// Two openings of one file are what two processes have.
#[tokio::test]
async fn workers_of_two_processes_do_each_item_once() {
    let home = Home::new();
    let (one, other) = (home.open(), Sqlite::open(&home.path(), node(2)).unwrap());
    contract::claimed_once(&[one.stores(), other.stores()], 20, STORE_BATCH).await;
}

#[test]
fn a_claim_reads_the_items_that_it_takes_and_no_others() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    schema::make(&connection).unwrap();
    let next = "SELECT n, priority FROM queue WHERE owner = ?1 AND assigned_to = ?2 AND state = 'pending'
                ORDER BY priority DESC, n LIMIT 1";
    let ended = "SELECT n FROM queue WHERE owner = ?1 AND state = 'in_progress' AND lease_until <= ?2 LIMIT ?4";
    for (sql, index) in
        [(next, "queue_next (owner=? AND assigned_to=?)"), (ended, "queue_leases (owner=? AND lease_until<?)")]
    {
        let steps = plan(&connection, sql);
        assert!(steps.iter().any(|step| step.contains(index)), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("SCAN")), "{steps:?}");
    }
}
