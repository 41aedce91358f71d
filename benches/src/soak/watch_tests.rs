//! Peaks that no look saw.

use super::*;

#[test]
fn a_peak_between_two_looks_counts_for_the_phase_that_reached_it_only() {
    let mut reached = Process { peak_mb: 100.0, unhealthy: 0 };
    reached.note_peak(120.0, 300.0);
    assert_eq!(reached, Process { peak_mb: 300.0, unhealthy: 0 });

    let mut later = Process { peak_mb: 100.0, unhealthy: 0 };
    later.note_peak(300.0, 300.0);
    assert_eq!(later, Process { peak_mb: 100.0, unhealthy: 0 });
}
