//! JSON-RPC: one endpoint for all versions. The method name determines the dialect, then the version header, then the
//! dialect in which the task was created.

use http::{HeaderValue, Method as HttpMethod, Response, StatusCode, header};
use openfang_types::ids::TaskName;
use openfang_types::jsonrpc::{Id, IdRule, Incoming, RpcError, decode, encode_error, encode_result};
use openfang_types::task::Origin;
use serde_json::value::RawValue;

use super::http::{HttpBody, HttpRequest, JSON, events, whole};
use super::stream::{EventEnvelope, EventFormat, SseBody};
use super::{RequestContext, RequestOutcome, Server, version};
use crate::answer::{Answer, StreamEvent};
use crate::dialect::{Dialect, InDialect};
use crate::error::A2aError;
use crate::host::AgentHost;
use crate::operation::{Method, Operation, Request};

/// How many characters of an unknown method name are repeated in the answer.
const METHOD_SHOWN_CHARS: usize = 128;

/// A refusal with everything its response needs.
struct RpcRefusal {
    id: Option<Id>,
    dialect: Dialect,
    status: StatusCode,
    error: A2aError,
    /// Whether the client accepts nothing but events.
    is_event: bool,
}

impl<H: AgentHost> Server<H> {
    /// Answers a JSON-RPC request.
    pub async fn rpc(&self, request: HttpRequest<H::Caller>) -> Response<HttpBody> {
        if request.method != HttpMethod::POST {
            let mut response = refuse(&RpcRefusal {
                id: None,
                dialect: Dialect::V10,
                status: StatusCode::METHOD_NOT_ALLOWED,
                error: A2aError::InvalidRequest("this endpoint accepts only POST".to_owned()),
                is_event: false,
            });
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        match self.called(&request).await {
            Ok(response) => response,
            Err(refused) => refuse(&refused),
        }
    }

    async fn called(&self, request: &HttpRequest<H::Caller>) -> Result<Response<HttpBody>, RpcRefusal> {
        let stated = version::stated(request.parameters.version.as_deref());
        let plain = stated.clone().ok().flatten().unwrap_or(Dialect::V10);
        let refused = |id, dialect, error| RpcRefusal { id, dialect, status: StatusCode::OK, error, is_event: false };
        if !request.is_json {
            let error = A2aError::ContentType("send the header `Content-Type: application/json`".to_owned());
            return Err(RpcRefusal { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, ..refused(None, plain, error) });
        }
        let incoming = decode(&request.body, IdRule::A2a);
        let (id, name, params) = match incoming {
            Ok(Incoming::Request { id, method, params }) => (id, method, params),
            Ok(Incoming::Notification { method, params }) => {
                return Err(refused(None, plain, unanswerable(&method, params)));
            }
            Ok(Incoming::Response { .. }) => {
                return Err(refused(
                    None,
                    plain,
                    A2aError::InvalidRequest("expected a request, got a response".to_owned()),
                ));
            }
            Err(error) => return Err(refused(error.id().cloned(), plain, unread(&error))),
        };
        let stated = stated.map_err(|error| refused(Some(id.clone()), plain, error))?;
        let Some(resolved) = ResolvedMethod::of(&name, stated) else {
            return Err(refused(Some(id), plain, A2aError::MethodNotFound(shortened(&name))));
        };
        let decoded = resolved.dialect.decode(resolved.method, params);
        let asked = decoded.map_err(|error| refused(Some(id.clone()), resolved.dialect, error))?;
        let dialect = if resolved.is_shared { self.dialect_of(request, &asked).await } else { resolved.dialect };
        let context = RequestContext {
            caller: &request.caller,
            agent: request.agent.as_ref(),
            dialect,
            parameters: &request.parameters,
        };
        let outcome = self.handle(&context, asked).await;
        let is_event = resolved.is_streamed() && request.accepts.events_only;
        let outcome = outcome.map_err(|error| RpcRefusal { is_event, ..refused(Some(id.clone()), dialect, error) })?;
        Ok(self.answered(&context, resolved.method, id, outcome))
    }

    /// The dialect for a method that 0.1 and 0.3 share: that of the task. A missing task counts as 0.3.
    async fn dialect_of(&self, request: &HttpRequest<H::Caller>, asked: &Request) -> Dialect {
        let Some(task) = named_task(&asked.operation) else { return Dialect::V03 };
        match self
            .host
            .task(&request.caller, request.agent.as_ref(), task)
            .await
            .map(|held| held.origin)
        {
            Ok(Origin::V01 | Origin::OpenFangA2a) => Dialect::V01,
            Ok(Origin::V03 | Origin::V10 | Origin::OpenFang) | Err(_) => Dialect::V03,
        }
    }

    fn answered(
        &self,
        context: &RequestContext<'_, H::Caller>,
        method: Method,
        id: Id,
        outcome: RequestOutcome,
    ) -> Response<HttpBody> {
        let dialect = context.dialect;
        let writing =
            |id| EventFormat { dialect, wrapping: EventEnvelope::Rpc(id), keep_alive: self.offers.keep_alive };
        match outcome {
            RequestOutcome::Stream(head, follower) => events(SseBody::of(head, follower, writing(id))),
            RequestOutcome::Answer(Answer::Replied(message)) if method == Method::Stream => {
                events(SseBody::one(&writing(id), StreamEvent::Reply(&message)))
            }
            RequestOutcome::Answer(answer) => {
                whole(StatusCode::OK, JSON, encode_result(&id, &InDialect(dialect, &answer)))
            }
        }
    }
}

/// A method name, resolved to a dialect and an operation.
struct ResolvedMethod {
    dialect: Dialect,
    method: Method,
    /// Whether 0.1 and 0.3 both have this name and the client did not state a version.
    is_shared: bool,
}

impl ResolvedMethod {
    /// Whether the answer is a stream in a dialect whose clients expect errors as events.
    fn is_streamed(&self) -> bool {
        matches!(self.method, Method::Stream | Method::Subscribe) && self.dialect != Dialect::V10
    }

    fn of(name: &str, stated: Option<Dialect>) -> Option<Self> {
        let find = |dialect: Dialect| {
            let found = dialect.methods().iter().find(|(known, _)| *known == name);
            found.map(|(_, method)| (dialect, *method))
        };
        let (newest, older, oldest) = (find(Dialect::V10), find(Dialect::V03), find(Dialect::V01));
        let is_shared = older.is_some() && oldest.is_some();
        let stated = stated
            .filter(|stated| matches!(stated, Dialect::V01 | Dialect::V03))
            .filter(|_| is_shared);
        let (dialect, method) = stated.and_then(find).or(newest).or(older).or(oldest)?;
        Some(Self { dialect, method, is_shared: is_shared && stated.is_none() })
    }
}

const fn named_task(operation: &Operation) -> Option<&TaskName> {
    match operation {
        Operation::Get { task, .. } | Operation::Cancel { task } | Operation::Subscribe { task } => Some(task),
        Operation::Send(_)
        | Operation::List(_)
        | Operation::SetPush { .. }
        | Operation::GetPush { .. }
        | Operation::ListPush { .. }
        | Operation::DeletePush { .. }
        | Operation::ExtendedCard => None,
    }
}

/// The error for a request without an id. The request is not executed, but the client is told why.
fn unanswerable(name: &str, params: Option<&RawValue>) -> A2aError {
    let Some(resolved) = ResolvedMethod::of(name, None) else { return A2aError::MethodNotFound(shortened(name)) };
    let needs_id = || A2aError::InvalidRequest("a request needs an id".to_owned());
    resolved.dialect.decode(resolved.method, params).err().unwrap_or_else(needs_id)
}

fn shortened(name: &str) -> String {
    name.chars().take(METHOD_SHOWN_CHARS).collect()
}

/// The A2A error for a frame that is not a request.
fn unread(error: &RpcError) -> A2aError {
    let object = error.to_error_object();
    match error {
        RpcError::NotJson(error) => A2aError::Parse(error.to_string()),
        RpcError::BadRequest { .. } | RpcError::BadResponse { .. } if object.code == -32_602 => {
            A2aError::invalid("params", object.message)
        }
        RpcError::BadRequest { fault, .. } | RpcError::BadResponse { fault, .. } => {
            A2aError::InvalidRequest(fault.to_string())
        }
    }
}

fn refuse(refused: &RpcRefusal) -> Response<HttpBody> {
    let object = refused.dialect.error(&refused.error);
    let frame = encode_error(refused.id.as_ref(), &object);
    if refused.is_event { events(SseBody::single_frame(&frame)) } else { whole(refused.status, JSON, frame) }
}
