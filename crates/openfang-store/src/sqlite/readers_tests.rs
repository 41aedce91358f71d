//! Reads that take turns.

use std::sync::mpsc;

use futures_util::future::join_all;

use super::*;
use crate::sqlite::tests::Home;

fn one(connection: &Connection) -> Result<i64, StoreError> {
    connection.query_row("SELECT 1", [], |row| row.get(0)).map_err(unavailable)
}

#[tokio::test]
async fn a_read_that_panics_is_one_failed_read_and_nothing_else() {
    let home = Home::new();
    let sqlite = home.open();

    let mut reads = vec![sqlite.read(|_| panic!("on purpose"))];
    reads.extend((0..20).map(|_| sqlite.read(one)));
    let done = join_all(reads).await;

    assert!(matches!(&done[0], Err(StoreError::Unavailable { .. })), "{:?}", done[0]);
    assert!(done[1..].iter().all(|read| *read == Ok(1)), "{done:?}");
}

#[tokio::test]
async fn a_read_does_not_wait_for_one_that_takes_long() {
    let home = Home::new();
    let sqlite = home.open();
    let (release, held) = mpsc::sync_channel::<()>(1);

    let long = sqlite.read(move |connection| {
        held.recv().map_err(|_| StoreError::Conflict)?;
        one(connection)
    });
    let lone = sqlite.read(one).await;
    let others = join_all((0..5).map(|_| sqlite.read(one))).await;
    release.send(()).unwrap();

    assert!(others.into_iter().chain([lone, long.await]).all(|read| read == Ok(1)));
}

#[tokio::test]
async fn small_reads_do_not_wait_for_any_number_of_large_ones() {
    let home = Home::new();
    let sqlite = home.open();
    let (release, held) = mpsc::sync_channel::<()>(1);
    let held = Arc::new(Mutex::new(held));

    let large: Vec<_> = (0..20)
        .map(|_| {
            let held = Arc::clone(&held);
            sqlite.read_within(LARGE_READ_BYTES + 1, move |connection| {
                // Ends for all of them when the sender is dropped.
                let _ = held.lock().unwrap().recv();
                one(connection)
            })
        })
        .collect();
    let small = join_all((0..20).map(|_| sqlite.read_within(LARGE_READ_BYTES, one))).await;
    drop(release);

    assert!(small.into_iter().chain(join_all(large).await).all(|read| read == Ok(1)));
}

#[tokio::test]
async fn a_read_sees_what_was_durable_when_it_was_asked_for() {
    let home = Home::new();
    let sqlite = home.open();
    let count = |connection: &Connection| {
        let counted = connection.query_row("SELECT count(*) FROM meta WHERE key LIKE 'n%'", [], |row| row.get(0));
        counted.map_err(unavailable)
    };
    let rounds = (0_i64..200).map(|n| {
        let sqlite = sqlite.clone();
        async move {
            let put = sqlite.write(move |batch| {
                let put = batch.connection.execute("INSERT INTO meta VALUES ('n' || ?1, 1)", [n]);
                put.map_err(unavailable)
            });
            put.await.unwrap();
            let before: i64 = sqlite.read(count).await.unwrap();
            let after: i64 = sqlite.read(count).await.unwrap();
            (before, after)
        }
    });

    let seen = join_all(rounds).await;

    assert!(seen.iter().all(|(before, after)| *before >= 1 && before <= after), "{seen:?}");
    assert_eq!(sqlite.read(count).await, Ok(200));
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_any_more_is_left_out() {
    let home = Home::new();
    let sqlite = home.open();
    let (release, held) = mpsc::sync_channel::<()>(1);
    let (ran, runs) = mpsc::sync_channel::<()>(1);

    let long = sqlite.read(move |_| held.recv().map_err(|_| StoreError::Conflict));
    drop(sqlite.read(move |_| ran.send(()).map_err(|_| StoreError::Conflict)));
    release.send(()).unwrap();
    long.await.unwrap();
    sqlite.read(one).await.unwrap();

    assert!(runs.recv().is_err(), "it was read all the same");
}
