//! Streams that are cut, tasks that are polled, questions, and what an agent may not do with a task.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::peer::{
    EVENTS, Heard, Peer, all, card, chunk, door, error, event, events, message, name, ok, result, short, status, talk,
    task,
};
use crate::client::{ClientError, Outgoing, RemoteAgent, RemoteSettings, Sent};

fn submitted() -> Value {
    json!({ "task": task("TASK_STATE_SUBMITTED", &[]) })
}

/// An agent whose streams and other answers a test writes itself.
fn raw(streaming: bool, serve: impl Fn(&Heard, &mut TcpStream) + Send + Sync + 'static) -> Peer {
    Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        match heard.path.as_str() {
            "/.well-known/agent-card.json" => drop(stream.write_all(&ok(&card(&own, streaming)))),
            _ => serve(heard, stream),
        }
    })
}

fn say(stream: &mut TcpStream, said: &[u8]) {
    drop(stream.write_all(said));
}

fn quick(peer: &Peer) -> RemoteAgent {
    let settings = RemoteSettings { idle: Duration::from_millis(600), ..peer.settings() };
    RemoteAgent::new(door(), settings).unwrap()
}

#[tokio::test]
async fn a_cut_stream_is_resumed_and_nothing_is_lost_or_repeated() {
    let peer = raw(true, |heard, stream| match heard.method().as_str() {
        "SendStreamingMessage" => say(stream, &events(&[submitted(), chunk("a", "1", false), chunk("a", "2", true)])),
        "GetTask" if stream.peer_addr().is_ok() => {
            let parts: &[&str] = &["1", "2", "3"];
            say(stream, &result(&task("TASK_STATE_WORKING", &[("a", parts)])));
        }
        // No snapshot: what happened before is gone. One chunk is repeated.
        "SubscribeToTask" => {
            say(stream, &events(&[chunk("a", "3", true), chunk("a", "4", true), status("TASK_STATE_COMPLETED", None)]))
        }
        _ => say(stream, &error(-32_601, "no")),
    });
    let mut follower = peer.remote().send(message("hi")).await.unwrap();
    let said = all(&mut follower).await.unwrap().iter().map(short).collect::<Vec<_>>();
    assert_eq!(said.last().map(String::as_str), Some("ended completed"));
    assert_eq!(peer.methods(), ["SendStreamingMessage", "GetTask", "SubscribeToTask", "GetTask"]);
}

#[tokio::test]
async fn the_ended_task_counts_after_a_gap() {
    let gets = AtomicUsize::new(0);
    let peer = raw(true, move |heard, stream| match heard.method().as_str() {
        "SendStreamingMessage" => say(stream, &events(&[submitted(), chunk("a", "1", false)])),
        "GetTask" => {
            let whole = [("a", &["1", "2", "3", "4"][..])];
            let said = match gets.fetch_add(1, Ordering::SeqCst) {
                0 => task("TASK_STATE_WORKING", &[("a", &["1"])]),
                _ => task("TASK_STATE_COMPLETED", &whole),
            };
            say(stream, &result(&said));
        }
        "SubscribeToTask" => say(
            stream,
            &events(&[
                chunk("a", "3", true),
                chunk("a", "3", true),
                chunk("a", "4", true),
                status("TASK_STATE_COMPLETED", None),
            ]),
        ),
        _ => say(stream, &error(-32_601, "no")),
    });
    let mut follower = peer.remote().send(message("hi")).await.unwrap();
    let said = all(&mut follower).await.unwrap().iter().map(short).collect::<Vec<_>>();
    assert_eq!(said[said.len() - 2..], ["artifact a 1|2|3|4", "ended completed"]);
}

#[tokio::test]
async fn an_end_without_a_result_is_fetched_once() {
    let peer = raw(true, |heard, stream| match heard.method().as_str() {
        "SendStreamingMessage" => say(stream, &events(&[submitted(), status("TASK_STATE_COMPLETED", None)])),
        "GetTask" => say(stream, &result(&task("TASK_STATE_COMPLETED", &[("a", &["late"])]))),
        _ => say(stream, &error(-32_601, "no")),
    });
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said, ["known t1 c1", "submitted", "artifact a late", "ended completed"]);
    assert_eq!(peer.methods(), ["SendStreamingMessage", "GetTask"]);
}

#[tokio::test]
async fn an_agent_that_refuses_to_resume_is_polled() {
    let gets = AtomicUsize::new(0);
    let peer = raw(true, move |heard, stream| match heard.method().as_str() {
        "SendStreamingMessage" => say(stream, &events(&[submitted()])),
        "GetTask" if gets.fetch_add(1, Ordering::SeqCst) < 3 => say(stream, &result(&task("TASK_STATE_WORKING", &[]))),
        "GetTask" => say(stream, &result(&task("TASK_STATE_COMPLETED", &[("a", &["x"])]))),
        _ => say(stream, &error(-32_004, "no streams")),
    });
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said, ["known t1 c1", "submitted", "working", "artifact a x", "ended completed"]);
    let subscribed = peer.methods().iter().filter(|method| *method == "SubscribeToTask").count();
    assert_eq!(subscribed, 1);
}

#[tokio::test]
async fn an_agent_that_shows_no_progress_is_stalled_and_told_to_cancel() {
    let peer = raw(true, |heard, stream| match heard.method().as_str() {
        "SendStreamingMessage" => {
            say(stream, EVENTS.as_bytes());
            say(stream, event(&submitted()).as_bytes());
            // Bytes are no progress: one comment after the other, for as long as the client listens.
            while stream.write_all(b": still here\n\n").is_ok() {}
        }
        "CancelTask" => say(stream, &result(&task("TASK_STATE_CANCELED", &[]))),
        _ => say(stream, &result(&task("TASK_STATE_WORKING", &[]))),
    });
    let mut follower = quick(&peer).send(message("hi")).await.unwrap();
    let failed = all(&mut follower).await.unwrap_err();
    assert!(matches!(failed, ClientError::Stalled { .. }), "{failed}");
    assert_eq!(peer.methods().last().map(String::as_str), Some("CancelTask"));
    assert!(follower.next().await.unwrap().is_none());
}

#[tokio::test]
async fn a_task_that_takes_too_long_ends_at_the_limit() {
    let peer = raw(false, |heard, stream| match heard.method().as_str() {
        "SendMessage" => say(stream, &result(&json!({ "task": task("TASK_STATE_WORKING", &[]) }))),
        _ => say(stream, &result(&task("TASK_STATE_WORKING", &[]))),
    });
    let follower = peer.remote().send(message("hi")).await.unwrap();
    let failed = all(&mut follower.within(Duration::from_millis(300))).await.unwrap_err();
    assert!(matches!(failed, ClientError::TimedOut { .. }), "{failed}");
}

#[tokio::test]
async fn events_about_another_task_are_ignored() {
    let stray = json!({ "artifactUpdate": { "taskId": "t2", "artifact": { "artifactId": "a", "parts": [{ "text": "stray" }] } } });
    let peer = raw(true, move |_, stream| {
        let done = json!({ "statusUpdate": { "taskId": "t2", "status": { "state": "TASK_STATE_FAILED" } } });
        say(
            stream,
            &events(&[
                submitted(),
                stray.clone(),
                done,
                chunk("a", "ours", false),
                status("TASK_STATE_COMPLETED", None),
            ]),
        );
    });
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said, ["known t1 c1", "submitted", "artifact a ours", "ended completed"]);
}

#[tokio::test]
async fn nothing_follows_the_end_of_a_task() {
    let peer = raw(true, |_, stream| {
        say(
            stream,
            &events(&[
                submitted(),
                chunk("a", "x", false),
                status("TASK_STATE_COMPLETED", None),
                status("TASK_STATE_WORKING", Some("again")),
                chunk("a", "more", true),
                status("TASK_STATE_FAILED", None),
            ]),
        );
    });
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said, ["known t1 c1", "submitted", "artifact a x", "ended completed"]);
}

#[tokio::test]
async fn a_question_is_answered_into_the_same_task() {
    let peer = raw(true, |heard, stream| match heard.json()["params"]["message"]["taskId"].as_str() {
        None => say(stream, &events(&[submitted(), status("TASK_STATE_INPUT_REQUIRED", Some("which?"))])),
        // The stream of a continued task may begin with the old question.
        Some(_) => say(
            stream,
            &events(&[
                json!({ "task": task("TASK_STATE_INPUT_REQUIRED", &[]) }),
                status("TASK_STATE_WORKING", None),
                chunk("a", "blue", false),
                status("TASK_STATE_COMPLETED", None),
            ]),
        ),
    });
    let agent = peer.remote();
    assert_eq!(talk(&agent).await.unwrap(), ["known t1 c1", "submitted", "asked input-required which?"]);
    let answer = Outgoing { task: Some(name("t1")), ..message("blue") };
    let mut follower = agent.send(answer).await.unwrap();
    let said = all(&mut follower).await.unwrap().iter().map(short).collect::<Vec<_>>();
    assert_eq!(said, ["known t1 c1", "working", "artifact a blue", "ended completed"]);
}

#[tokio::test]
async fn a_new_task_in_the_place_of_the_continued_one_is_canceled() {
    let peer = raw(false, |heard, stream| match heard.method().as_str() {
        "SendMessage" => {
            say(stream, &result(&json!({ "task": { "id": "other", "status": { "state": "TASK_STATE_WORKING" } } })))
        }
        _ => say(stream, &result(&task("TASK_STATE_CANCELED", &[]))),
    });
    let answer = Outgoing { task: Some(name("t1")), ..message("blue") };
    let failed = peer.remote().send(answer).await.unwrap_err();
    assert!(matches!(failed, ClientError::WrongTask(_)), "{failed}");
    let canceled = peer.heard().pop().unwrap();
    assert_eq!((canceled.method().as_str(), &canceled.json()["params"]["id"]), ("CancelTask", &json!("other")));
}

#[tokio::test]
async fn a_known_task_is_followed_after_a_restart() {
    let peer = raw(true, |heard, stream| match heard.method().as_str() {
        "GetTask" => say(stream, &result(&task("TASK_STATE_COMPLETED", &[("a", &["kept"])]))),
        _ => say(stream, &error(-32_601, "no")),
    });
    let mut follower = peer.remote().follow(name("t1"), None).await.unwrap();
    let said = all(&mut follower).await.unwrap().iter().map(short).collect::<Vec<_>>();
    assert_eq!(said, ["artifact a kept", "ended completed"]);
}

#[tokio::test]
async fn an_answer_in_one_piece_takes_the_place_of_a_stream() {
    let peer =
        raw(true, |_, stream| say(stream, &result(&json!({ "task": task("TASK_STATE_COMPLETED", &[("a", &["x"])]) }))));
    assert_eq!(talk(&peer.remote()).await.unwrap(), ["known t1 c1", "artifact a x", "ended completed"]);
    let peer = raw(true, |_, stream| say(stream, &error(-32_602, "bad")));
    assert!(matches!(talk(&peer.remote()).await, Err(ClientError::Refused { .. })));
}

#[tokio::test]
async fn an_error_within_a_stream_is_an_error() {
    for said in [
        format!("{EVENTS}event: error\ndata: {{\"code\":-32603,\"message\":\"down\"}}\n\n"),
        format!(
            "{EVENTS}data: {{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{{\"code\":-32603,\"message\":\"down\"}}}}\n\n"
        ),
        format!(
            "{EVENTS}\u{feff}: hi\r\ndata: {{\"jsonrpc\":\"2.0\",\r\ndata: \"error\":{{\"code\":-32603,\"message\":\"down\"}}}}\r\n\r\n"
        ),
    ] {
        let shown = said.clone();
        let peer = raw(true, move |_, stream| say(stream, said.as_bytes()));
        let failed = talk(&peer.remote()).await.unwrap_err();
        assert!(failed.to_string().contains("down"), "{shown}: {failed}");
    }
}

#[tokio::test]
async fn a_lost_message_is_found_by_its_id_or_known_to_be_absent() {
    let listed = |history: Value| {
        raw(false, move |_, stream| {
            let task = json!({ "id": "t9", "status": { "state": "TASK_STATE_WORKING" }, "history": history });
            say(stream, &result(&json!({ "tasks": [task], "nextPageToken": "" })));
        })
    };
    let said = |id: &str, role: &str| json!([{ "messageId": id, "role": role, "parts": [{ "text": "x" }] }]);
    let mine = "m1".parse().unwrap();
    let found = listed(said("m1", "ROLE_USER")).remote().find_sent(&mine, None).await.unwrap();
    assert!(matches!(found, Sent::Found(task) if task.id == name("t9")));
    assert_eq!(listed(said("m2", "ROLE_USER")).remote().find_sent(&mine, None).await.unwrap(), Sent::Absent);
    // The agent's own message of the same id is not ours, and a list without messages proves nothing.
    assert_eq!(listed(said("m1", "ROLE_AGENT")).remote().find_sent(&mine, None).await.unwrap(), Sent::Unknown);
    assert_eq!(listed(json!([])).remote().find_sent(&mine, None).await.unwrap(), Sent::Unknown);
    let peer = raw(false, |_, stream| say(stream, &error(-32_004, "no lists")));
    assert_eq!(peer.remote().find_sent(&mine, None).await.unwrap(), Sent::Unknown);
}
