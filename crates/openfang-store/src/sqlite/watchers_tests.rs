//! Whose commit it was.

use rusqlite::Connection;

use super::*;
use crate::sqlite::tests::Home;
use crate::sqlite::{readers, schema};

/// A process that looks, and one that writes beside it.
struct Place {
    _home: Home,
    looking: Connection,
    own: Connection,
    other: Connection,
    watchers: Watchers,
    signs: Signs,
}

impl Place {
    fn new() -> Self {
        let home = Home::new();
        let [own, other] = [(); 2].map(|()| schema::open(&home.path(), schema::Expected::Anything).unwrap().0);
        let looking = readers::open(&home.path()).unwrap();
        let watchers = Watchers::default();
        let signs = Signs::new(data_version(&looking), &watchers);
        Self { _home: home, looking, own, other, watchers, signs }
    }

    fn commit_own(&self) {
        put(&self.own);
        self.watchers.committed();
    }

    fn look(&mut self) -> bool {
        self.signs.of_others(&self.looking, &self.watchers)
    }
}

fn put(connection: &Connection) {
    let sql = "INSERT INTO meta VALUES ('n', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1";
    connection.execute(sql, []).unwrap();
}

#[test]
fn a_commit_of_another_process_is_seen_at_the_next_look() {
    let mut place = Place::new();
    assert!(!place.look());

    put(&place.other);

    assert!(place.look());
    assert!(!place.look());
}

#[test]
fn while_this_process_writes_nothing_is_looked_for_and_once_it_rests_one_time() {
    let mut place = Place::new();

    for _ in 0..10 {
        place.commit_own();
        assert!(!place.look());
    }

    assert!(place.look());
    assert!(!place.look());
}

#[test]
fn a_commit_of_another_process_among_own_ones_is_found_by_the_writer() {
    let mut place = Place::new();
    place.commit_own();
    put(&place.other);
    assert!(!place.look());

    // The writer compares versions around its own commit.
    let known = data_version(&place.own);
    put(&place.other);
    place.commit_own();
    assert_ne!(data_version(&place.own), known);
    place.watchers.overtaken();

    assert!(place.look());
}

#[test]
fn tasks_that_nobody_waits_for_are_forgotten_in_time() {
    let watchers = Watchers::default();
    let waiting = watchers.watch(TaskId::from_uuid(uuid::Uuid::from_u128(1)), 1);

    for n in 2..1_000 {
        drop(watchers.watch(TaskId::from_uuid(uuid::Uuid::from_u128(n)), 1));
    }

    assert!(watchers.watched().len() < 8, "{}", watchers.watched().len());
    watchers.wake(&[(TaskId::from_uuid(uuid::Uuid::from_u128(1)), 5)]);
    assert_eq!(*waiting.borrow(), 5);
}
