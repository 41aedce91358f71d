//! What is delivered, to whom, and in which order.

use std::collections::BTreeMap;

use openfang_testkit::receiver::Reaction;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_after_it_was_set_comes_in_order_signed_and_with_its_credentials() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let mut receiver = Receiver::at("127.0.0.1").await;
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, to(&receiver)).await;

    answer(&kernel, &admin, task.id).await;

    let mut told = Vec::new();
    for _ in 0..4 {
        let post = receiver.next().await;
        assert_eq!(post.line, "POST /hook?key=s3cret");
        assert_eq!(post.header("content-type"), Some("application/a2a+json"));
        assert_eq!(post.header("authorization"), Some("Bearer the-credentials"));
        assert_eq!(post.header("x-a2a-notification-token"), Some("the-token"));
        assert_eq!(post.signed_with("the-token"), ("token".to_owned(), true));
        assert_eq!(post.event(), format!("{}:{}", task.id, post.seq()));
        told.push((post.seq(), post.json()));
    }
    let seqs: Vec<u64> = told.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, [6, 7, 8, 9], "working, two chunks, the end; not the message, which is the receiver's own");
    assert_eq!(told[0].1["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(told[1].1["artifactUpdate"]["artifact"]["parts"][0]["text"], "one");
    assert_eq!(told[2].1["artifactUpdate"]["artifact"]["parts"][0]["text"], "two");
    assert_eq!(told[3].1["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(outcome(&kernel, &admin, task.id, "delivered").await, "delivered: the receiver answered 200");
    assert_eq!(receiver.others().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_it_is_signed_by_the_house() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let mut receiver = Receiver::at("127.0.0.1").await;
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, PushNotificationConfig { token: None, authentication: None, ..to(&receiver) }).await;

    answer(&kernel, &admin, task.id).await;

    let post = receiver.next().await;
    let (kid, _) = post.signed_with("");
    assert_eq!(kid.len(), 8, "the id of a key: {kid}");
    assert_eq!((post.header("authorization"), post.header("x-a2a-notification-token")), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn configurations_can_be_read_replaced_and_taken_away() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let (mut old, mut new) = (Receiver::at("127.0.0.1").await, Receiver::at("127.0.0.1").await);
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, to(&old)).await;
    set(&kernel, &admin, &task, to(&new)).await;
    let unnamed = PushNotificationConfig { id: None, ..to(&old) };
    let made = kernel.set_push(&admin, task.id, unnamed, Origin::V10).await.unwrap();

    let kept = kernel.pushes(&admin, task.id).await.unwrap();
    assert_eq!(kept.len(), 2);
    let authentication = Some(PushAuthentication { scheme: "Bearer".to_owned(), credentials: None });
    let shown = PushNotificationConfig { authentication, ..to(&new) };
    assert_eq!(
        (kept[0].id.as_str(), &kept[0].config),
        ("mine", &shown),
        "the token to its maker, credentials to nobody"
    );
    assert_eq!((&kept[1], kept[1].task.as_str()), (&made, &*task.id.to_string()));
    for _ in 0..2 {
        kernel.delete_push(&admin, task.id, &made.id).await.unwrap();
    }

    answer(&kernel, &admin, task.id).await;

    assert_eq!(new.next().await.seq(), 6);
    outcome(&kernel, &admin, task.id, "delivered").await;
    assert_eq!(old.others().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_task_looks_like_none() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let (admin, eve) = (callers::admin(&kernel), callers::user(&kernel, "eve", &["*"]));
    let task = asked(&kernel, &admin).await;
    set(&kernel, &admin, &task, push("https://hooks.example.com/")).await;
    let nothing: TaskId = "0190a000-0000-7000-8000-000000000001".parse().unwrap();
    for id in [task.id, nothing] {
        let unknown = openfang_kernel::KernelError::UnknownTask(id);
        for url in ["https://hooks.example.com/", "http://127.0.0.1.1/"] {
            let set = kernel.set_push(&eve, id, push(url), Origin::V10).await;
            assert_eq!(set.err(), Some(unknown.clone()), "a bad url tells nothing either");
        }
        assert_eq!(kernel.pushes(&eve, id).await.err(), Some(unknown.clone()));
        assert_eq!(kernel.delete_push(&eve, id, "mine").await.err(), Some(unknown));
    }

    assert_eq!(kernel.pushes(&admin, task.id).await.unwrap().len(), 1);
}

/// PSH-04.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_has_fifty_configurations_and_no_more() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let task = asked(&kernel, &admin).await;
    let numbered = |n: usize| PushNotificationConfig { id: Some(n.to_string()), ..push("https://hooks.example.com/") };
    for n in 0..50 {
        kernel.set_push(&admin, task.id, numbered(n), Origin::V10).await.unwrap();
    }

    let refused = kernel.set_push(&admin, task.id, numbered(50), Origin::V10).await.unwrap_err();

    assert_eq!(refused.reason(), "too_many_push_configs");
    kernel.set_push(&admin, task.id, numbered(49), Origin::V10).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_receiver_holds_up_nobody_else() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let (mut slow, mut quick) = (Receiver::at("127.0.0.2").await, Receiver::at("127.0.0.3").await);
    slow.reacts(Reaction::Silence);
    let mut tasks = Vec::new();
    for _ in 0..20 {
        let task = asked(&kernel, &admin).await;
        set(&kernel, &admin, &task, to(&slow)).await;
        tasks.push(task);
    }
    let last = asked(&kernel, &admin).await;
    set(&kernel, &admin, &last, to(&quick)).await;
    for task in &tasks {
        answer(&kernel, &admin, task.id).await;
    }
    slow.next().await;

    answer(&kernel, &admin, last.id).await;

    for expected in 6..=9 {
        assert_eq!(quick.next().await.seq(), expected);
    }
    assert!(slow.others().len() < 20, "and it is not overrun");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_deliver_once() {
    let (home, clock) = (home(), HandClock::default());
    let (one, two) = (delivering(&home, &clock), delivering(&home, &clock));
    let admin = callers::admin(&one);
    let mut receiver = Receiver::at("127.0.0.1").await;
    let mut tasks = Vec::new();
    for n in 0..20 {
        let kernel = if n % 2 == 0 { &one } else { &two };
        let task = asked(kernel, &admin).await;
        set(kernel, &admin, &task, to(&receiver)).await;
        answer(kernel, &admin, task.id).await;
        tasks.push(task.id);
    }

    let mut told: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for _ in 0..tasks.len() * 4 {
        let post = receiver.next().await;
        let (task, _) = post.event().rsplit_once(':').unwrap();
        told.entry(task.to_owned()).or_default().push(post.seq());
    }

    assert_eq!(told.len(), tasks.len());
    assert!(told.values().all(|seqs| *seqs == [6, 7, 8, 9]), "each once and in order: {told:?}");
    for task in tasks {
        outcome(&one, &admin, task, "delivered").await;
    }
    assert_eq!(receiver.others().len(), 0);
}

/// A task that carries a secret is pushed to nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_not_told() {
    let (home, clock) = (home(), HandClock::default());
    let kernel = delivering(&home, &clock);
    let admin = callers::admin(&kernel);
    let mut receiver = Receiver::at("127.0.0.1").await;
    let task = crate::support::send(&kernel, &admin, "asker", "my key is AKIAABCDEFGHIJKLMNOP").await;
    set(&kernel, &admin, &task, to(&receiver)).await;

    answer(&kernel, &admin, task.id).await;

    let said = outcome(&kernel, &admin, task.id, "not sent").await;
    assert!(said.contains("the task carries secret"), "{said}");
    assert_eq!(receiver.others().len(), 0);
}
