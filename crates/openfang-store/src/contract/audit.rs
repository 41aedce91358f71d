//! What every audit log must keep.

use jiff::Timestamp;
use openfang_types::principal::Door;

use crate::audit::AuditRetention;
use crate::{AuditOutcome, AuditRow, AuditStore, StoreError};

pub(crate) async fn audit(fresh: impl Fn() -> Box<dyn AuditStore>) {
    what_is_handed_over_is_read_in_order(&*fresh()).await;
    a_reader_goes_on_where_it_stopped(&*fresh()).await;
    rows_come_back_as_they_were_written(&*fresh()).await;
    an_untouched_log_is_as_it_was_written(&*fresh()).await;
    sealing_ends_nothing(&*fresh()).await;
}

async fn what_is_handed_over_is_read_in_order(store: &dyn AuditStore) {
    store.commit(audit_row(1)).await.unwrap();
    store.record(audit_row(2));

    assert_eq!(store.recent(1).await.unwrap(), [audit_row(2)], "newest last");
    assert_eq!(store.recent(10).await.unwrap(), [audit_row(1), audit_row(2)]);
}

async fn a_reader_goes_on_where_it_stopped(store: &dyn AuditStore) {
    for n in 1..=5 {
        store.record(audit_row(n));
    }
    let numbers = async |after, limit| {
        let entries = store.tail(after, limit).await.unwrap();
        entries.iter().map(|entry| entry.n).collect::<Vec<u64>>()
    };

    assert_eq!(numbers(None, 2).await, [4, 5]);
    assert_eq!(numbers(Some(0), 2).await, [1, 2]);
    assert_eq!(numbers(Some(2), 9).await, [3, 4, 5]);
    assert_eq!(numbers(Some(5), 9).await, [0; 0]);
    assert_eq!(numbers(Some(u64::MAX), 9).await, [0; 0]);
}

async fn rows_come_back_as_they_were_written(store: &dyn AuditStore) {
    let outcomes = [
        AuditOutcome::Started,
        AuditOutcome::Succeeded,
        AuditOutcome::ToolFailed,
        AuditOutcome::Refused("denied".to_owned()),
        AuditOutcome::Cancelled,
    ];
    for outcome in outcomes {
        let agent = Some("starter".parse().unwrap());
        let run = Some("00000000-0000-0000-0000-000000000002".parse().unwrap());
        let row = AuditRow { outcome, agent, run, ..audit_row(7) };
        store.commit(row.clone()).await.unwrap();
        let n = store.tail(None, 1).await.unwrap()[0].n;

        let entry = store.row(n).await.unwrap();

        assert_eq!(entry.row().unwrap(), row);
        assert_eq!(*entry.text, *serde_json::to_string(&row).unwrap());
    }
    assert_eq!(store.row(0).await, Err(StoreError::NotFound));
    assert_eq!(store.row(6).await, Err(StoreError::NotFound));
    assert_eq!(store.row(u64::MAX).await, Err(StoreError::NotFound));
}

async fn an_untouched_log_is_as_it_was_written(store: &dyn AuditStore) {
    assert_eq!(store.verify().await.unwrap().first_problem, None);
    for n in 1..=3 {
        store.record(audit_row(n));
    }

    let verified = store.verify().await.unwrap();

    assert_eq!((verified.rows, verified.first_problem), (3, None));
}

async fn sealing_ends_nothing(store: &dyn AuditStore) {
    let now = Timestamp::UNIX_EPOCH;
    store.seal(now).await.unwrap();
    store.record(audit_row(1));
    store.seal(now).await.unwrap();
    store.seal_abandoned(&[], now).await.unwrap();
    store.record(audit_row(2));
    store.rotate(AuditRetention::default(), now).await.unwrap();

    assert_eq!(store.recent(9).await.unwrap(), [audit_row(1), audit_row(2)]);
    assert_eq!(store.verify().await.unwrap().first_problem, None);
}

pub(crate) fn audit_row(micros: u64) -> AuditRow {
    AuditRow {
        trace: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
        at: Timestamp::UNIX_EPOCH,
        owner: "ada".parse().unwrap(),
        door: Door::Rest,
        agent: None,
        run: None,
        tool: "add_numbers".parse().unwrap(),
        outcome: AuditOutcome::Succeeded,
        micros,
    }
}
