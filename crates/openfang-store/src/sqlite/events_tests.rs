//! The published events of a database: the contract, and how statements find their rows.

use super::super::tests::{Home, plan};
use crate::contract;
use crate::sqlite::schema;

#[tokio::test]
async fn published_events_keep_the_contract() {
    let homes = std::cell::RefCell::new(Vec::new());
    contract::published_events(|| {
        let home = Home::new();
        let stores = home.open().stores();
        homes.borrow_mut().push(home);
        stores
    })
    .await;
}

#[test]
fn events_are_found_without_looking_at_all_of_them() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    schema::make(&connection).unwrap();
    for (sql, index) in [
        ("SELECT n, body FROM published_events WHERE owner = ?1 AND n > ?2 ORDER BY n LIMIT ?3", "of_owner"),
        ("SELECT n, body FROM published_events WHERE is_delivered = 0 AND node IS NULL ORDER BY n LIMIT ?1", "waiting"),
        ("SELECT count(*) FROM published_events WHERE owner = ?1 AND event_type = ?2 AND at > ?3", "by_type"),
        ("SELECT count(*) FROM published_events WHERE owner = ?1 AND at > ?2", "by_time"),
        ("SELECT chain FROM event_runs WHERE trace = ?1", "by_trace"),
    ] {
        let steps = plan(&connection, sql);
        assert!(steps.iter().any(|step| step.contains(index)), "{sql}: {steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{sql}: {steps:?}");
    }
}
