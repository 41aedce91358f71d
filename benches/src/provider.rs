//! The provider behind the measured agents: OpenAI Chat with minimal cost. What a conversation gets depends on its first
//! message: `steps N` is answered with a call of `add_numbers` until N results are there, `now` with the time at which
//! the answer was sent, `wait` with nothing for ever. How much of each request is the same as in the request before it is
//! at `/prefixes`.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use jiff::Timestamp;
use openfang_api::server::{self, Peer};
use openfang_types::limits::Limits;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How messages begin that want calls: the number of them follows.
pub(crate) const STEPS: &str = "steps ";
/// A message that wants the time.
pub(crate) const NOW: &str = "now";
/// A message that waits for ever.
pub(crate) const WAIT: &str = "wait";
/// How the answer to [`NOW`] begins.
pub(crate) const SENT: &str = "sent ";
pub(crate) const PREFIXES: &str = "/prefixes";

type AnswerBody = BoxBody<Bytes, std::convert::Infallible>;

/// The role: serves until it is killed, and prints its address to stdout.
pub(crate) fn run() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?)?;
        stdout.flush()?;
        let limits = Limits { connections: 10_000, ..Limits::default() };
        let answer = |_: Peer, request: Request<Incoming>| reply(request);
        server::serve(listener, &limits, CancellationToken::new(), answer).await;
        Ok(ExitCode::SUCCESS)
    })
}

async fn reply(request: Request<Incoming>) -> Result<Response<AnswerBody>, std::convert::Infallible> {
    let (head, body) = request.into_parts();
    if head.method == Method::GET {
        let shares = (head.uri.path() == PREFIXES).then(|| serde_json::to_string(&lock().shares).unwrap_or_default());
        return Ok(shares.map_or_else(not_there, |shares| of_type("application/json", whole(shares))));
    }
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    Ok(answer(&body).map_or_else(not_there, |body| of_type("text/event-stream", body)))
}

fn whole(text: String) -> AnswerBody {
    Full::new(Bytes::from(text)).boxed()
}

fn not_there() -> Response<AnswerBody> {
    let mut response = Response::new(whole(String::new()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn of_type(media_type: &'static str, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The relevant members of a request.
#[derive(Deserialize)]
struct ChatRequest {
    messages: Vec<ChatMessage>,
}

#[derive(Deserialize)]
struct ChatMessage {
    role: String,
    #[serde(default)]
    content: serde_json::Value,
}

/// The newest request of each conversation, and which part of it each request repeated.
#[derive(Default)]
struct RequestMemory {
    newest: HashMap<String, Bytes>,
    shares: Vec<f64>,
}

fn lock() -> MutexGuard<'static, RequestMemory> {
    static MEMORY: LazyLock<Mutex<RequestMemory>> = LazyLock::new(Mutex::default);
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The answer to a request; none if it is no request.
fn answer(body: &Bytes) -> Option<AnswerBody> {
    let request: ChatRequest = serde_json::from_slice(body).ok()?;
    let first = request.messages.iter().find(|message| message.role == "user")?;
    let wanted = first.content.as_str().map_or_else(|| first.content[0]["text"].as_str(), Some)?.to_owned();
    let results = request.messages.iter().filter(|message| message.role == "tool").count();
    Some(match wanted.strip_prefix(STEPS) {
        Some(steps) => {
            remember(&wanted, body);
            let steps: usize = steps.split(' ').next()?.parse().ok()?;
            whole(if results < steps { call(results) } else { text("Done.") })
        }
        None if wanted.starts_with(WAIT) => StreamBody::new(stream::pending::<Result<Frame<Bytes>, _>>()).boxed(),
        None => whole(text(&format!("{SENT}{}", Timestamp::now()))),
    })
}

/// Compares a request with the one before it.
fn remember(conversation: &str, body: &Bytes) {
    let mut memory = lock();
    if let Some(before) = memory.newest.insert(conversation.to_owned(), body.clone()) {
        memory.shares.push(shared(&before, body));
    }
}

/// Which part of the earlier request begins the later one. What closes the document cannot be part of it.
fn shared(before: &[u8], after: &[u8]) -> f64 {
    let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    same as f64 / before.len().max(1) as f64
}

fn call(number: usize) -> String {
    let arguments = json!({ "a": number, "b": 7 }).to_string();
    let function = json!({ "name": "add_numbers", "arguments": arguments });
    let calls = json!([{ "index": 0, "id": format!("call_{number}"), "type": "function", "function": function }]);
    events(&json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
}

fn text(text: &str) -> String {
    events(&json!({ "role": "assistant", "content": text }), "stop")
}

/// The events of an answer: one piece, the reason of its end, and what it took.
fn events(delta: &serde_json::Value, reason: &str) -> String {
    let chunk = |choices: serde_json::Value, usage: serde_json::Value| {
        let chunk = json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: &serde_json::Value, reason: Option<&str>| json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29 });
    let none = serde_json::Value::Null;
    [
        chunk(choice(delta, None), none.clone()),
        chunk(choice(&json!({}), Some(reason)), none),
        chunk(json!([]), usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
