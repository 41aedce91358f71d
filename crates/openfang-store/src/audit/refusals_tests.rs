//! How many rows refusals may leave.

use openfang_types::config::AuditConfig;

use super::*;
use crate::contract::audit_row;

fn refused(owner: &str, seconds: i64) -> AuditRow {
    let at = Timestamp::from_second(seconds).unwrap();
    let outcome = AuditOutcome::Refused("unknown_tool".to_owned());
    AuditRow { owner: owner.parse().unwrap(), at, outcome, ..audit_row(0) }
}

const fn few() -> RefusalLimits {
    RefusalLimits { rows: 2, rows_per_hour: 60 }
}

fn count_of(row: &AuditRow) -> u64 {
    match &row.outcome {
        AuditOutcome::Refusals(summary) => summary.count,
        other => panic!("{other:?} is no count"),
    }
}

#[test]
fn rows_are_earned_again() {
    let refusals = Refusals::new(few());
    let at_once = [0, 0, 0].map(|at| refusals.admit(AuditKind::Refusal, refused("ada", at)).is_some());
    assert_eq!(at_once, [true, true, false]);

    let later = [60, 61, 180, 180, 180].map(|at| {
        let row = refusals.admit(AuditKind::Refusal, refused("ada", at));
        row.is_some_and(|row| matches!(row.outcome, AuditOutcome::Refused(_)))
    });

    assert_eq!(later, [true, false, true, true, false]);
}

#[test]
fn one_owner_does_not_spend_what_is_anothers() {
    let refusals = Refusals::new(few());
    for _ in 0..100 {
        refusals.admit(AuditKind::Refusal, refused("ada", 0));
    }

    assert_eq!(refusals.admit(AuditKind::Refusal, refused("bob", 0)), Some(refused("bob", 0)));
    assert_eq!(refusals.admit(AuditKind::Login, refused("ada", 0)), Some(refused("ada", 0)), "anybody can do that");
}

#[test]
fn a_flood_is_counted_ever_less_often_and_completely() {
    let refusals = Refusals::new(few());
    let mut counts = Vec::new();
    let mut rows = 0;
    for second in 0..1_000 {
        match refusals.admit(AuditKind::Refusal, refused("ada", second)) {
            Some(row) if matches!(row.outcome, AuditOutcome::Refused(_)) => rows += 1,
            Some(row) => counts.push(count_of(&row)),
            None => {}
        }
    }
    counts.extend(refusals.all().iter().map(|(_, row)| count_of(row)));

    assert_eq!(counts.iter().sum::<u64>() + rows, 1_000);
    assert!(counts.len() <= 12, "{counts:?}");
    assert!(counts[0] < counts[4], "{counts:?}");
}

#[test]
fn no_flood_leaves_more_rows_than_are_kept_within_the_days_they_are_kept() {
    let config = AuditConfig::default();
    let refusals = Refusals::new(RefusalLimits::default());
    let end = i64::from(config.days) * 86_400;

    let rows = (0..end)
        .step_by(10)
        .filter(|at| refusals.admit(AuditKind::Refusal, refused("ada", *at)).is_some())
        .count();

    assert!((rows as u64) < config.refusals_per_owner, "{rows}");
}

#[test]
fn a_count_tells_only_so_many_reasons_apart() {
    let refusals = Refusals::new(few());
    for n in 0..100 {
        let outcome = AuditOutcome::Refused(format!("reason {n}"));
        refusals.admit(AuditKind::Refusal, AuditRow { outcome, ..refused("ada", 0) });
    }

    let (_, row) = &refusals.all()[0];

    let AuditOutcome::Refusals(summary) = &row.outcome else { panic!("{row:?}") };
    assert_eq!(summary.reasons.len(), AUDIT_SUMMARY_REASONS + 1);
    assert_eq!(summary.reasons.values().sum::<u64>(), 98);
}
