//! Looking after a server: connecting, staying, and beginning again.

use std::time::Duration;

use openfang_types::limits::{MCP_LIST_DEBOUNCE, MCP_RESTART_WINDOW};
use openfang_types::mcp_status::McpServerState;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, timeout};

use super::backoff::Backoff;
use super::connect::{Started, connect_counting};
use super::show::{settle, show};
use super::upstream::Upstream;
use super::watching::{AGAIN, EVER};
use super::{ClientError, Connecting, Connection, Manifest, Notice, OutgoingRequest, RawMembers, Silent};
use crate::host::Change;
use crate::revision::{Changes, Era};

/// The cause of a restart by the operator.
const ASKED_FOR: &str = "somebody asked for a restart";
const OURSELVES: &str = "it is this OpenFang itself, which would list its own tools again and again; \
    remove it with `openfang mcp remove`";

/// Why a conversation was left.
enum Left {
    /// The server is to be let go.
    Stopped,
    /// It is to be connected to anew.
    Restart,
    /// It went away, or never came.
    Lost { reason: String, stderr: Vec<String>, was_up: bool },
    /// Its entry cannot be used until something changes.
    Unusable { reason: String },
}

/// Looks after a server until it is let go.
pub(super) async fn look_after(upstream: Upstream) {
    let parts = &upstream.inner.parts;
    let mut backoff = Backoff::default();
    let mut known = parts.known;
    // Why it is started again, and why it failed before, so that each reason is said once.
    let (mut cause, mut failure) = (None, None);
    loop {
        let started = Started::default();
        upstream.update(|snapshot| {
            snapshot.state = McpServerState::Starting;
            snapshot.reason = cause.take().or_else(|| snapshot.reason.take());
            snapshot.starts += 1;
        });
        let begun = Instant::now();
        let left = tokio::select! {
            biased;
            () = parts.stop.cancelled() => Left::Stopped,
            left = begin_and_stay(&upstream, &mut known, &started) => left,
        };
        if let Some(connection) = upstream.lock().take() {
            connection.close("the conversation is over");
        }
        backoff.started(begun, started.programs().max(1));
        let is_final = matches!(left, Left::Unusable { .. });
        let (reason, stderr) = match left {
            Left::Stopped => return,
            Left::Restart => {
                (cause, failure) = (Some(ASKED_FOR.to_owned()), None);
                continue;
            }
            // Whoever calls now waits a moment and notices nothing: a session was forgotten, a program was updated.
            Left::Lost { reason, was_up: true, .. } if backoff.allows_another() => {
                let reason = upstream.shown(&reason);
                tracing::warn!(server = parts.name, %reason, "an MCP server went away; it is connected to again");
                (cause, failure) = (Some(reason.into_owned()), None);
                continue;
            }
            Left::Lost { reason, stderr, .. } => (reason, stderr),
            Left::Unusable { reason } => (reason, Vec::new()),
        };
        let reason = upstream.shown(&reason).into_owned();
        if begun.elapsed() > MCP_RESTART_WINDOW {
            backoff.held();
        }
        if failure.as_ref() == Some(&reason) {
            tracing::debug!(server = parts.name, reason, "an MCP server is still down");
        } else {
            tracing::warn!(server = parts.name, reason, "an MCP server is down");
        }
        failure = Some(reason.clone());
        upstream.update(|snapshot| {
            snapshot.state = McpServerState::Failed;
            snapshot.reason = Some(reason);
            snapshot.stderr = stderr.iter().map(|line| upstream.shown(line).into_owned()).collect();
        });
        tokio::select! {
            biased;
            () = parts.stop.cancelled() => return,
            () = upstream.inner.restart.notified() => (cause, failure) = (Some(ASKED_FOR.to_owned()), None),
            () = sleep(backoff.pause(chance())), if !is_final => {}
        }
    }
}

async fn begin_and_stay(upstream: &Upstream, known: &mut Option<Era>, started: &Started) -> Left {
    let parts = &upstream.inner.parts;
    let begun = tokio::select! {
        biased;
        () = upstream.inner.restart.notified() => return Left::Restart,
        begun = begin(upstream, *known, started) => begun,
    };
    let NewConnection { connection, manifest, notices } = match begun {
        Ok(begun) => begun,
        Err(error) => {
            // What was found before may not hold any more.
            *known = None;
            return match error {
                StartFailure::Unusable(reason) => Left::Unusable { reason },
                StartFailure::Failed(error, stderr) => Left::Lost { reason: error.to_string(), stderr, was_up: false },
            };
        }
    };
    *known = Some(connection.revision().era());
    let tools = manifest.tools.names().count();
    tracing::info!(server = parts.name, revision = %connection.revision(), tools, "connected to an MCP server");
    // What it has is known before anybody can call it.
    show(upstream, &connection, manifest).await;
    *upstream.lock() = Some(connection.clone());
    settle(upstream);
    stay(upstream, &connection, notices).await
}

/// A conversation that has begun.
struct NewConnection {
    connection: Connection,
    manifest: Manifest,
    /// What the server said since it was asked what it has: that may have changed at once.
    notices: broadcast::Receiver<Notice>,
}

/// Why a conversation did not begin.
enum StartFailure {
    /// Nothing was tried, and nothing is until something changes.
    Unusable(String),
    /// What went wrong, with the last lines of the server's stderr.
    Failed(ClientError, Vec<String>),
}

/// Begins a conversation beside the one that there may be, asks what the server has, and ends it.
pub(super) async fn probe(upstream: &Upstream) -> Result<(), String> {
    let (parts, started) = (&upstream.inner.parts, Started::default());
    let begun = tokio::select! {
        biased;
        () = parts.stop.cancelled() => return Err("the server was removed".to_owned()),
        begun = begin(upstream, parts.known, &started) => begun,
    };
    match begun {
        Ok(begun) => {
            begun.connection.close("it was a test");
            Ok(())
        }
        Err(StartFailure::Unusable(reason)) => Err(upstream.shown(&reason).into_owned()),
        Err(StartFailure::Failed(error, _)) => Err(upstream.shown(&error.to_string()).into_owned()),
    }
}

/// Connects, and asks what the server has; both within the time it may take to start.
async fn begin(upstream: &Upstream, known: Option<Era>, started: &Started) -> Result<NewConnection, StartFailure> {
    let parts = &upstream.inner.parts;
    let without_stderr = |error| StartFailure::Failed(error, Vec::new());
    let endpoint = parts.place.endpoint().map_err(|error| match error.may_pass {
        true => without_stderr(ClientError::Start(error.why)),
        false => StartFailure::Unusable(ClientError::Start(error.why).to_string()),
    })?;
    let connecting = Connecting {
        endpoint,
        redactor: parts.place.redactor(),
        only: parts.only,
        // A server that may ask is asked anew what it speaks: it may have learned the way that its callers speak.
        known: known.filter(|_| parts.declared.is_none()),
        declared: parts.declared,
        patience: parts.startup,
        tracker: parts.tracker.clone(),
        counts: std::sync::Arc::clone(&parts.counts),
    };
    let connection = connect_counting(connecting, started)
        .await
        .map_err(|(error, stderr)| StartFailure::Failed(error, stderr))?;
    if connection.facts().is_instance(parts.instance.as_deref()) {
        connection.close("it is ourselves");
        return Err(without_stderr(ClientError::Start(OURSELVES.to_owned())));
    }
    let notices = connection.notices();
    let asked = timeout(parts.startup, Manifest::ask(&connection, parts.startup)).await;
    match asked.unwrap_or(Err(ClientError::TimedOut(parts.startup))) {
        Ok(manifest) => Ok(NewConnection { connection, manifest, notices }),
        Err(error) => {
            let stderr = connection.last_words();
            connection.close("it did not say what it has");
            Err(StartFailure::Failed(error, stderr))
        }
    }
}

/// Hears what the server says until there is nothing more to hear.
async fn stay(upstream: &Upstream, connection: &Connection, mut notices: broadcast::Receiver<Notice>) -> Left {
    let listening = listen(connection);
    tokio::pin!(listening);
    let mut pause = MCP_LIST_DEBOUNCE;
    loop {
        let notice = tokio::select! {
            biased;
            () = upstream.inner.parts.stop.cancelled() => return Left::Stopped,
            () = upstream.inner.restart.notified() => return Left::Restart,
            why = connection.over() => {
                return Left::Lost { reason: why.to_string(), stderr: connection.last_words(), was_up: true };
            }
            () = &mut listening => {
                listening.set(listen(connection));
                continue;
            }
            notice = notices.recv() => notice,
        };
        match notice {
            Ok(Notice::Resource(uri)) => upstream.updated(uri),
            // Whoever fell behind looks at everything again.
            Ok(Notice::Tools | Notice::Prompts | Notice::Resources) | Err(RecvError::Lagged(_)) => {
                if let Some(left) = rest(upstream, connection, pause).await {
                    return left;
                }
                let mut resources = matches!(notice, Ok(Notice::Resources) | Err(_));
                while let Ok(notice) = notices.try_recv() {
                    match notice {
                        Notice::Resource(uri) => upstream.updated(uri),
                        Notice::Resources => resources = true,
                        Notice::Tools | Notice::Prompts => {}
                    }
                }
                let begun = Instant::now();
                if let Some(left) = look_again(upstream, connection).await {
                    return left;
                }
                // However often a server changes, most of the time is for others.
                pause = begun.elapsed().saturating_mul(4).clamp(MCP_LIST_DEBOUNCE, AGAIN);
                if resources {
                    upstream.announce(Change::Resources);
                }
            }
            Err(RecvError::Closed) => {
                return Left::Lost { reason: "it is gone".to_owned(), stderr: Vec::new(), was_up: true };
            }
        }
    }
}

/// Waits before a server is asked again, and says why it is left if it is to be left meanwhile.
async fn rest(upstream: &Upstream, connection: &Connection, pause: Duration) -> Option<Left> {
    tokio::select! {
        biased;
        () = upstream.inner.restart.notified() => Some(Left::Restart),
        why = connection.over() => {
            Some(Left::Lost { reason: why.to_string(), stderr: connection.last_words(), was_up: true })
        }
        () = sleep(pause) => None,
    }
}

/// Asks again what the server has, and says why it is left if it is to be left meanwhile.
async fn look_again(upstream: &Upstream, connection: &Connection) -> Option<Left> {
    let startup = upstream.inner.parts.startup;
    let asked = tokio::select! {
        biased;
        () = upstream.inner.restart.notified() => return Some(Left::Restart),
        asked = timeout(startup, Manifest::ask(connection, upstream.timeout())) => asked,
    };
    match asked.unwrap_or(Err(ClientError::TimedOut(startup))) {
        Ok(manifest) => {
            show(upstream, connection, manifest).await;
            settle(upstream);
        }
        Err(error) => tracing::warn!(server = upstream.name(), %error, "a server does not say what changed"),
    }
    None
}

/// Asks a modern server to tell of changes; a legacy one does so by itself. Returns when it had better be asked again.
async fn listen(connection: &Connection) {
    if connection.revision().facts().changes == Changes::Pushed {
        return std::future::pending().await;
    }
    let wanted = serde_json::json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
    });
    let members = RawMembers::none().with("notifications", &wanted);
    match connection
        .request(OutgoingRequest::new("subscriptions/listen", members, EVER), &Silent)
        .await
    {
        // It has nothing to tell.
        Err(ClientError::Refused(_)) => std::future::pending().await,
        Ok(_) | Err(_) => sleep(AGAIN).await,
    }
}

/// Somewhere between 0 and 1, so that many servers do not come back at the same moment.
fn chance() -> f64 {
    let mut byte = [0];
    if getrandom::fill(&mut byte).is_err() {
        return 1.0;
    }
    f64::from(byte[0]) / 255.0
}
