//! The agent behind the measured bridge: an A2A 1.0 server with minimal cost, over JSON-RPC. Below every path is an agent
//! with its own card. `/plain/` answers each message with a finished task. `/streaming/` streams its answers, and ticks
//! for ever when it is told to. What was canceled, and when the agent was told, is at `/canceled`.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming};
use jiff::Timestamp;
use openfang_api::server::{self, Peer};
use openfang_types::limits::Limits;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The agents that are measured.
pub(crate) const PLAIN: &str = "plain";
pub(crate) const STREAMING: &str = "streaming";
/// Where the agent says when it was told of which cancel.
pub(crate) const CANCELED: &str = "/canceled";
/// How messages that make the agent tick begin, and the pause between two ticks.
pub(crate) const TICKS: &str = "ticks";
const PAUSE: Duration = Duration::from_secs(1);
/// How a tick begins: its number and its time follow.
pub(crate) const TICK: &str = "tick ";

const CARD: &str = "/.well-known/agent-card.json";

/// The role: serves until it is killed, and prints its address to stdout.
pub(crate) fn run() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?)?;
        stdout.flush()?;
        let answer = |_: Peer, request: Request<Incoming>| reply(request);
        server::serve(listener, &Limits::default(), CancellationToken::new(), answer).await;
        Ok(ExitCode::SUCCESS)
    })
}

async fn reply(request: Request<Incoming>) -> Result<Response<AgentBody>, std::convert::Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    if head.method == Method::GET && path == CANCELED {
        return Ok(json(serde_json::to_string(&lock().canceled).unwrap_or_default()));
    }
    if head.method == Method::GET {
        let host = head.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let card = path.strip_suffix(CARD).zip(host).map(|(agent, host)| card(host, agent));
        return Ok(card.map_or_else(not_there, json));
    }
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    Ok(answer(&body).unwrap_or_else(not_there))
}

fn not_there() -> Response<AgentBody> {
    let mut response = Response::new(AgentBody::Whole(None));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn json(text: String) -> Response<AgentBody> {
    of_type("application/json", AgentBody::Whole(Some(text.into())))
}

fn of_type(media_type: &'static str, body: AgentBody) -> Response<AgentBody> {
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The card of the agent at this path.
fn card(host: &str, path: &str) -> String {
    let streaming = path.trim_start_matches('/') == STREAMING;
    serde_json::json!({
        "name": path.trim_matches('/'), "description": "Repeats what it is told.", "version": "1",
        "supportedInterfaces": [{"url": format!("http://{host}{path}/"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": streaming}, "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"], "skills": [],
    })
    .to_string()
}

/// What the agent remembers of messages that made it tick: whose task it was, and when which was canceled.
#[derive(Default)]
struct TickMemory {
    texts: HashMap<String, String>,
    canceled: HashMap<String, Timestamp>,
}

fn lock() -> MutexGuard<'static, TickMemory> {
    static MEMORY: LazyLock<Mutex<TickMemory>> = LazyLock::new(Mutex::default);
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a task was canceled. The answer says what it is then.
fn cancel(id: &str) -> Option<String> {
    let mut memory = lock();
    let text = memory.texts.remove(id)?;
    memory.canceled.insert(text, Timestamp::now());
    Some(format!(r#"{{"id":"{id}","contextId":"{id}","status":{{"state":"TASK_STATE_CANCELED"}}}}"#))
}

/// The relevant members of a request, borrowed from it.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
struct TaskParams<'a> {
    id: &'a str,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

/// The answer to a request; none if it is no request.
fn answer(body: &[u8]) -> Option<Response<AgentBody>> {
    let call: Call<'_> = serde_json::from_slice(body).ok()?;
    let Call { id, method, params } = call;
    if method == "CancelTask" {
        let TaskParams { id: task } = serde_json::from_str(params.get()).ok()?;
        if let Some(task) = cancel(task) {
            return Some(json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{task}}}"#)));
        }
    }
    if !matches!(method, "SendMessage" | "SendStreamingMessage") {
        // There is no task that could be asked for.
        let error = r#"{"code":-32001,"message":"task not found"}"#;
        return Some(json(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)));
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let text = params.message.parts.first()?.text?.get();
    let (task, context) = (Uuid::now_v7(), Uuid::now_v7());
    if method == "SendMessage" {
        let task = done(&task, &context, text);
        return Some(json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"task":{task}}}}}"#)));
    }
    let begun = format!(r#"{{"id":"{task}","contextId":"{context}","status":{{"state":"TASK_STATE_WORKING"}}}}"#);
    let stream = TickStream { id: id.to_owned(), task, context, number: 0, ticks: ticks() };
    let said = text.trim_matches('"');
    let body = if said.starts_with(TICKS) {
        lock().texts.insert(task.to_string(), said.to_owned());
        AgentBody::Ticking { first: Some(stream.event("task", &begun)), stream: Box::new(stream) }
    } else {
        let whole = [stream.event("task", &begun), stream.event("task", &done(&task, &context, text))].concat();
        AgentBody::Whole(Some(whole.into()))
    };
    Some(of_type("text/event-stream", body))
}

/// A task that ended with what was said.
fn done(task: &Uuid, context: &Uuid, text: &str) -> String {
    format!(
        r#"{{"id":"{task}","contextId":"{context}","status":{{"state":"TASK_STATE_COMPLETED"}},"artifacts":[{{"artifactId":"{task}-1","name":"echo","parts":[{{"text":{text}}}]}}]}}"#
    )
}

fn ticks() -> Interval {
    let mut ticks = tokio::time::interval_at(Instant::now() + PAUSE, PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A task that says the time for ever.
struct TickStream {
    id: Box<RawValue>,
    task: Uuid,
    context: Uuid,
    number: usize,
    ticks: Interval,
}

impl TickStream {
    fn event(&self, kind: &str, value: &str) -> String {
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"{kind}\":{value}}}}}\n\n", self.id)
    }

    /// The next tick, with its number and the time.
    fn tick(&mut self) -> String {
        self.number += 1;
        let Self { task, context, number, .. } = self;
        let now = Timestamp::now();
        let status = format!(
            r#"{{"taskId":"{task}","contextId":"{context}","status":{{"state":"TASK_STATE_WORKING","message":{{"messageId":"{task}-{number}","role":"ROLE_AGENT","parts":[{{"text":"{TICK}{number} {now}"}}]}}}}}}"#
        );
        self.event("statusUpdate", &status)
    }
}

/// The body of an answer.
enum AgentBody {
    Whole(Option<Bytes>),
    Ticking { first: Option<String>, stream: Box<TickStream> },
}

impl Body for AgentBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let next = match self.get_mut() {
            Self::Whole(whole) => match whole.take() {
                Some(whole) => whole,
                None => return Poll::Ready(None),
            },
            Self::Ticking { first, stream } => match first.take() {
                Some(first) => first.into(),
                None => {
                    ready!(stream.ticks.poll_tick(cx));
                    stream.tick().into()
                }
            },
        };
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Whole(whole) => {
                hyper::body::SizeHint::with_exact(whole.as_ref().map_or(0, |whole| whole.len() as u64))
            }
            Self::Ticking { .. } => hyper::body::SizeHint::default(),
        }
    }
}

#[cfg(test)]
#[path = "remote_agent_tests.rs"]
mod tests;
