//! Callers who leave at any moment while their message is taken in: what is stored is worked on.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use openfang_kernel::{Caller, Kernel, TaskFilter};
use openfang_testkit::{TestHome, callers};
use openfang_types::ids::{AgentName, TaskId};
use openfang_types::task::{Message, TaskState};

use super::wire::config;

const ASKS: &str = r#"
    [[rules]]
    when = { turn = 1, text = "ask" }
    steps = [{ status = { state = "input-required", message = "which city?" } }]
    [[rules]]
    steps = [{ chunk = "done" }]
"#;

/// More places where a message waits for something than there are.
const MOMENTS: usize = 12;

/// Works on something until it has waited so many times, and drops it.
async fn leave_at<T>(moment: usize, work: impl Future<Output = T>) {
    let mut work = pin!(work);
    let mut waited = 0;
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(()),
        Poll::Pending if waited == moment => Poll::Ready(()),
        Poll::Pending => {
            waited += 1;
            Poll::Pending
        }
    })
    .await;
}

/// The states of all tasks, once nothing is at work any more.
async fn at_rest(kernel: &Kernel, caller: &Caller) -> Vec<(TaskId, TaskState)> {
    let resting = async {
        loop {
            let listed = kernel.tasks(caller, TaskFilter::default()).await.unwrap();
            let states: Vec<_> = listed.tasks.iter().map(|task| (task.id, task.status.state)).collect();
            if states.iter().all(|(_, state)| state.is_terminal() || state.is_interrupted()) {
                return states;
            }
            tokio::task::yield_now().await;
        }
    };
    let rested = tokio::time::timeout(Duration::from_secs(20), resting).await;
    rested.unwrap_or_else(|_| panic!("a task that is stored neither ends nor asks"))
}

#[tokio::test]
async fn a_caller_who_leaves_while_a_message_is_stored_leaves_no_task_that_nobody_works_on() {
    let home = TestHome::new().with_script("asks", &[], ASKS);
    let kernel = home.boot_with(config()).start().unwrap();
    let (caller, agent): (_, AgentName) = (callers::admin(&kernel), "asks".parse().unwrap());
    for moment in 0..MOMENTS {
        leave_at(moment, kernel.submit(&caller, &agent, kernel.message("go"))).await;
        leave_at(moment, kernel.send_and_follow(&caller, &agent, kernel.message("go"))).await;
        leave_at(moment, kernel.send_message(&caller, &agent, kernel.message("go"))).await;
    }
    let states = at_rest(&kernel, &caller).await;
    assert!(states.len() > MOMENTS, "{states:?}");
}

#[tokio::test]
async fn an_answer_whose_caller_leaves_is_worked_on_or_was_never_given() {
    let home = TestHome::new().with_script("asks", &[], ASKS);
    let kernel = home.boot_with(config()).start().unwrap();
    let (caller, agent): (_, AgentName) = (callers::admin(&kernel), "asks".parse().unwrap());
    for moment in 0..MOMENTS {
        kernel.send_message(&caller, &agent, kernel.message("ask")).await.unwrap();
        let waiting = at_rest(&kernel, &caller).await;
        let (task, _) = waiting.iter().find(|(_, state)| state.is_interrupted()).expect("one that asks");
        let answer = || Message { task_id: Some(*task), ..kernel.message("Bern") };
        leave_at(moment, kernel.submit(&caller, &agent, answer())).await;
        // Unless it was given, it can be given now.
        let _ = kernel.send_message(&caller, &agent, answer()).await;
        at_rest(&kernel, &caller).await;
        let ended = kernel.task(&caller, *task).await.unwrap();
        assert_eq!(ended.status.state, TaskState::Completed, "left at {moment}: {ended:?}");
    }
}
