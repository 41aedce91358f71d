//! The order in which calls run.

use openfang_types::limits::ANSWER_READS_AT_ONCE;

use super::{Lane, Lanes};

fn peer(name: &str) -> Lane {
    Lane::Peer(name.to_owned())
}

#[test]
fn calls_that_read_run_together_a_few_at_a_time() {
    let mut lanes = Lanes::default();
    (0..ANSWER_READS_AT_ONCE + 2).for_each(|place| lanes.add(Lane::Reads, place));

    assert_eq!(lanes.ready().len(), ANSWER_READS_AT_ONCE);
    assert!(lanes.ready().is_empty());
    lanes.end(&Lane::Reads);
    assert_eq!(lanes.ready(), [(Lane::Reads, ANSWER_READS_AT_ONCE)]);
}

#[test]
fn calls_with_effects_run_in_order_and_lanes_do_not_wait_for_each_other() {
    let mut lanes = Lanes::default();
    lanes.add(peer("one"), 0);
    lanes.add(peer("one"), 1);
    lanes.add(peer("two"), 2);
    lanes.add(Lane::Builtin, 3);

    assert_eq!(lanes.ready(), [(Lane::Builtin, 3), (peer("one"), 0), (peer("two"), 2)]);
    lanes.end(&peer("two"));
    assert!(lanes.ready().is_empty(), "the first call of the other server still runs");
    lanes.end(&peer("one"));
    assert_eq!(lanes.ready(), [(peer("one"), 1)]);
}
