//! Agents that forget to say something: the task itself is asked.

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::peer::{EVENTS, Peer, all, card, door, event, events, message, ok, result, short, status, talk, task};
use crate::client::{RemoteAgent, RemoteSettings};

#[tokio::test]
async fn a_task_that_ended_while_its_stream_was_only_kept_open_is_noticed() {
    let peer = Peer::new(|heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        match (heard.path.as_str(), heard.method().as_str()) {
            ("/.well-known/agent-card.json", _) => drop(stream.write_all(&ok(&card(&own, true)))),
            (_, "SendStreamingMessage") => {
                let begun = event(&json!({ "task": task("TASK_STATE_WORKING", &[]) }));
                drop(stream.write_all(format!("{EVENTS}{begun}: ping\n\n").as_bytes()));
                // Open until the client leaves.
                let _ = stream.read(&mut [0; 16]);
            }
            _ => drop(stream.write_all(&result(&task("TASK_STATE_CANCELED", &[])))),
        }
    });
    let settings = RemoteSettings { silence: Duration::from_millis(50), ..peer.settings() };
    let agent = RemoteAgent::new(door(), settings).unwrap();
    let mut follower = agent.send(message("hi")).await.unwrap();
    let said = all(&mut follower).await.unwrap().iter().map(short).collect::<Vec<_>>();
    assert_eq!(said.last().map(String::as_str), Some("ended canceled"), "{said:?}");
}

#[tokio::test]
async fn a_result_that_is_still_missing_is_fetched_again_when_the_first_try_is_cut() {
    let tries = AtomicUsize::new(0);
    let peer = Peer::new(move |heard, stream| {
        let own = format!("http://{}", stream.local_addr().unwrap());
        let said = match (heard.path.as_str(), heard.method().as_str()) {
            ("/.well-known/agent-card.json", _) => ok(&card(&own, true)),
            (_, "SendStreamingMessage") => {
                events(&[json!({ "task": task("TASK_STATE_WORKING", &[]) }), status("TASK_STATE_COMPLETED", None)])
            }
            _ => {
                let whole = result(&task("TASK_STATE_COMPLETED", &[("a", &["kept"])]));
                let is_cut = tries.fetch_add(1, Ordering::SeqCst) == 0;
                if is_cut { whole[..whole.len() / 2].to_vec() } else { whole }
            }
        };
        drop(stream.write_all(&said));
    });
    let said = talk(&peer.remote()).await.unwrap();
    assert_eq!(said.last().map(String::as_str), Some("ended completed"));
    assert!(said.contains(&"artifact a kept".to_owned()), "{said:?}");
}
