//! Versions, by number.

use super::is_older;

#[test]
fn versions_are_compared_by_number_and_others_not_at_all() {
    assert!(is_older("1.9", "1.10") && is_older("v1", "2.0") && is_older("1.0", "1.0.1"));
    for (new, installed) in [("1.10", "1.9"), ("1.0", "1.0"), ("beta", "1.0"), ("1.0", "rc1"), ("", "1")] {
        assert!(!is_older(new, installed), "{new} {installed}");
    }
}
