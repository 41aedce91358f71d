//! Ratios of rounds, steady and not.

use super::*;

#[test]
fn one_lucky_round_changes_nothing() {
    let small = [10.0, 0.1, 11.0, 9.0, 10.0];
    let large = [13.0, 13.8, 13.0, 13.0, 12.0];

    let ratio = Ratio::of(&small, &large);

    assert!(matches!(ratio, Ratio::Measured(ratio) if (1.1..1.5).contains(&ratio)), "{ratio:?}");
}

#[test]
fn rounds_that_disagree_are_no_ratio() {
    let ratio = Ratio::of(&[1.0, 1.0, 1.0, 1.0, 1.0], &[1.0, 1.2, 5.0, 138.0, 200.0]);

    assert_eq!(ratio, Ratio::Unsteady { least: 1.2, most: 138.0 });
    assert_eq!(ratio.to_string(), "1.2-138.0x?");
    assert!(matches!(Ratio::of(&[], &[]), Ratio::Unsteady { .. }));
    assert!(matches!(Ratio::of(&[0.0, 1.0], &[1.0, 1.0]), Ratio::Unsteady { .. }));
}

#[test]
fn the_spread_is_how_far_rounds_lie_apart() {
    assert_eq!(spread(&[9.0, 10.0, 12.0]), Some(0.3));
    assert_eq!(spread(&[9.0]), None);
}
