//! Medians.

use super::*;

#[test]
fn a_median_is_the_middle_whatever_the_order() {
    assert_eq!(median([5.0, 1.0, 3.0].into_iter()), 3.0);
    assert_eq!(median([9.0, 1.0, 2.0, 3.0, 1000.0].into_iter()), 3.0);
    assert!(median(std::iter::empty()).is_nan());
}

#[test]
fn each_figure_of_a_round_has_its_own_median() {
    let round = |rate: f64, cpu: f64| Round {
        requests_per_second: rate,
        p50_ms: 1.0,
        p99_ms: 2.0,
        cpu_micros: cpu,
        cpu_spread: None,
    };

    let middle = median_round(&[round(10.0, 3.0), round(30.0, 1.0), round(20.0, 2.0)]);

    assert_eq!(middle, Round { cpu_spread: Some(1.0), ..round(20.0, 2.0) });
}
