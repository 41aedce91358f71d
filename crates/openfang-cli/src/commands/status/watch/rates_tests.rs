//! From the text of the metrics to calls in a second.

use std::time::Duration;

use super::*;

fn metrics(succeeded: u64, refused: u64) -> String {
    format!(
        "# HELP openfang_tool_calls Tool calls by outcome\n\
         openfang_tool_calls_total{{tool=\"a\",outcome=\"succeeded\"}} {succeeded}\n\
         openfang_tool_calls_total{{tool=\"unknown\",outcome=\"unknown_tool\"}} {refused}\n\
         openfang_tool_call_seconds_count 900\n"
    )
}

#[test]
fn rates_are_those_since_the_last_screen() {
    let (mut rates, begun) = (Rates::default(), Instant::now());
    let mut at = |seconds, text: &str| rates.since_last(begun + Duration::from_secs(seconds), CallCounts::of(text));

    assert_eq!(at(0, &metrics(10, 1)), None);
    assert_eq!(at(2, &metrics(16, 2)), Some(CallRates { calls: 3.5, unsuccessful: 0.5 }));
    assert_eq!(at(3, &metrics(16, 2)), Some(CallRates { calls: 0.0, unsuccessful: 0.0 }));
    assert_eq!(at(4, &metrics(0, 0)), None, "the daemon was started again");
    assert_eq!(at(5, &metrics(1, 0)), Some(CallRates { calls: 1.0, unsuccessful: 0.0 }));
}
