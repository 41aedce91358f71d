//! Reports of a call, at the pace of a task.

use super::*;

#[tokio::test(start_paused = true)]
async fn only_the_newest_report_is_told_and_not_faster_than_the_pace() {
    let reports = Reports::default();
    reports.progress(1.0, Some(3.0), None);
    assert_eq!(reports.next().await.as_text(), Some("1 of 3"));
    let told = Instant::now();
    reports.progress(2.0, Some(3.0), None);
    reports.progress(3.0, Some(3.0), Some("nearly done"));
    let newest = reports.next().await;
    assert_eq!(newest.as_text(), Some("nearly done"));
    assert!(newest.is_progress());
    assert!(told.elapsed() >= PROGRESS_PACE);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_reports_for_ever_is_told_so_often_and_no_more() {
    let reports = Reports::default();
    for _ in 0..PROGRESS_REPORTS {
        reports.progress(1.0, None, None);
        reports.next().await;
    }
    reports.progress(2.0, None, None);
    let more = tokio::time::timeout(PROGRESS_PACE * 10, reports.next()).await;
    assert!(more.is_err());
}
