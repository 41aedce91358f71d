//! Receivers that fail for a while or for good, and processes that die in the middle.

use openfang_testkit::receiver::Reaction;
use openfang_types::limits::PUSH_TRIES;
use openfang_types::task::TaskState;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_tried_again_until_it_comes_and_those_after_it_wait() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let mut receiver = Receiver::at("127.0.0.1").await;
    receiver.reacts(Reaction::Status(500));
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, to(&receiver)).await;
    answer(&kernel, &admin, task.id).await;

    for attempt in 1..PUSH_TRIES {
        let post = receiver.next().await;
        assert_eq!(post.seq(), 6);
        let said = outcome(&kernel, &admin, task.id, &format!("try {attempt} of {PUSH_TRIES}")).await;
        assert!(said.ends_with("the receiver answered 500"), "{said}");
        if attempt == PUSH_TRIES - 1 {
            receiver.reacts(Reaction::Status(204));
        }
        an_hour_later(&kernel, &admin, &clock).await;
    }

    for expected in 6..=9 {
        assert_eq!(receiver.next().await.seq(), expected);
    }
    outcome(&kernel, &admin, task.id, "delivered").await;
    assert_eq!(receiver.others().len(), 0);
}

/// PSH-05.
#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_is_gone_is_given_up_after_five_tries_and_the_task_knows_nothing_of_it() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let gone = Receiver::at("127.0.0.1").await;
    let url = gone.url();
    drop(gone);
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, push(&url)).await;
    let ended = kernel.cancel_task(&admin, task.id).await.unwrap();

    for attempt in 1..PUSH_TRIES {
        let said = outcome(&kernel, &admin, task.id, &format!("try {attempt} of {PUSH_TRIES}: ")).await;
        assert!(said.contains("cannot connect to"), "{said}");
        an_hour_later(&kernel, &admin, &clock).await;
    }

    let said = outcome(&kernel, &admin, task.id, "given up").await;
    assert!(said.starts_with("event 5 given up after 5 tries: ") && !said.contains("s3cret"), "{said}");
    let back = kernel.task(&admin, task.id).await.unwrap();
    assert_eq!((back.status.state, &back), (TaskState::Canceled, &ended));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_says_no_is_not_asked_again_for_that_event() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let mut receiver = Receiver::at("127.0.0.1").await;
    receiver.reacts(Reaction::Status(410));
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, to(&receiver)).await;

    answer(&kernel, &admin, task.id).await;

    for expected in 6..=9 {
        assert_eq!(receiver.next().await.seq(), expected, "each was posted once");
    }
    let said = outcome(&kernel, &admin, task.id, "event 9 given up").await;
    assert_eq!(said, "event 9 given up: the receiver answered 410");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_delivered_before_a_restart_is_delivered_after_it() {
    let (home, clock) = (home(), HandClock::default());
    let mut receiver = Receiver::at("127.0.0.1").await;
    let before = home.boot_with(config()).clock(Arc::new(clock.clone())).start().unwrap();
    let admin = callers::admin(&before);
    let task = asked(&before, &admin).await;
    set(&before, &admin, &task, to(&receiver)).await;
    answer(&before, &admin, task.id).await;
    drop(before);

    let after = delivering(&home, &clock);

    for expected in 6..=9 {
        assert_eq!(receiver.next().await.seq(), expected);
    }
    outcome(&after, &admin, task.id, "delivered").await;
}

/// CRS-01: the process dies between the end of the task and the answer of the receiver.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_the_event_that_was_under_way_is_sent_again_under_the_same_name() {
    let openfang = crate::support::binary::Openfang::new();
    openfang.write("config.toml", "[a2a]\nenabled = true\n[egress]\nallow = [\"127.0.0.0/8\"]\n");
    let mut receiver = Receiver::at("127.0.0.1").await;
    receiver.reacts(Reaction::Silence);
    let mut daemon = openfang.start();
    let answer = super::wire::sent(&daemon.client(), "starter", &receiver.url()).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    let first = receiver.next().await;

    daemon.signal("KILL");
    daemon.wait();
    receiver.reacts(Reaction::Status(200));
    let _daemon = openfang.start();

    let again = receiver.next().await;
    assert_eq!((again.event(), &again.body), (first.event(), &first.body));
    let mut last = again;
    while last.json()["statusUpdate"]["status"]["state"] != "TASK_STATE_COMPLETED" {
        let next = receiver.next().await;
        assert!(next.seq() > last.seq());
        last = next;
    }
}
