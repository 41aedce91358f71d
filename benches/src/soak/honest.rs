//! The clients that must not be affected: each user calls a tool, sends to an agent, lists tasks and reads the health
//! at a steady pace, and one of them logs in now and then. They run on their own thread.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::client::{Client, HONEST, Request};
use super::stage::{HONEST_USERS, PASSWORD, Stage};
use crate::load::FRESH;
use crate::scenarios::{A2A_SEND, MCP_MODERN};

/// The interval between requests of a user, well below the user's rate limit.
const PACE: Duration = Duration::from_millis(25);
/// The interval between logins.
const LOGIN_PACE: Duration = Duration::from_secs(2);
/// The number of complaints that are kept in full.
const KEPT_COMPLAINTS: usize = 8;

/// What the clients observed since the last reading.
#[derive(Debug, Default, Clone)]
pub(super) struct ClientObservations {
    pub(super) latencies: Vec<Duration>,
    pub(super) failures: usize,
}

#[derive(Default)]
struct Diary {
    seen: ClientObservations,
    complaints: Vec<String>,
}

impl Diary {
    fn failed(&mut self, why: String) {
        self.seen.failures += 1;
        if self.complaints.len() < KEPT_COMPLAINTS {
            self.complaints.push(why);
        }
    }
}

pub(super) struct Honest {
    diary: Arc<Mutex<Diary>>,
    stop: CancellationToken,
    thread: JoinHandle<()>,
}

impl Honest {
    pub(super) fn start(stage: &Stage) -> Self {
        let (diary, stop) = (Arc::new(Mutex::new(Diary::default())), CancellationToken::new());
        let address = stage.server.address.clone();
        let keys = stage.honest_keys.clone();
        let (book, until) = (Arc::clone(&diary), stop.clone());
        let thread = std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
            runtime.block_on(async {
                let mut clients = JoinSet::new();
                for key in keys {
                    clients.spawn(work(address.clone(), key, Arc::clone(&book)));
                }
                clients.spawn(log_in(address, Arc::clone(&book)));
                until.cancelled().await;
                clients.shutdown().await;
            });
        });
        Self { diary, stop, thread }
    }

    /// The observations since the last reading.
    pub(super) fn take(&self) -> ClientObservations {
        std::mem::take(&mut self.diary.lock().unwrap_or_else(PoisonError::into_inner).seen)
    }

    /// Stops the clients and returns the first complaints.
    pub(super) fn stop(self) -> Vec<String> {
        self.stop.cancel();
        let _ = self.thread.join();
        std::mem::take(&mut self.diary.lock().unwrap_or_else(PoisonError::into_inner).complaints)
    }
}

/// The requests of one user.
async fn work(address: String, key: String, diary: Arc<Mutex<Diary>>) {
    let mut client = Client::new(&address, HONEST);
    let mut pace = tokio::time::interval(PACE);
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for turn in 0_usize.. {
        pace.tick().await;
        let begun = Instant::now();
        let outcome = ask(&mut client, &key, turn).await;
        let mut diary = diary.lock().unwrap_or_else(PoisonError::into_inner);
        diary.seen.latencies.push(begun.elapsed());
        if let Err(why) = outcome {
            diary.failed(format!("{why:#}"));
        }
    }
}

async fn ask(client: &mut Client, key: &str, turn: usize) -> Result<()> {
    let message = A2A_SEND.body.replace(FRESH, &Uuid::now_v7().to_string());
    let (what, headers, body, expected) = match turn % 5 {
        0 => ("POST /mcp", MCP_MODERN.headers, MCP_MODERN.body, MCP_MODERN.answer_contains),
        1 => ("POST /a2a", A2A_SEND.headers, message.as_str(), A2A_SEND.answer_contains),
        2 => ("GET /api/tasks?pageSize=5", "", "", "tasks"),
        3 => ("POST /api/tools/add_numbers", "", r#"{"arguments":{"a":3,"b":7}}"#, "10"),
        _ => ("GET /health", "", "", "ok"),
    };
    let request = Request { what, key, headers, body: body.as_bytes() };
    let (status, answer) = client.exchange(&request).await.map_err(|error| error.context(what))?;
    let text = String::from_utf8_lossy(&answer);
    if status != 200 || !text.contains(expected) {
        bail!("{what} answered {status}: {}", text.chars().take(200).collect::<String>());
    }
    Ok(())
}

/// Logs in repeatedly. The duration is dominated by hashing, so only failures count.
async fn log_in(address: String, diary: Arc<Mutex<Diary>>) {
    let mut pace = tokio::time::interval(LOGIN_PACE);
    let body = json!({"user": HONEST_USERS[0], "password": PASSWORD}).to_string();
    loop {
        pace.tick().await;
        let request = Request { what: "POST /api/login", key: "", headers: "", body: body.as_bytes() };
        let outcome = Client::new(&address, HONEST).exchange(&request).await;
        let why = match outcome {
            Ok((200, _)) => continue,
            Ok((status, _)) => format!("a login with the right password answered {status}"),
            Err(error) => format!("a login with the right password: {error:#}"),
        };
        diary.lock().unwrap_or_else(PoisonError::into_inner).failed(why);
    }
}
