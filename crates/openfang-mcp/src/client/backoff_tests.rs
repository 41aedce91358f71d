//! The pauses between starts.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_dying_is_started_at_most_five_times_a_minute() {
    let mut backoff = Backoff::default();
    let begun = Instant::now();
    let mut starts = Vec::new();
    while begun.elapsed() < Duration::from_secs(600) {
        backoff.started();
        starts.push(begun.elapsed());
        tokio::time::advance(backoff.pause(0.0)).await;
    }
    for window in starts.windows(MCP_RESTARTS + 2) {
        assert!(window[MCP_RESTARTS + 1] - window[0] > Duration::from_secs(60), "{starts:?}");
    }
    assert!(starts[1] < Duration::from_secs(1), "the first restart comes soon");
}
