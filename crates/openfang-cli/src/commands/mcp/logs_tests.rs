//! Which lines are new.

use super::*;

#[test]
fn lines_that_were_shown_are_not_shown_again_though_the_oldest_are_gone() {
    let lines = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows = [("a b c", "a b c d", 3), ("a b c", "b c d", 2), ("a b", "c d", 0), ("", "a", 0), ("a", "a", 1)];
    for (known, now, expected) in rows {
        assert_eq!(already_shown(&lines(known), &lines(now)), expected, "{known} | {now}");
    }
}
