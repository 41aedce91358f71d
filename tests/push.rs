//! Push notifications, from the task to a receiver on a socket: in order, once, until they are given up; never where
//! strangers' urls may not lead.

mod delivery;
mod outages;
mod reach;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use openfang_a2a::operation::{PushAuthentication, PushNotificationConfig};
use openfang_kernel::{Caller, Kernel, Reply};
use openfang_testkit::{HandClock, Receiver, TestHome, callers};
use openfang_types::config::Config;
use openfang_types::ids::TaskId;
use openfang_types::secret::Secret;
use openfang_types::task::{Message, Origin, Task};

/// Asks, and when it is answered says two things and is done.
const SCRIPT: &str = r#"
    [[rules]]
    when = { text = "go" }
    steps = [{ chunk = "one" }, { chunk = "two" }]
    [[rules]]
    steps = [{ status = { state = "input-required", message = "well?" } }]
"#;

/// A home with an agent that asks before it works.
fn home() -> TestHome {
    TestHome::new().with_script("asker", &[], SCRIPT)
}

/// Strangers' urls may lead to this machine.
fn config() -> Config {
    let mut config = Config::default();
    config.egress.allow = vec!["127.0.0.0/8".to_owned()];
    config
}

/// A kernel that delivers.
fn delivering(home: &TestHome, clock: &HandClock) -> Kernel {
    let kernel = home.boot_with(config()).clock(Arc::new(clock.clone())).start().unwrap();
    kernel.start_background_agents();
    kernel
}

/// A task that waits for an answer.
async fn asked(kernel: &Kernel, caller: &Caller) -> Task {
    crate::support::send(kernel, caller, "asker", "hello").await
}

/// Answers it; the task says one thing, another, and ends.
async fn answer(kernel: &Kernel, caller: &Caller, task: TaskId) -> Task {
    let message = Message { task_id: Some(task), ..kernel.message("go") };
    match kernel.send_message(caller, &"asker".parse().unwrap(), message).await.unwrap() {
        Reply::Task(task) => *task,
        Reply::Message(message) => panic!("expected a task, not {message:?}"),
    }
}

fn to(receiver: &Receiver) -> PushNotificationConfig {
    push(&receiver.url())
}

fn push(url: &str) -> PushNotificationConfig {
    let credentials = Some(Secret::new("the-credentials".to_owned()));
    PushNotificationConfig {
        id: Some("mine".to_owned()),
        url: url.to_owned(),
        token: Some(Secret::new("the-token".to_owned())),
        authentication: Some(PushAuthentication { scheme: "Bearer".to_owned(), credentials }),
    }
}

async fn set(kernel: &Kernel, caller: &Caller, task: &Task, push: PushNotificationConfig) {
    kernel.set_push(caller, task.id, push, Origin::V10).await.unwrap();
}

/// Waits until the last delivery of the task's first configuration became this.
async fn outcome(kernel: &Kernel, caller: &Caller, task: TaskId, expected: &str) -> String {
    let begun = std::time::Instant::now();
    loop {
        let outcomes = kernel.push_outcomes(caller, task).await.unwrap();
        let said = outcomes.into_iter().next().and_then(|(_, outcome)| outcome).unwrap_or_default();
        if said.contains(expected) {
            return said;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "it is {said:?}, not {expected:?}");
        tokio::task::yield_now().await;
    }
}

/// Lets an hour pass, and has whoever delivers look at the clock.
async fn an_hour_later(kernel: &Kernel, caller: &Caller, clock: &HandClock) {
    clock.advance(Duration::from_secs(3_600));
    let other = asked(kernel, caller).await;
    set(kernel, caller, &other, push("https://nobody.example/")).await;
}
