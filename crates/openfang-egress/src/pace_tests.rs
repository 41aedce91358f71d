//! How long a peer waits that says too much.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_nobody_asked_for_goes_at_a_walk_once_the_first_of_it_is_used_up() {
    let mut pace = Pace::new();
    let begun = Instant::now();
    let piece = 64 * 1024;
    let pieces = MCP_UNASKED_BURST / piece;
    for _ in 0..pieces {
        pace.spend(piece).await;
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);

    for _ in 0..pieces {
        pace.spend(piece).await;
    }

    let expected = MCP_UNASKED_BURST as f64 / MCP_UNASKED_PER_SECOND;
    let took = begun.elapsed().as_secs_f64();
    assert!((expected * 0.9..expected * 1.1).contains(&took), "{took} s instead of {expected} s");
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_is_given_back_and_costs_no_time() {
    let mut pace = Pace::new();
    let begun = Instant::now();
    for _ in 0..100 {
        pace.spend(MCP_UNASKED_BURST / 2).await;
        pace.give(MCP_UNASKED_BURST / 2);
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
