//! Tasks: one state machine, real cancel, and nobody sees what is not theirs.

use std::time::Duration;

use openfang_kernel::{KernelError, Reply, TaskFilter};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use openfang_types::task::{Message, Role, TaskState};

use crate::support::{artifact_text, assert_state, send, status_text, submit};

const WAITING: &str = "[[rules]]\nsteps = [{ wait_for_cancel = true }]";

#[tokio::test]
async fn a_tool_named_in_text_gives_a_completed_task_with_its_result() {
    let home = TestHome::new();
    let kernel = home.kernel();

    let task = send(&kernel, &callers::admin(&kernel), "starter", "/add_numbers {\"a\": 3, \"b\": 7}").await;

    assert_state(&task, TaskState::Completed);
    assert_eq!(artifact_text(&task, "add_numbers-result"), "10");
    assert_eq!(task.history.len(), 1);
}

#[tokio::test]
async fn a_quick_call_has_no_task_of_its_own_and_is_stored_when_its_caller_leaves() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let message =
        Message { context_id: Some("quick".parse().unwrap()), ..kernel.message("/add_numbers {\"a\": 3, \"b\": 7}") };
    let (before, starter) = (alive(), "starter".parse().unwrap());

    let mut sending = Box::pin(kernel.send_message(&admin, &starter, message));
    assert!(futures_util::poll!(&mut sending).is_pending(), "the commit takes a moment");
    assert_eq!(alive(), before);
    drop(sending);

    // The next commit comes after the one that nobody waits for.
    send(&kernel, &admin, "starter", "Ada").await;
    let filter = TaskFilter { context_id: Some("quick".parse().unwrap()), ..TaskFilter::default() };
    let listed = kernel.tasks(&admin, filter).await.unwrap();
    assert_eq!(listed.tasks.len(), 1);
    assert_state(&listed.tasks[0], TaskState::Completed);
}

#[tokio::test]
async fn a_call_that_takes_a_while_goes_on_when_its_caller_leaves() {
    let script = "[[rules]]\nsteps = [{ delay_ms = 1 }, { chunk = \"done\" }]";
    let home = TestHome::new().with_script("slow", &[], script);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);

    let slow = "slow".parse().unwrap();

    let mut sending = Box::pin(kernel.send_message(&admin, &slow, kernel.message("go")));
    assert!(futures_util::poll!(&mut sending).is_pending());
    drop(sending);
    kernel.begin_drain();
    kernel.idle().await;

    let listed = kernel.tasks(&admin, TaskFilter::default()).await.unwrap();
    assert_state(&listed.tasks[0], TaskState::Completed);
}

#[tokio::test]
async fn a_task_that_asked_is_continued_by_the_answer() {
    let script = r#"
        [[rules]]
        when = { turn = 1 }
        steps = [{ status = { state = "input-required", message = "which one?" } }]
        [[rules]]
        when = { turn = 2 }
        steps = [{ status = { state = "auth-required", message = "and the key?" } }]
        [[rules]]
        when = { turn = 3 }
        steps = [{ chunk = "done" }]
    "#;
    let home = TestHome::new().with_script("asker", &[], script);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);

    let first = send(&kernel, &admin, "asker", "hello").await;
    assert_state(&first, TaskState::InputRequired);
    assert_eq!(status_text(&first), "which one?");

    let answer = async |text: &str| {
        let message = Message { task_id: Some(first.id), ..kernel.message(text) };
        match kernel.send_message(&admin, &"asker".parse().unwrap(), message).await.unwrap() {
            Reply::Task(task) => *task,
            Reply::Message(_) => panic!("the task goes on"),
        }
    };
    assert_state(&answer("the left one").await, TaskState::AuthRequired);
    let last = answer("here").await;
    assert_state(&last, TaskState::Completed);
    let turns: Vec<(Role, String)> = last.history.iter().map(|said| (said.role, said.joined_text())).collect();
    let expected = [
        (Role::User, "hello"),
        (Role::Agent, "which one?"),
        (Role::User, "the left one"),
        (Role::Agent, "and the key?"),
        (Role::User, "here"),
    ];
    assert_eq!(turns, expected.map(|(role, text)| (role, text.to_owned())));
}

#[tokio::test]
async fn a_message_to_a_task_that_ended_or_works_is_refused() {
    let home = TestHome::new().with_script("waiter", &[], WAITING);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let to = async |agent: &str, id| {
        let message = Message { task_id: Some(id), ..kernel.message("more") };
        kernel.submit(&admin, &agent.parse().unwrap(), message).await.unwrap_err()
    };

    let ended = send(&kernel, &admin, "starter", "Ada").await;
    assert!(matches!(to("starter", ended.id).await, KernelError::TaskEnded { state: TaskState::Completed, .. }));
    let running = submit(&kernel, &admin, "waiter", "go").await;
    assert!(matches!(to("waiter", running.id).await, KernelError::TaskBusy { .. }));
    assert_eq!(to("starter", running.id).await, KernelError::UnknownTask(running.id), "another agent's task");
    kernel.cancel_task(&admin, running.id).await.unwrap();
}

#[tokio::test]
async fn cancel_stops_the_work_and_a_canceled_task_stays_canceled() {
    let script = "[[rules]]\nsteps = [{ tool = { name = \"probe_hang\" } }, { tool = { name = \"probe_say\" } }]";
    let home = TestHome::new().with_script("waiter", &["*"], script);
    let (hang, later) = (Probe::hang(), Probe::say("too late"));
    let kernel = home.boot().tool(hang.boxed()).tool(later.boxed()).start().unwrap();
    let admin = callers::admin(&kernel);
    let task = submit(&kernel, &admin, "waiter", "go").await;
    while hang.calls() == 0 {
        tokio::task::yield_now().await;
    }

    let canceled = tokio::time::timeout(Duration::from_secs(1), kernel.cancel_task(&admin, task.id)).await;

    assert_state(&canceled.expect("within a second").unwrap(), TaskState::Canceled);
    let again = kernel.cancel_task(&admin, task.id).await.unwrap_err();
    assert_eq!(again, KernelError::NotCancelable { id: task.id, state: TaskState::Canceled });
    assert_eq!(later.calls(), 0);
    assert_state(&kernel.task(&admin, task.id).await.unwrap(), TaskState::Canceled);
}

#[tokio::test]
async fn cancel_reaches_the_agent_that_an_agent_asked() {
    let asker = "[[rules]]\nsteps = [{ tool = { name = \"agent_send\", arguments = { agent = \"waiter\", message = \"go\" } } }]";
    let home = TestHome::new().with_script("asker", &["*"], asker).with_script("waiter", &[], WAITING);
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let task = submit(&kernel, &admin, "asker", "go").await;
    let waiting = TaskFilter { agent: Some("waiter".parse().unwrap()), ..TaskFilter::default() };
    let inner = loop {
        let found = kernel.tasks(&admin, waiting.clone()).await.unwrap().tasks;
        if let Some(inner) = found.into_iter().find(|task| task.status.state == TaskState::Working) {
            break inner;
        }
        tokio::task::yield_now().await;
    };

    kernel.cancel_task(&admin, task.id).await.unwrap();

    loop {
        let state = kernel.task(&admin, inner.id).await.unwrap().status.state;
        if state.is_terminal() {
            assert_eq!(state, TaskState::Canceled);
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn cancel_racing_the_end_leaves_exactly_one_terminal_state() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    for n in 0..300 {
        let task = submit(&kernel, &admin, "starter", &format!("Ada {n}")).await;
        for _ in 0..n % 7 {
            tokio::task::yield_now().await;
        }
        let canceled = kernel.cancel_task(&admin, task.id).await;
        let state = kernel.task(&admin, task.id).await.unwrap().status.state;
        match canceled {
            Ok(task) => assert_eq!((task.status.state, state), (TaskState::Canceled, TaskState::Canceled)),
            Err(KernelError::NotCancelable { state: said, .. }) => {
                assert_eq!((said, state), (TaskState::Completed, state))
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn somebody_elses_task_looks_like_none_whatever_is_asked() {
    let home = TestHome::new().with_script("waiter", &[], WAITING);
    let kernel = home.kernel();
    let (ada, bob) =
        (callers::user(&kernel, "ada", &["agent:waiter"]), callers::user(&kernel, "bob", &["agent:waiter"]));
    let task = submit(&kernel, &ada, "waiter", "go").await;
    let unknown = "00000000-0000-0000-0000-00000000dead".parse().unwrap();

    let message = |id| Message { task_id: Some(id), ..kernel.message("hi") };
    let waiter = "waiter".parse().unwrap();
    for id in [task.id, unknown] {
        let none = KernelError::UnknownTask(id);
        assert_eq!(kernel.task(&bob, id).await.unwrap_err(), none);
        assert_eq!(kernel.cancel_task(&bob, id).await.unwrap_err(), none);
        assert_eq!(kernel.submit(&bob, &waiter, message(id)).await.unwrap_err(), none);
        let follow =
            openfang_kernel::Follow { begin: openfang_kernel::Begin::Now, until: openfang_types::event::Until::Ended };
        assert_eq!(kernel.follow(&bob, id, follow).await.err(), Some(none));
    }
    assert_eq!(kernel.tasks(&bob, TaskFilter::default()).await.unwrap().total, 0);
    assert_state(&kernel.cancel_task(&ada, task.id).await.unwrap(), TaskState::Canceled);
}

#[tokio::test]
async fn pages_lead_through_all_tasks_and_their_tokens_belong_to_their_owner() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let (ada, bob) = (callers::user(&kernel, "ada", &["agent:starter/*"]), callers::user(&kernel, "bob", &[]));
    for n in 0..7 {
        send(&kernel, &ada, "starter", &format!("number {n}")).await;
    }

    let mut seen = std::collections::HashSet::new();
    let mut filter = TaskFilter { page_size: Some(3), ..TaskFilter::default() };
    let first = kernel.tasks(&ada, filter.clone()).await.unwrap();
    let token = first.next_page_token.clone().unwrap();
    loop {
        let page = kernel.tasks(&ada, filter.clone()).await.unwrap();
        assert_eq!(page.total, 7);
        assert!(page.tasks.iter().all(|task| seen.insert(task.id)), "no task twice");
        match page.next_page_token {
            Some(token) => filter.page_token = Some(token),
            None => break,
        }
    }
    assert_eq!(seen.len(), 7);
    for (who, token) in [(&bob, token.clone()), (&ada, format!("{token}A")), (&ada, "nonsense".to_owned())] {
        let forged = TaskFilter { page_token: Some(token), ..TaskFilter::default() };
        assert_eq!(kernel.tasks(who, forged).await.unwrap_err(), KernelError::InvalidPageToken);
    }
}

#[tokio::test]
async fn the_same_message_id_is_the_same_task_and_the_work_is_done_once() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let message = Message::text("retry-1".parse().unwrap(), Role::User, "/get_counter");
    let starter = "starter".parse().unwrap();

    let mut ids = Vec::new();
    for _ in 0..3 {
        match kernel.send_message(&admin, &starter, message.clone()).await.unwrap() {
            Reply::Task(task) => {
                assert_eq!(artifact_text(&task, "get_counter-result"), "1");
                ids.push(task.id);
            }
            Reply::Message(_) => panic!("expected a task"),
        }
    }
    assert!(ids.iter().all(|id| *id == ids[0]));
}

#[tokio::test]
async fn one_owner_has_only_so_many_live_tasks_and_others_are_not_affected() {
    let home = TestHome::new().with_script("waiter", &[], WAITING);
    let config = Config { limits: Limits { live_tasks_per_owner: 2, ..Limits::default() }, ..Config::default() };
    let kernel = home.boot_with(config).start().unwrap();
    let (ada, bob) =
        (callers::user(&kernel, "ada", &["agent:waiter"]), callers::user(&kernel, "bob", &["agent:waiter"]));
    let first = submit(&kernel, &ada, "waiter", "1").await;
    submit(&kernel, &ada, "waiter", "2").await;

    let refused = kernel.submit(&ada, &"waiter".parse().unwrap(), kernel.message("3")).await.unwrap_err();
    assert!(refused.is_limit(), "{refused}");
    submit(&kernel, &bob, "waiter", "1").await;
    kernel.cancel_task(&ada, first.id).await.unwrap();
    submit(&kernel, &ada, "waiter", "3").await;
}

#[tokio::test]
async fn a_message_without_parts_is_refused() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let empty = kernel.message_of_parts(None, Vec::new());

    let refused = kernel
        .submit(&callers::admin(&kernel), &"starter".parse().unwrap(), empty)
        .await
        .unwrap_err();

    assert!(matches!(refused, KernelError::InvalidMessage(_)));
}
