//! Tampering with the log, and what it is called.

use super::super::tests::Log;
use crate::AuditStore as _;
use crate::audit::{AuditFault, AuditProblem};

/// Nine rows: two sealed segments of four, and an open one with one row.
async fn log() -> Log {
    let log = Log::with_segments_of(4);
    log.write(9).await;
    log
}

async fn tampered(sql: &str) -> AuditProblem {
    let log = log().await;
    log.database().execute_batch(sql).unwrap();
    log.audit
        .verify()
        .await
        .unwrap()
        .first_problem
        .unwrap_or_else(|| panic!("nothing was found after {sql}"))
}

/// What was found, with the number of the row and its place.
async fn found(sql: &str) -> (AuditFault, Option<u64>, Option<u64>) {
    let problem = tampered(sql).await;
    (problem.what, problem.n, problem.place)
}

const OLDEST: &str = "(SELECT min(id) FROM audit_segments)";

#[tokio::test]
async fn a_row_that_was_changed_is_named() {
    let rows = [
        ("UPDATE audit SET row = replace(row, 'ada', 'bob') WHERE n = 6", 6, 2),
        ("UPDATE audit SET row = row || ' ' WHERE n = 1", 1, 1),
        ("UPDATE audit SET hash = zeroblob(32) WHERE n = 4", 4, 4),
        ("UPDATE audit SET hash = 'x' WHERE n = 4", 4, 4),
        ("UPDATE audit SET row = 7 WHERE n = 9", 9, 1),
    ];
    for (sql, n, place) in rows {
        assert_eq!(found(sql).await, (AuditFault::Changed, Some(n), Some(place)), "{sql}");
    }
}

#[tokio::test]
async fn the_first_of_several_changes_is_named() {
    let sql = "UPDATE audit SET row = '{}' WHERE n IN (3, 5, 9)";

    assert_eq!(found(sql).await, (AuditFault::Changed, Some(3), Some(3)));
}

#[tokio::test]
async fn a_row_that_was_removed_is_missed_in_its_place() {
    let rows = [
        ("DELETE FROM audit WHERE n = 1", None, 1),
        ("DELETE FROM audit WHERE n = 2", Some(1), 2),
        ("DELETE FROM audit WHERE n IN (6, 7)", Some(5), 2),
        ("DELETE FROM audit WHERE n = 8", Some(7), 4),
        ("DELETE FROM audit WHERE n BETWEEN 5 AND 8", None, 1),
        ("DELETE FROM audit WHERE n = 2; UPDATE audit SET place = place - 1 WHERE n IN (3, 4)", Some(1), 2),
    ];
    for (sql, before, place) in rows {
        assert_eq!(found(sql).await, (AuditFault::Removed, before, Some(place)), "{sql}");
    }
}

#[tokio::test]
async fn rows_that_changed_places_are_named() {
    let swapped_rows = "UPDATE audit SET place = -place WHERE n IN (2, 3);
                        UPDATE audit SET place = 5 + place WHERE n IN (2, 3)";
    let swapped_numbers = "UPDATE audit SET n = -n WHERE n IN (6, 7); UPDATE audit SET n = 13 + n WHERE n < 0";
    let swapped_texts = "CREATE TEMP TABLE t AS SELECT n, row FROM audit WHERE n IN (6, 8);
                         UPDATE audit SET row = (SELECT row FROM t WHERE t.n = 14 - audit.n) WHERE n IN (6, 8)";

    assert_eq!(found(swapped_rows).await, (AuditFault::Reordered, Some(3), Some(2)));
    assert_eq!(found(swapped_numbers).await, (AuditFault::Reordered, Some(6), Some(3)));
    assert_eq!(found(swapped_texts).await, (AuditFault::Reordered, Some(6), Some(2)));
}

#[tokio::test]
async fn a_row_that_came_after_the_seal_is_named() {
    let sql = format!("INSERT INTO audit (segment, place, row, hash) VALUES ({OLDEST}, 5, '{{}}', zeroblob(32))");

    assert_eq!(found(&sql).await, (AuditFault::Added, Some(10), Some(5)));
}

#[tokio::test]
async fn a_segment_that_is_gone_is_missed_by_the_next_one() {
    let log = log().await;
    let sql = format!("DELETE FROM audit WHERE segment = {OLDEST}; DELETE FROM audit_segments WHERE id = {OLDEST}");
    log.database().execute_batch(&sql).unwrap();
    let next = log.audit.tail(None, 9).await.unwrap()[0].link.unwrap().segment;

    let problem = log.audit.verify().await.unwrap().first_problem.unwrap();

    assert_eq!((problem.what, problem.segment), (AuditFault::SegmentMissing, Some(next)));
}

#[tokio::test]
async fn a_segment_that_is_gone_is_missed_even_if_nothing_links_to_it() {
    let newest = "(SELECT max(id) FROM audit_segments)";
    let sql = format!("DELETE FROM audit WHERE segment = {newest}; DELETE FROM audit_segments WHERE id = {newest}");

    assert_eq!(found(&sql).await, (AuditFault::SegmentMissing, None, None));
}

#[tokio::test]
async fn rows_whose_segment_is_gone_are_named() {
    let sql = "DELETE FROM audit_segments WHERE id = (SELECT max(id) FROM audit_segments)";

    assert_eq!(found(sql).await, (AuditFault::SegmentMissing, Some(9), None));
}

#[tokio::test]
async fn a_seal_that_is_not_the_one_of_its_rows_is_named() {
    let sql = format!("UPDATE audit_segments SET closing_hash = zeroblob(32) WHERE id = {OLDEST}");

    assert_eq!(tampered(&sql).await.what, AuditFault::SealBroken);
}

/// Nobody waited for these rows: they may have been lost in a crash, and there is no seal that knows better.
#[tokio::test]
async fn rows_at_the_end_of_a_dead_processs_open_segment_can_go_unnoticed() {
    let log = log().await;
    log.database().execute_batch("DELETE FROM audit WHERE n = 9").unwrap();

    assert_eq!(log.audit.verify().await.unwrap().first_problem, None);
}

#[tokio::test]
async fn the_end_of_a_living_processs_open_segment_is_missed_with_its_next_row() {
    let log = Log::with_segments_of(100);
    log.write(3).await;
    log.database().execute_batch("DELETE FROM audit WHERE n = 3").unwrap();

    log.write(1).await;

    let problem = log.audit.verify().await.unwrap().first_problem.unwrap();
    assert_eq!((problem.what, problem.n, problem.place), (AuditFault::Removed, Some(2), Some(3)));
}

#[tokio::test]
async fn the_end_of_a_living_processs_open_segment_is_missed_when_it_is_sealed() {
    let log = Log::with_segments_of(100);
    log.write(3).await;
    log.database().execute_batch("DELETE FROM audit WHERE n = 3").unwrap();

    log.audit.seal(jiff::Timestamp::UNIX_EPOCH).await.unwrap();

    let problem = log.audit.verify().await.unwrap().first_problem.unwrap();
    assert_eq!((problem.what, problem.n, problem.place), (AuditFault::Removed, Some(2), Some(3)));
}

#[tokio::test]
async fn a_problem_reads_as_a_sentence() {
    let problem = tampered("UPDATE audit SET row = '{}' WHERE n = 6").await;
    let segment = problem.segment.unwrap();

    assert_eq!(problem.to_string(), format!("row 6 was changed (segment {segment}, place 2)"));
}
