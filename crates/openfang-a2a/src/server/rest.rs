//! HTTP+JSON: paths and verbs instead of methods. Below `v1` it is 0.3, otherwise 1.0; below an agent's name it is that
//! agent's. Paths are matched here: no router can match `tasks/{id}:cancel`.

use http::{HeaderValue, Method as HttpMethod, Response, StatusCode, header};
use serde::Serialize;
use serde_json::value::RawValue;

use super::http::{HttpBody, HttpRequest, JSON, events, whole};
use super::stream::{EventBody, Wrapping, Writing};
use super::{Asking, Outcome, Server, version};
use crate::answer::{Answer, Shown};
use crate::dialect::{Dialect, In};
use crate::error::A2aError;
use crate::host::AgentHost;
use crate::operation::Method;

use path::{Place, Resource};

mod body;
pub(crate) mod path;

const A2A_JSON: HeaderValue = HeaderValue::from_static("application/a2a+json");

/// Reads a request that a client wrote, as far as the server reads it alone.
#[cfg(test)]
pub(crate) fn read_back(call: &crate::dialect::HttpCall) -> crate::operation::Request {
    let place = Place::of(&call.path).unwrap();
    let verb = call.verb.as_str().parse().unwrap();
    let method = place.resource.method(&verb, place.dialect).unwrap();
    let body = call.body.as_deref().map_or("", RawValue::get);
    let asked = body::read(&place, method, &call.query, body.as_bytes()).unwrap();
    crate::operation::Request { tenant: place.tenant.or(asked.tenant), ..asked }
}

/// A refusal, with the status that it has beside its own.
struct Refused {
    status: Option<StatusCode>,
    error: A2aError,
    allow: Option<&'static str>,
}

impl From<A2aError> for Refused {
    fn from(error: A2aError) -> Self {
        Self { status: None, error, allow: None }
    }
}

impl<H: AgentHost> Server<H> {
    /// Answers a request to a path below the base, without a slash at its beginning.
    pub async fn rest(&self, request: HttpRequest<H::Caller>, path: &str) -> Response<HttpBody> {
        let place = Place::of(path);
        let dialect = place.as_ref().map_or(Dialect::V10, |place| place.dialect);
        // What everybody reads, unless the caller asks for the type of A2A.
        let media_type = if request.accepts.a2a_json { A2A_JSON } else { JSON };
        match self.asked_for(&request, place, &media_type).await {
            Ok(response) => response,
            Err(refused) => refuse(dialect, refused, media_type),
        }
    }

    async fn asked_for(
        &self,
        request: &HttpRequest<H::Caller>,
        place: Option<Place>,
        media_type: &HeaderValue,
    ) -> Result<Response<HttpBody>, Refused> {
        let no_path = || Refused::from(A2aError::MethodNotFound("at this path".to_owned()));
        let place = place.ok_or_else(no_path)?;
        version::stated(request.parameters.version.as_deref())?;
        let method = place.resource.method(&request.method, place.dialect).ok_or_else(|| Refused {
            status: Some(StatusCode::METHOD_NOT_ALLOWED),
            error: A2aError::InvalidRequest("this path does not take that method; Allow says which".to_owned()),
            allow: Some(place.resource.allowed()),
        })?;
        if request.method == HttpMethod::POST && !request.is_json {
            let error = A2aError::ContentType("send the header `Content-Type: application/json`".to_owned());
            return Err(Refused { status: Some(StatusCode::UNSUPPORTED_MEDIA_TYPE), error, allow: None });
        }
        // An agent that the path names must be there; whether it is shows only to who may talk to it.
        let tenant = place.tenant.as_deref().or_else(|| request.agent.as_ref().map(|agent| agent.as_str()));
        let agent = match tenant {
            Some(named) => Some(self.host.agent(&request.caller, named).ok_or_else(no_path)?),
            None => None,
        };
        let asked = body::read(&place, method, request.query.as_deref().unwrap_or_default(), &request.body)?;
        let asking = Asking {
            caller: &request.caller,
            agent: agent.as_ref(),
            dialect: place.dialect,
            parameters: &request.parameters,
        };
        let outcome = self.carry_out(&asking, asked).await?;
        Ok(self.shown(&asking, method, outcome, media_type))
    }

    fn shown(
        &self,
        asking: &Asking<'_, H::Caller>,
        method: Method,
        outcome: Outcome,
        media_type: &HeaderValue,
    ) -> Response<HttpBody> {
        let dialect = asking.dialect;
        let writing = Writing { dialect, wrapping: Wrapping::Bare, keep_alive: self.offers.keep_alive };
        match outcome {
            Outcome::Stream(head, follower) => events(EventBody::of(head, follower, writing)),
            Outcome::Answer(Answer::Replied(message)) if method == Method::Stream => {
                events(EventBody::one(&writing, Shown::Reply(&message)))
            }
            Outcome::Answer(answer) => {
                let body = serde_json::to_vec(&In(dialect, &answer)).unwrap_or_default();
                whole(StatusCode::OK, media_type.clone(), body)
            }
        }
    }
}

fn refuse(dialect: Dialect, refused: Refused, media_type: HeaderValue) -> Response<HttpBody> {
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

/// The body of an error, as `google.rpc.Status` writes it.
pub(super) fn error_body(dialect: Dialect, error: &A2aError) -> Vec<u8> {
    status_body(dialect, error, error.status().0, None)
}

/// The same with the status that the response has, and perhaps in other words.
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
    // The details are those of JSON-RPC; older dialects have none there.
    let detailed = if dialect == Dialect::V03Proto { Dialect::V10 } else { dialect };
    let object = detailed.error(error);
    let message = words.unwrap_or(&object.message);
    let body = Body { error: Status { code, status, message, details: object.data.as_deref() } };
    serde_json::to_vec(&body).unwrap_or_default()
}

impl Resource {
    /// What a verb on this resource means.
    fn method(&self, verb: &HttpMethod, dialect: Dialect) -> Option<Method> {
        let is_get = verb == HttpMethod::GET;
        let is_post = verb == HttpMethod::POST;
        match self {
            Self::Send if is_post => Some(Method::Send),
            Self::Stream if is_post => Some(Method::Stream),
            // 0.3 lists nothing in its schema, and in its table it does.
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
