//! The audit log in SQLite: the contract, segments, several processes, batches that fail, rotation.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openfang_types::ids::Owner;
use openfang_types::limits::STORE_LOG_PAGES;
use tempfile::TempDir;
use uuid::Uuid;

use super::chain::SegmentLimits;
use super::*;
use crate::contract::{self, audit_row};
use crate::sqlite::Expected;
use crate::{AuditRemoval, AuditSubject};

/// A database of its own, and hands that tamper with it.
pub(super) struct Log {
    pub(super) directory: TempDir,
    pub(super) sqlite: Sqlite,
    pub(super) audit: SqliteAudit,
}

impl Log {
    pub(super) fn with_segments_of(rows: u64) -> Self {
        Self::at(tempfile::tempdir().unwrap(), node(), rows)
    }

    fn at(directory: TempDir, node: NodeId, rows: u64) -> Self {
        let sqlite = open(&directory, node, rows);
        Self { audit: SqliteAudit::new(sqlite.clone(), RefusalLimits::default()), sqlite, directory }
    }

    pub(super) async fn write(&self, rows: u64) {
        for n in 1..=rows {
            self.audit.record(AuditKind::Read, audit_row(n));
        }
        self.audit.tail(None, 0).await.unwrap();
    }

    /// What an intruder does, or a test wants to know.
    pub(super) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.directory.path().join("a.db")).unwrap()
    }

    async fn sound(&self) -> AuditVerification {
        let verified = self.audit.verify().await.unwrap();
        assert_eq!(verified.first_problem, None);
        verified
    }
}

fn open(directory: &TempDir, node: NodeId, rows: u64) -> Sqlite {
    let limits = SegmentLimits { rows, ..SegmentLimits::default() };
    Sqlite::open_with(&directory.path().join("a.db"), Chain::new(node, limits), Expected::Anything, STORE_LOG_PAGES)
        .unwrap()
}

/// A row of this owner.
fn by(owner: &str, micros: u64) -> AuditRow {
    AuditRow { owner: owner.parse().unwrap(), ..audit_row(micros) }
}

pub(super) fn node() -> NodeId {
    NodeId::from_uuid(Uuid::now_v7())
}

pub(super) fn days(n: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * n)
}

#[tokio::test]
async fn audit_keeps_the_contract() {
    let directories = std::sync::Mutex::new(Vec::new());
    contract::audit(|| {
        let directory = tempfile::tempdir().unwrap();
        let audit = SqliteAudit::new(open(&directory, node(), 2), RefusalLimits::default());
        directories.lock().unwrap().push(directory);
        Box::new(audit)
    })
    .await;
}

#[tokio::test]
async fn a_row_that_nobody_waits_for_is_written_all_the_same() {
    let log = Log::with_segments_of(100);
    let begun = std::time::Instant::now();

    log.audit.record(AuditKind::Read, audit_row(1));

    let database = log.database();
    let rows = || database.query_row("SELECT count(*) FROM audit", [], |row| row.get::<_, i64>(0)).unwrap();
    while rows() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "nothing came");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_full_segment_is_sealed_and_the_next_row_opens_another() {
    let log = Log::with_segments_of(3);

    log.write(7).await;

    let expected = AuditVerification { rows: 7, segments: 3, open: 1, ..AuditVerification::default() };
    assert_eq!(log.audit.verify().await.unwrap(), expected);
}

#[tokio::test]
async fn a_segment_is_sealed_when_it_is_older_than_a_day() {
    let log = Log::with_segments_of(100);
    for at in [days(0), days(1), days(3), days(3)] {
        log.audit.commit(AuditRow { at, ..audit_row(1) }).await.unwrap();
    }

    let expected = AuditVerification { rows: 4, segments: 2, open: 1, ..AuditVerification::default() };
    assert_eq!(log.audit.verify().await.unwrap(), expected);
}

#[tokio::test]
async fn an_orderly_end_seals_what_was_written() {
    let log = Log::with_segments_of(100);
    log.write(2).await;

    log.audit.seal(days(0)).await.unwrap();

    let expected = AuditVerification { rows: 2, segments: 1, open: 0, ..AuditVerification::default() };
    assert_eq!(log.audit.verify().await.unwrap(), expected);
}

#[tokio::test]
async fn what_dead_processes_left_open_is_sealed_and_what_living_ones_write_is_not() {
    let (dead, living, own) = (node(), node(), node());
    let mut log = Log::at(tempfile::tempdir().unwrap(), dead, 100);
    log.write(2).await;
    log = Log::at(log.directory, living, 100);
    log.write(2).await;
    log = Log::at(log.directory, own, 100);
    log.write(2).await;

    assert_eq!(log.audit.seal_abandoned(&[living], days(0)).await.unwrap(), 1);

    assert_eq!(log.audit.seal_abandoned(&[living], days(0)).await.unwrap(), 0);
    let expected = AuditVerification { rows: 6, segments: 3, open: 2, ..AuditVerification::default() };
    assert_eq!(log.audit.verify().await.unwrap(), expected);
}

#[tokio::test]
async fn a_process_that_was_taken_for_dead_goes_on_in_another_segment() {
    let log = Log::with_segments_of(100);
    log.write(2).await;
    let other = SqliteAudit::new(open(&log.directory, node(), 100), RefusalLimits::default());
    other.seal_abandoned(&[], days(0)).await.unwrap();

    log.write(2).await;
    log.audit.seal(days(0)).await.unwrap();

    let expected = AuditVerification { rows: 4, segments: 2, open: 0, ..AuditVerification::default() };
    assert_eq!(log.audit.verify().await.unwrap(), expected);
}

#[tokio::test]
async fn a_batch_that_fails_leaves_the_chain_where_it_was() {
    let log = Log::with_segments_of(3);
    log.write(2).await;

    for rows in [1, 2, 5] {
        let failed = log.sqlite.write::<()>(move |batch| {
            for n in 0..rows {
                chain::append(batch, &AuditStream::of_the_log(), days(0), &format!("lost {n}"))?;
            }
            batch.connection.execute_batch("ROLLBACK").map_err(unavailable)?;
            Ok(())
        });
        assert!(failed.await.is_err());
    }
    log.write(3).await;

    let verified = log.sound().await;
    assert_eq!((verified.rows, verified.segments), (5, 2));
    assert!(log.audit.tail(None, 9).await.unwrap().iter().all(|entry| entry.row().is_ok()));
}

#[tokio::test]
async fn two_processes_write_turn_by_turn_each_in_its_own_chain() {
    let log = Log::with_segments_of(4);
    let other = SqliteAudit::new(open(&log.directory, node(), 4), RefusalLimits::default());
    for n in 0..10 {
        log.audit.commit(audit_row(n)).await.unwrap();
        other.commit(audit_row(n)).await.unwrap();
    }

    let verified = log.sound().await;

    assert_eq!((verified.rows, verified.segments, verified.open), (20, 6, 2));
    let numbers: Vec<u64> = log.audit.tail(Some(0), 99).await.unwrap().iter().map(|entry| entry.n).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_row_that_is_put_where_ours_belongs_is_left_behind_and_shown() {
    let log = Log::with_segments_of(100);
    log.write(2).await;
    let forged =
        "INSERT INTO audit (segment, place, row, hash) SELECT segment, 3, '{}', hash FROM audit WHERE place = 2";
    log.database().execute(forged, []).unwrap();

    log.write(1).await;

    let problem = log.audit.verify().await.unwrap().first_problem.unwrap();
    assert_eq!((problem.what, problem.n, problem.place), (crate::AuditFault::Added, Some(3), Some(3)));
}

#[tokio::test]
async fn beyond_the_limit_the_oldest_segments_go_and_the_rest_still_verifies() {
    let log = Log::with_segments_of(2);
    log.write(9).await;

    let rule = AuditRetention { rows: 3, ..AuditRetention::default() };
    let rotated = log.audit.rotate(rule, days(0)).await.unwrap();

    assert_eq!(rotated, Rotated { segments: 3, rows: 6 });
    let verified = log.sound().await;
    assert_eq!((verified.rows, verified.segments), (4, 3), "with the row that says so");
    assert_eq!(log.audit.tail(Some(0), 9).await.unwrap()[0].n, 7);
    assert_eq!(log.audit.rotate(rule, days(0)).await.unwrap(), Rotated::default());
    log.write(4).await;
    log.audit.rotate(rule, days(0)).await.unwrap();
    assert_eq!(log.sound().await.segments, 3);
}

#[tokio::test]
async fn a_flood_of_one_owner_pushes_out_nothing_of_another_and_no_deed() {
    let log = Log::with_segments_of(2);
    log.audit.commit(by("ada", 1)).await.unwrap();
    log.audit.record(AuditKind::Refusal, by("bob", 2));
    log.audit.record(AuditKind::Read, by("bob", 3));
    for n in 10..110 {
        log.audit.record(AuditKind::Refusal, by("ada", n));
    }
    log.audit.seal(days(0)).await.unwrap();

    let rule = AuditRetention { rows: 0, refusals: 3, age: Duration::MAX };
    log.audit.rotate(AuditRetention { rows: 9, ..rule }, days(0)).await.unwrap();

    let rows = log.audit.recent(99).await.unwrap();
    let left: Vec<u64> = rows.iter().filter(|row| row.micros > 0).map(|row| row.micros).collect();
    assert_eq!(left, [1, 2, 3, 108, 109], "the newest of ada's refusals, and all of the others");
    log.sound().await;
}

#[tokio::test]
async fn what_retention_removes_is_a_row_and_verify_says_from_when_on_the_log_is_complete() {
    let log = Log::with_segments_of(2);
    for n in 0..5 {
        let row = AuditRow { at: days(n), ..by("ada", 1) };
        log.audit.record(AuditKind::Refusal, row);
    }
    log.audit.commit(by("bob", 1)).await.unwrap();
    log.audit.seal(days(5)).await.unwrap();
    assert_eq!(log.sound().await.complete_from, None);
    assert_eq!(log.sound().await.removed, []);

    let rule = AuditRetention { refusals: 1, ..AuditRetention::default() };
    log.audit.rotate(rule, days(5)).await.unwrap();

    let removal =
        AuditRemoval { of: Some("ada".parse().unwrap()), kind: Some(AuditKind::Refusal), rows: 4, to: Some(days(3)) };
    let row = log.audit.recent(1).await.unwrap().remove(0);
    assert_eq!((row.owner, row.subject), (Owner::house(), AuditSubject::Log));
    assert_eq!(row.outcome, AuditOutcome::Removed(removal.clone()));
    let verified = log.sound().await;
    assert_eq!((verified.removed, verified.complete_from), (vec![removal], Some(days(3))));
}

#[tokio::test]
async fn a_chain_goes_on_after_all_of_it_was_removed() {
    let log = Log::with_segments_of(2);
    log.write(2).await;
    log.audit.commit(by("bob", 1)).await.unwrap();
    log.audit.seal(days(0)).await.unwrap();
    let rule = AuditRetention { rows: 0, ..AuditRetention::default() };
    assert_eq!(log.audit.rotate(rule, days(0)).await.unwrap().rows, 3, "the newest row says so");

    log.write(3).await;

    log.sound().await;
}

#[tokio::test]
async fn a_segment_that_nobody_adds_to_any_more_is_sealed_in_time() {
    let log = Log::with_segments_of(100);
    log.write(2).await;
    assert_eq!(log.sound().await.open, 1);

    log.audit.rotate(AuditRetention::default(), days(2)).await.unwrap();

    assert_eq!(log.sound().await.open, 0);
}

#[tokio::test]
async fn old_segments_go_and_the_newest_row_stays() {
    let log = Log::with_segments_of(2);
    log.write(6).await;
    log.audit.seal(days(0)).await.unwrap();
    let rule = AuditRetention { age: Duration::from_secs(24 * 3_600), ..AuditRetention::default() };
    assert_eq!(log.audit.rotate(rule, days(1)).await.unwrap(), Rotated::default());

    let rotated = log.audit.rotate(rule, days(2)).await.unwrap();

    assert_eq!(rotated, Rotated { segments: 3, rows: 6 });
    log.sound().await;
    let newest = log.audit.tail(None, 1).await.unwrap()[0].n;
    assert!(newest > 6, "the newest row says what was removed");
    log.write(1).await;
    assert_eq!(log.audit.tail(None, 1).await.unwrap()[0].n, newest + 1, "no number is given twice");
    log.sound().await;
}

#[tokio::test]
async fn what_rotation_cut_is_remembered_by_its_closing_hash() {
    let log = Log::with_segments_of(2);
    log.write(5).await;
    let sql = "SELECT id, lower(hex(closing_hash)) FROM audit_segments WHERE closed_at IS NOT NULL ORDER BY id";
    let (id, hash): ([u8; 16], String) =
        log.database().query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();

    let rule = AuditRetention { rows: 2, ..AuditRetention::default() };
    log.audit.rotate(rule, days(0)).await.unwrap();

    let sql = "SELECT value FROM meta WHERE key = 'audit_cut'";
    let cut: String = log.database().query_row(sql, [], |row| row.get(0)).unwrap();
    let cut: serde_json::Value = serde_json::from_str(&cut).unwrap();
    let expected = serde_json::json!({
        "segments": 1, "rows": 2, "last": Uuid::from_bytes(id).to_string(), "closing_hash": hash,
    });
    assert_eq!(cut, expected);
}
