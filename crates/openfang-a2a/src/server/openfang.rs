//! The routes of OpenFang's own dialect: the request is a message, the answer is a task without an envelope.

use http::{Response, StatusCode};
use openfang_types::ids::TaskName;
use openfang_types::scan::scan_text;
use serde::Serialize;
use serde_json::value::RawValue;

use super::http::{HttpBody, HttpRequest, JSON, whole};
use super::{RequestContext, RequestOutcome, Server, ServiceParameters};
use crate::dialect::{Dialect, InDialect};
use crate::error::A2aError;
use crate::host::AgentHost;
use crate::operation::{HistoryLength, Method, Operation, Request};

impl<H: AgentHost> Server<H> {
    /// `POST /a2a/tasks/send`: answers when the task has ended or waits for input.
    pub async fn openfang_send(&self, request: HttpRequest<H::Caller>) -> Response<HttpBody> {
        if !request.is_json {
            return not_json();
        }
        let asked = match read(&request.body) {
            Ok(asked) => asked,
            Err(error) => return refuse(status_of(&error), &error),
        };
        self.openfang(&request.caller, &request.parameters, asked).await
    }

    pub async fn openfang_get(&self, request: HttpRequest<H::Caller>, id: &str) -> Response<HttpBody> {
        self.openfang_task(request, id, |task| Operation::Get { task, history: HistoryLength::default() })
            .await
    }

    pub async fn openfang_cancel(&self, request: HttpRequest<H::Caller>, id: &str) -> Response<HttpBody> {
        // A web page of another origin can send this request without a preflight. It must not cancel anything.
        if !request.is_json {
            return not_json();
        }
        self.openfang_task(request, id, |task| Operation::Cancel { task }).await
    }

    async fn openfang_task(
        &self,
        request: HttpRequest<H::Caller>,
        id: &str,
        operation: impl FnOnce(TaskName) -> Operation,
    ) -> Response<HttpBody> {
        let decoded = percent_encoding::percent_decode_str(id).decode_utf8();
        let Some(task) = decoded.ok().and_then(|id| id.parse().ok()) else {
            return refuse(StatusCode::NOT_FOUND, &A2aError::TaskNotFound);
        };
        let asked = Request { tenant: None, operation: operation(task) };
        self.openfang(&request.caller, &request.parameters, asked).await
    }

    async fn openfang(&self, caller: &H::Caller, parameters: &ServiceParameters, asked: Request) -> Response<HttpBody> {
        let context = RequestContext { caller, agent: None, dialect: Dialect::OpenFang, parameters };
        match self.handle(&context, asked).await {
            Ok(RequestOutcome::Answer(answer)) => {
                let body = serde_json::to_vec(&InDialect(Dialect::OpenFang, &answer)).unwrap_or_default();
                whole(StatusCode::OK, JSON, body)
            }
            Ok(RequestOutcome::Stream(..)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &A2aError::Internal),
            Err(error) => refuse(status_of(&error), &error),
        }
    }
}

fn read(body: &[u8]) -> Result<Request, A2aError> {
    let text = scan_text(body).map_err(|error| A2aError::Parse(error.to_string()))?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| A2aError::Parse(error.to_string()))?;
    Dialect::OpenFang.decode(Method::Send, Some(raw))
}

fn status_of(error: &A2aError) -> StatusCode {
    match error {
        A2aError::NotCancelable(_) => StatusCode::CONFLICT,
        error => StatusCode::from_u16(error.status().0).unwrap_or(StatusCode::BAD_REQUEST),
    }
}

fn not_json() -> Response<HttpBody> {
    let error = A2aError::ContentType("send the header `Content-Type: application/json`".to_owned());
    refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error)
}

fn refuse(status: StatusCode, error: &A2aError) -> Response<HttpBody> {
    #[derive(Serialize)]
    struct Body {
        error: openfang_types::jsonrpc::ErrorObject,
    }
    let body = Body { error: Dialect::OpenFang.error(error) };
    whole(status, JSON, serde_json::to_vec(&body).unwrap_or_default())
}
