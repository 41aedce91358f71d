//! HTTP+JSON: paths and HTTP methods instead of RPC methods. Paths below `v1` are 0.3, all others 1.0. A path below an
//! agent's name addresses that agent. Paths are matched here, because no router can match `tasks/{id}:cancel`.

use http::{HeaderValue, Method as HttpMethod, Response, StatusCode, header};
use serde::Serialize;
use serde_json::value::RawValue;

use super::http::{HttpBody, HttpRequest, JSON, events, whole};
use super::stream::{EventEnvelope, EventFormat, SseBody};
use super::{RequestContext, RequestOutcome, Server, version};
use crate::answer::{Answer, StreamEvent};
use crate::dialect::{Dialect, InDialect};
use crate::error::A2aError;
use crate::host::AgentHost;
use crate::operation::Method;

use path::{Resource, RestPath};

mod body;
pub(crate) mod path;

const A2A_JSON: HeaderValue = HeaderValue::from_static("application/a2a+json");

/// Reads a request that a client wrote, as far as the server can read it without a host.
#[cfg(test)]
pub(crate) fn read_back(call: &crate::dialect::HttpCall) -> crate::operation::Request {
    let place = RestPath::of(&call.path).unwrap();
    let verb = call.verb.as_str().parse().unwrap();
    let method = place.resource.method(&verb, place.dialect).unwrap();
    let body = call.body.as_deref().map_or("", RawValue::get);
    let asked = body::read(&place, method, &call.query, body.as_bytes()).unwrap();
    crate::operation::Request { tenant: place.tenant.or(asked.tenant), ..asked }
}

/// A refusal with its HTTP status.
struct RestRefusal {
    status: Option<StatusCode>,
    error: A2aError,
    allow: Option<&'static str>,
}

impl From<A2aError> for RestRefusal {
    fn from(error: A2aError) -> Self {
        Self { status: None, error, allow: None }
    }
}

impl<H: AgentHost> Server<H> {
    /// Answers a request to a path below the base URL. The path has no leading slash.
    pub async fn rest(&self, request: HttpRequest<H::Caller>, path: &str) -> Response<HttpBody> {
        let place = RestPath::of(path);
        let dialect = place.as_ref().map_or(Dialect::V10, |place| place.dialect);
        // Plain JSON, unless the caller asks for the A2A media type.
        let media_type = if request.accepts.a2a_json { A2A_JSON } else { JSON };
        match self.asked_for(&request, place, &media_type).await {
            Ok(response) => response,
            Err(refused) => refuse(dialect, refused, media_type),
        }
    }

    async fn asked_for(
        &self,
        request: &HttpRequest<H::Caller>,
        place: Option<RestPath>,
        media_type: &HeaderValue,
    ) -> Result<Response<HttpBody>, RestRefusal> {
        let no_path = || RestRefusal::from(A2aError::MethodNotFound("at this path".to_owned()));
        let place = place.ok_or_else(no_path)?;
        version::stated(request.parameters.version.as_deref())?;
        let method = place.resource.method(&request.method, place.dialect).ok_or_else(|| RestRefusal {
            status: Some(StatusCode::METHOD_NOT_ALLOWED),
            error: A2aError::InvalidRequest("this path does not take that method; Allow says which".to_owned()),
            allow: Some(place.resource.allowed()),
        })?;
        if request.method == HttpMethod::POST && !request.is_json {
            let error = A2aError::ContentType("send the header `Content-Type: application/json`".to_owned());
            return Err(RestRefusal { status: Some(StatusCode::UNSUPPORTED_MEDIA_TYPE), error, allow: None });
        }
        // An agent in the path must exist. Only callers who may talk to it can find out.
        let tenant = place.tenant.as_deref().or_else(|| request.agent.as_ref().map(|agent| agent.as_str()));
        let agent = match tenant {
            Some(named) => Some(self.host.agent(&request.caller, named).ok_or_else(no_path)?),
            None => None,
        };
        let asked = body::read(&place, method, request.query.as_deref().unwrap_or_default(), &request.body)?;
        let context = RequestContext {
            caller: &request.caller,
            agent: agent.as_ref(),
            dialect: place.dialect,
            parameters: &request.parameters,
        };
        let outcome = self.handle(&context, asked).await?;
        Ok(self.shown(&context, method, outcome, media_type))
    }

    fn shown(
        &self,
        context: &RequestContext<'_, H::Caller>,
        method: Method,
        outcome: RequestOutcome,
        media_type: &HeaderValue,
    ) -> Response<HttpBody> {
        let dialect = context.dialect;
        let writing = EventFormat { dialect, wrapping: EventEnvelope::Bare, keep_alive: self.offers.keep_alive };
        match outcome {
            RequestOutcome::Stream(head, follower) => events(SseBody::of(head, follower, writing)),
            RequestOutcome::Answer(Answer::Replied(message)) if method == Method::Stream => {
                events(SseBody::one(&writing, StreamEvent::Reply(&message)))
            }
            RequestOutcome::Answer(answer) => {
                let body = serde_json::to_vec(&InDialect(dialect, &answer)).unwrap_or_default();
                whole(StatusCode::OK, media_type.clone(), body)
            }
        }
    }
}

fn refuse(dialect: Dialect, refused: RestRefusal, media_type: HeaderValue) -> Response<HttpBody> {
    let (own, _) = refused.error.status();
    let status = refused
        .status
        .or_else(|| StatusCode::from_u16(own).ok())
        .unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = whole(status, media_type, status_body(dialect, &refused.error, status.as_u16(), None));
    let headers = response.headers_mut();
    if let Some(allowed) = refused.allow {
        headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// The body of an error, in the form of `google.rpc.Status`.
pub(super) fn error_body(dialect: Dialect, error: &A2aError) -> Vec<u8> {
    status_body(dialect, error, error.status().0, None)
}

/// The same with the given HTTP status, and optionally another message.
pub fn status_body(dialect: Dialect, error: &A2aError, code: u16, words: Option<&str>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        error: Status<'a>,
    }
    #[derive(Serialize)]
    struct Status<'a> {
        code: u16,
        status: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<&'a RawValue>,
    }
    let (_, status) = error.status();
    // The details are the same as in JSON-RPC. Older dialects have none there.
    let detailed = if dialect == Dialect::V03Proto { Dialect::V10 } else { dialect };
    let object = detailed.error(error);
    let message = words.unwrap_or(&object.message);
    let body = Body { error: Status { code, status, message, details: object.data.as_deref() } };
    serde_json::to_vec(&body).unwrap_or_default()
}

impl Resource {
    /// The operation that an HTTP method on this resource stands for.
    fn method(&self, verb: &HttpMethod, dialect: Dialect) -> Option<Method> {
        let is_get = verb == HttpMethod::GET;
        let is_post = verb == HttpMethod::POST;
        match self {
            Self::Send if is_post => Some(Method::Send),
            Self::Stream if is_post => Some(Method::Stream),
            // The schema of 0.3 has no list operation, but its table of methods does.
            Self::Tasks if is_get => Some(Method::List),
            Self::Task(_) if is_get => Some(Method::Get),
            Self::Cancel(_) if is_post => Some(Method::Cancel),
            Self::Subscribe(_) if is_get || is_post => Some(Method::Subscribe),
            Self::Pushes(_) if is_post => Some(Method::SetPush),
            Self::Pushes(_) if is_get => Some(Method::ListPush),
            Self::Push(..) if is_get => Some(Method::GetPush),
            Self::Push(..) if verb == HttpMethod::DELETE => Some(Method::DeletePush),
            Self::ExtendedCard if is_get => Some(Method::ExtendedCard),
            Self::Card if is_get && dialect == Dialect::V03Proto => Some(Method::ExtendedCard),
            Self::Send
            | Self::Stream
            | Self::Tasks
            | Self::Task(_)
            | Self::Cancel(_)
            | Self::Subscribe(_)
            | Self::Pushes(_)
            | Self::Push(..)
            | Self::ExtendedCard
            | Self::Card => None,
        }
    }

    const fn allowed(&self) -> &'static str {
        match self {
            Self::Send | Self::Stream | Self::Cancel(_) => "POST",
            Self::Tasks | Self::Task(_) | Self::ExtendedCard | Self::Card => "GET",
            Self::Subscribe(_) | Self::Pushes(_) => "GET, POST",
            Self::Push(..) => "GET, DELETE",
        }
    }
}
