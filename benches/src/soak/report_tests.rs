//! What makes a soak pass or fail.

use std::time::Duration;

use super::*;

fn phase(name: &'static str, millis: u64, failures: usize, peak_mb: f64) -> Phase {
    let seen = ClientObservations { latencies: vec![Duration::from_millis(millis); 200], failures };
    Phase::of(name, seen, Process { peak_mb, unhealthy: 0 })
}

fn report(attack: Phase) -> Report {
    let ending = Ending { audit: "ok".to_owned(), is_audit_sound: true, stop: Duration::from_secs(1) };
    Report { phases: vec![phase("idle", 2, 0, 30.0), attack], complaints: Vec::new(), ending: Some(ending) }
}

#[test]
fn a_soak_in_which_nobody_noticed_anything_is_passed() {
    assert!(report(phase("attack", 10, 0, 399.0)).is_passed());
}

#[test]
fn a_failure_a_slow_phase_or_too_much_memory_fails_the_soak() {
    for bad in [phase("attack", 2, 1, 30.0), phase("attack", 11, 0, 30.0), phase("attack", 2, 0, 400.0)] {
        let report = report(bad);
        assert!(!report.is_passed());
        assert!(report.table().contains("FAILED"));
    }
}

#[test]
fn an_attack_of_which_a_part_did_nothing_fails_the_soak() {
    let report = report(phase("attack", 2, 0, 30.0).with_idle_parts(vec!["subscriptions"]));
    assert!(!report.is_passed());
    assert!(report.table().contains("no subscriptions"));
}

#[test]
fn a_soak_without_an_honest_request_is_not_passed() {
    let silent = Phase::of("attack", ClientObservations::default(), Process::default());
    assert!(!report(silent).is_passed());
}

#[test]
fn a_broken_audit_log_or_a_late_stop_fails_the_soak() {
    let mut broken = report(phase("attack", 2, 0, 30.0));
    broken.ending = Some(Ending { audit: "broken".to_owned(), is_audit_sound: false, stop: Duration::ZERO });
    assert!(!broken.is_passed());
    let mut late = report(phase("attack", 2, 0, 30.0));
    late.ending = Some(Ending { audit: "ok".to_owned(), is_audit_sound: true, stop: Duration::from_secs(60) });
    assert!(!late.is_passed());
}
