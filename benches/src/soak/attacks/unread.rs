//! HTTP/2 connections that request large responses and give no window for them.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::lists::large_task;
use super::{Running, many};
use crate::soak::client::{Client, HOSTILE};
use crate::soak::http2::Connection;
use crate::soak::stage::Target;

const CONNECTIONS: usize = 4;
/// Just below the stream limit of a connection.
const STREAMS: usize = 90;

pub(super) async fn prepare(target: Target) -> Result<Running> {
    target.tallies.expect(&["unread answers"]);
    let answer = large_task(&mut Client::new(&target.address, HOSTILE), &target).await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let task = answer["task"]["id"].as_str().context("the large message became no task")?.to_owned();
    Ok(Box::pin(many(CONNECTIONS, move |_| ask_for_ever(target.clone(), task.clone()))))
}

async fn ask_for_ever(target: Target, task: String) {
    loop {
        let _ = ask(&target, &task).await;
    }
}

async fn ask(target: &Target, task: &str) -> Result<()> {
    let credential = format!("Bearer {}", target.key);
    let paths = [format!("/api/tasks/{task}"), format!("/api/tasks/{task}/events")];
    let mut connection = Connection::open(&target.address, HOSTILE).await?;
    for number in 0..STREAMS {
        let headers = [
            (":method", "GET"),
            (":scheme", "http"),
            (":path", paths[number % paths.len()].as_str()),
            (":authority", target.address.as_str()),
            ("authorization", credential.as_str()),
            ("last-event-id", "0"),
        ];
        connection.get(&headers).await?;
    }
    target.tallies.part("unread answers").add();
    connection.stay().await
}
