//! How often a client looks at its task.

use super::*;

#[test]
fn a_task_that_takes_long_is_looked_at_less_often() {
    let after = |seconds| poll(SignedDuration::from_secs(seconds)).as_millis();
    assert_eq!([after(-5), after(0), after(9)], [500, 500, 500]);
    assert_eq!([after(10), after(59)], [2_000, 2_000]);
    assert_eq!([after(60), after(86_400)], [5_000, 5_000]);
}
