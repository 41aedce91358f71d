//! A call as a stream: progress and log lines as they come, then the result, questions or an error. A call that says nothing
//! before its end is answered without a stream, like any other. A caller that goes away cancels.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use openfang_kernel::{Caller, Kernel, KernelError, StreamRoom, ToolCall, Way, WayBack, questions};
use openfang_types::call::{CallListener, LogLevel, Outcome, ToldLog, ToldProgress};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ToolName;
use openfang_types::limits::MCP_TOLD;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::super::sse;
use crate::error::ApiError;

type Work = Pin<Box<dyn Future<Output = Result<Outcome<ToolOutput>, KernelError>> + Send>>;

/// Hears how a call goes. What comes faster than it is read is left out.
struct StreamListener(mpsc::Sender<Event>);

impl CallListener for StreamListener {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let told = ToldProgress { progress, total, message: message.map(str::to_owned) };
        let _ = self.0.try_send(sse::event("progress", &told));
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: &RawValue) {
        let told = ToldLog { level, logger: logger.map(str::to_owned), data: data.to_owned() };
        let _ = self.0.try_send(sse::event("log", &told));
    }

    fn level(&self) -> Option<LogLevel> {
        Some(LogLevel::Info)
    }
}

/// A call that is under way.
struct Calling {
    kernel: Kernel,
    caller: Caller,
    call: (ToolName, Value),
    work: Work,
    told: mpsc::Receiver<Event>,
    ended: Option<Event>,
    is_over: bool,
    _held: (StreamRoom, DropGuard),
}

/// Calls a tool for a caller that takes a stream.
pub(super) async fn stream(
    kernel: Kernel,
    caller: Caller,
    (name, arguments): (ToolName, Value),
    answered: Option<(BTreeMap<String, Box<RawValue>>, String)>,
) -> Result<Response, ApiError> {
    let resumed = match answered {
        Some((answers, state)) => {
            let resumed = kernel.answered_back(&caller, (&name, &arguments), (answers, &state));
            let wrong = || ApiError::bad_request("the state is not valid: call again without it");
            Some(Arc::new(resumed.ok_or_else(wrong)?))
        }
        None => None,
    };
    let room = kernel.room_for_a_stream(&caller)?;
    let (tell, told) = mpsc::channel(MCP_TOLD);
    let back = WayBack {
        listener: Some(Arc::new(StreamListener(tell))),
        client: questions::askable(),
        resumed,
        ..WayBack::default()
    };
    let cancel = CancellationToken::new();
    let held = (room, cancel.clone().drop_guard());
    let call = ToolCall { name: name.clone(), arguments: arguments.clone().into() };
    let work = {
        let (kernel, caller) = (kernel.clone(), caller.clone());
        Box::pin(async move { kernel.call_tool(&caller, call, Way { back, cancel }).await })
    };
    let limits = kernel.config().limits.clone();
    let mut calling =
        Calling { kernel, caller, call: (name, arguments), work, told, ended: None, is_over: false, _held: held };
    let first = tokio::select! {
        biased;
        Some(event) = calling.told.recv() => event,
        done = &mut calling.work => match done {
            Ok(Outcome::Done(output)) if calling.told.is_empty() => return Ok(Json(output).into_response()),
            Err(error) => return Err(error.into()),
            done => calling.last_after(done),
        },
    };
    let rest = stream::unfold(calling, |calling| calling.next());
    Ok(sse::many(futures_util::StreamExt::chain(stream::once(async { first }), rest), &limits))
}

impl Calling {
    /// The first event that is left, when the call has ended.
    fn last_after(&mut self, done: Result<Outcome<ToolOutput>, KernelError>) -> Event {
        let last = self.last(done);
        match self.told.try_recv() {
            Ok(event) => {
                self.ended = Some(last);
                event
            }
            Err(_) => {
                self.is_over = true;
                last
            }
        }
    }

    fn last(&self, done: Result<Outcome<ToolOutput>, KernelError>) -> Event {
        let (name, arguments) = &self.call;
        match done {
            Ok(Outcome::Done(output)) => sse::event("result", &output),
            Ok(Outcome::NeedsInput(needed)) => {
                sse::event("question", &self.kernel.ask_back(&self.caller, (name, arguments), needed))
            }
            Err(error) => sse::event("error", &ApiError::from(error).body()),
        }
    }

    /// The next event; what was told before the end comes before it.
    async fn next(mut self) -> Option<(Event, Self)> {
        if self.is_over {
            return None;
        }
        let event = match self.ended.take() {
            Some(last) => match self.told.try_recv() {
                Ok(event) => {
                    self.ended = Some(last);
                    event
                }
                Err(_) => {
                    self.is_over = true;
                    last
                }
            },
            None => tokio::select! {
                biased;
                Some(event) = self.told.recv() => event,
                done = &mut self.work => self.last_after(done),
            },
        };
        Some((event, self))
    }
}
