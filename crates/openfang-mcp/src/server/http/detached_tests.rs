//! Who gets the outcome of work that outlives its client.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::*;

#[derive(Clone, Default)]
struct Ends(Arc<Mutex<Vec<&'static str>>>);

impl Ends {
    fn then(&self) -> impl FnOnce(&'static str) + Send + use<> {
        let ends = self.clone();
        move |outcome| ends.0.lock().unwrap().push(outcome)
    }

    fn seen(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

async fn gated(gate: Arc<Notify>) -> &'static str {
    gate.notified().await;
    "done"
}

#[tokio::test]
async fn work_that_is_done_at_once_has_no_task_of_its_own() {
    let (tracker, ends) = (TaskTracker::new(), Ends::default());
    let mut work = Detached::begin(async { "quick" }, ends.then(), &tracker).await;
    assert_eq!(tracker.len(), 0);
    assert_eq!(work.outcome().await, "quick");
    assert!(ends.seen().is_empty());
}

#[tokio::test]
async fn work_goes_on_when_nobody_waits_for_it_any_more() {
    let (tracker, ends, gate) = (TaskTracker::new(), Ends::default(), Arc::new(Notify::new()));
    drop(Detached::begin(gated(Arc::clone(&gate)), ends.then(), &tracker).await);
    gate.notify_one();
    tracker.close();
    tracker.wait().await;
    assert_eq!(ends.seen(), ["done"]);
}

#[tokio::test]
async fn whoever_leaves_takes_an_outcome_that_is_there_and_leaves_a_later_one() {
    let (tracker, ends, gate) = (TaskTracker::new(), Ends::default(), Arc::new(Notify::new()));
    let there = Detached::begin(gated(Arc::clone(&gate)), ends.then(), &tracker).await;
    gate.notify_one();
    tracker.close();
    tracker.wait().await;
    assert_eq!(there.leave(), Some("done"));
    let later = Detached::begin(gated(Arc::clone(&gate)), ends.then(), &tracker).await;
    assert_eq!(later.leave(), None);
    gate.notify_one();
    tracker.wait().await;
    assert_eq!(ends.seen(), ["done"]);
}

#[tokio::test]
#[should_panic(expected = "broken")]
async fn a_panic_of_the_work_reaches_whoever_waits() {
    let tracker = TaskTracker::new();
    let work = async {
        tokio::task::yield_now().await;
        panic!("broken")
    };
    Detached::begin(work, |(): ()| {}, &tracker).await.outcome().await;
}
