//! The pauses between starts.

use super::*;

async fn starts_of_ten_minutes(at_a_time: usize) -> Vec<Duration> {
    let mut backoff = Backoff::default();
    let begun = Instant::now();
    let mut starts = Vec::new();
    while begun.elapsed() < Duration::from_secs(600) {
        backoff.started(Instant::now(), at_a_time);
        starts.extend(std::iter::repeat_n(begun.elapsed(), at_a_time));
        tokio::time::advance(backoff.pause(0.0)).await;
    }
    starts
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_dying_is_started_at_most_five_times_a_minute() {
    for at_a_time in [1, 2] {
        let starts = starts_of_ten_minutes(at_a_time).await;
        for window in starts.windows(MCP_RESTARTS + 1) {
            assert!(window[MCP_RESTARTS] - window[0] >= Duration::from_secs(60), "{starts:?}");
        }
        assert!(starts.len() >= 10, "it is tried again for ever: {starts:?}");
        assert!(starts[at_a_time] < Duration::from_secs(1), "the first restart comes soon");
    }
}
