//! Stopping: what was accepted is answered, streams get a last event, and a second signal means now.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::binary::Openfang;

const SLOW: &str = "[[rules]]\nwhen = { text = \"slow\" }\nsteps = [{ delay_ms = 2000 }, { chunk = \"done\" }]\n\
                    [[rules]]\nsteps = [{ wait_for_cancel = true }]";

fn with_slow_agent(config: &str) -> Openfang {
    let openfang = Openfang::new();
    openfang.write("config.toml", config);
    openfang.write("agents/slow/agent.toml", "name = \"slow\"\ndescription = \"d\"\n[model]\nprovider = \"script\"");
    openfang.write("agents/slow/script.toml", SLOW);
    openfang
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_is_answered_while_the_server_stops() {
    let openfang = with_slow_agent("");
    let mut daemon = openfang.start();
    let client = daemon.client();
    let body = json!({"text": "slow"});
    let message = async || client.post("/api/agents/slow/message", &body).await;
    let stream = async || {
        let text = body.to_string();
        client.stream("POST", "/api/agents/slow/message", Some(&text)).await.events().await
    };
    let answered = AtomicUsize::new(0);
    // Quick requests all the while; each is a connection of its own, until none is accepted any more.
    let quick = async || {
        let arguments = json!({"arguments": {"a": 1, "b": 2}}).to_string();
        let mut statuses = Vec::new();
        while let Some(answer) = client.try_send("POST", "/api/tools/add_numbers", Some(&arguments)).await {
            statuses.push(answer.status);
            answered.fetch_add(1, Ordering::Relaxed);
        }
        statuses
    };
    let stop = async || {
        while client.get("/api/tasks?state=working").await.json()["total"] != 6 || answered.load(Ordering::Relaxed) < 20
        {
            tokio::task::yield_now().await;
        }
        daemon.signal("TERM");
    };

    let (a, b, c, d, s1, s2, quick, ()) =
        tokio::join!(message(), message(), message(), message(), stream(), stream(), quick(), stop());

    for answer in [a, b, c, d] {
        assert_eq!((answer.status, &answer.json()["task"]["status"]["state"]), (200, &json!("completed")));
    }
    for events in [s1, s2] {
        assert_eq!(events.last().unwrap().2["body"]["status"]["state"], "completed");
    }
    // The last one may have met the closed door; whatever was let in was answered.
    assert!(quick[..quick.len() - 1].iter().all(|status| *status == 200), "{quick:?}");
    assert_eq!(daemon.wait().code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_does_not_end_in_time_is_interrupted_and_its_stream_says_so() {
    let openfang = with_slow_agent("[limits]\ndrain_secs = 1\n");
    let mut daemon = openfang.start();
    let text = json!({"text": "wait"}).to_string();
    let mut stream = daemon.client().stream("POST", "/api/agents/slow/message", Some(&text)).await;
    stream.event().await.unwrap();

    daemon.signal("TERM");
    let events = stream.events().await;

    let last = &events.last().unwrap().2["body"]["status"];
    assert_eq!(
        (&last["state"], &last["message"]["parts"][0]["text"]),
        (&json!("failed"), &json!("interrupted: the server was stopped"))
    );
    assert_eq!(daemon.wait().code, 0);
}

#[expect(clippy::disallowed_methods, reason = "the test knocks at the server it started")]
#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_means_now() {
    let openfang = with_slow_agent("");
    let mut daemon = openfang.start();
    let text = json!({"text": "wait"}).to_string();
    let mut stream = daemon.client().stream("POST", "/api/agents/slow/message", Some(&text)).await;
    stream.event().await.unwrap();

    let begun = Instant::now();
    daemon.signal("TERM");
    while tokio::net::TcpStream::connect(daemon.address()).await.is_ok() {
        tokio::task::yield_now().await;
    }
    daemon.signal("TERM");

    assert_ne!(daemon.wait().code, 0);
    assert!(begun.elapsed() < Duration::from_secs(20), "the drain would have taken 30 s");
}
