//! Where pushes never lead: strangers' urls reach public addresses only, when they are set and when they are dialled.

use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

use openfang_egress::resolve::{Resolve, Resolving};
use openfang_kernel::KernelError;
use openfang_testkit::receiver::Reaction;

use super::*;

/// PSH-01, when it is set; the spellings are in the kernel's own tests.
#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_strangers_may_not_name_is_refused_when_it_is_set() {
    let home = home();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let task = asked(&kernel, &admin).await;
    for url in ["http://127.0.0.1:8080/", "http://169.254.169.254/latest/meta-data/", "http://localhost./", "file:///x"]
    {
        let refused = kernel.set_push(&admin, task.id, push(url), Origin::V10).await.unwrap_err();

        assert!(matches!(&refused, KernelError::InvalidPush { field: "url", .. }), "{refused}");
        assert_eq!(refused.reason(), "invalid_push_config");
    }
    assert_eq!(kernel.pushes(&admin, task.id).await.unwrap(), []);
}

/// Answers each question with the next of its answers, and then with the last.
struct Names(Mutex<Vec<&'static str>>);

impl Resolve for Names {
    fn resolve(&self, _: &str) -> Resolving {
        let mut answers = self.0.lock().unwrap();
        let next = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
        let address: io::Result<Vec<IpAddr>> = Ok(vec![next.parse().unwrap()]);
        Box::pin(std::future::ready(address))
    }
}

/// PSH-01, when it is sent: the name is a public one, and leads to this machine or to cloud metadata.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_resolves_to_what_strangers_may_not_reach_is_not_dialled() {
    for address in
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00:ec2::254", "100.64.0.1"]
    {
        let home = home();
        let mut receiver = Receiver::at("127.0.0.1").await;
        let names = Arc::new(Names(Mutex::new(vec![address])));
        let kernel = home.boot().resolver(names).start().unwrap();
        kernel.start_background_agents();
        let admin = callers::admin(&kernel);
        let task = asked(&kernel, &admin).await;
        let url = receiver.url().replace("127.0.0.1", "hooks.example.com");
        set(&kernel, &admin, &task, push(&url)).await;

        answer(&kernel, &admin, task.id).await;

        let said = outcome(&kernel, &admin, task.id, "event 9 given up: hooks.example.com is ").await;
        assert!(!said.contains("s3cret"), "{said}");
        assert_eq!(receiver.others().len(), 0, "{address}");
    }
}

/// A url that was allowed when it was set, and is not any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_reached_is_asked_again_when_it_is_sent() {
    let (home, clock) = (home(), HandClock::default());
    let mut receiver = Receiver::at("127.0.0.1").await;
    let lax = home.boot_with(config()).clock(Arc::new(clock.clone())).start().unwrap();
    let admin = callers::admin(&lax);
    let task = asked(&lax, &admin).await;
    set(&lax, &admin, &task, to(&receiver)).await;
    answer(&lax, &admin, task.id).await;
    drop(lax);

    let strict = home.boot().clock(Arc::new(clock)).start().unwrap();
    strict.start_background_agents();

    outcome(&strict, &admin, task.id, "event 9 given up: 127.0.0.1 is ").await;
    assert_eq!(receiver.others().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_nowhere_that_is_refused_and_turns_no_push_into_a_question() {
    for (status, location, expected) in [
        (307, "http://169.254.169.254/latest/", "redirects to a url that is refused: 169.254.169.254 is "),
        (308, "http://10.0.0.1/", "redirects to a url that is refused: 10.0.0.1 is "),
        (307, "https://hooks.example.com/", "redirects a request with a body to https://hooks.example.com"),
        (302, "http://169.254.169.254/latest/", "the receiver answered 302"),
        (301, "/elsewhere", "the receiver answered 301"),
        (303, "/elsewhere", "the receiver answered 303"),
    ] {
        let (home, clock) = (home(), HandClock::default());
        let kernel = delivering(&home, &clock);
        let admin = callers::admin(&kernel);
        let mut receiver = Receiver::at("127.0.0.1").await;
        receiver.reacts(Reaction::With(status, "location", location.to_owned()));
        let task = asked(&kernel, &admin).await;
        set(&kernel, &admin, &task, to(&receiver)).await;

        answer(&kernel, &admin, task.id).await;

        let said = outcome(&kernel, &admin, task.id, "event 9 given up").await;
        assert!(said.contains(expected), "{said}");
        let posts = receiver.others();
        assert_eq!(posts.len(), 4, "one for each event: {posts:?}");
    }
}
