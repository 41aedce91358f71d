//! A provider over HTTP. One request is sent once: who retries, and with what, decides the caller by the
//! [`Verdict`](crate::Verdict) of the error.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use openfang_egress::http::{HttpDoor, Patience, Redirects, Request, Response};
use openfang_types::limits::{HTTP_CONNECT, MODEL_ANSWER_MAX_BYTES, MODEL_IDLE, MODEL_REFUSAL_MAX_BYTES, MODEL_TOTAL};
use openfang_types::secret::REDACTED;
use tokio::time::timeout;

use crate::answer::{Delta, ModelAnswer};
use crate::endpoint::Endpoint;
use crate::error::ModelError;
use crate::refusal::{Refusal, RefusalKind};
use crate::request::ModelRequest;
use crate::wire::{Encoded, WireKind, encode};

/// A client for one provider. Clones share the connections.
#[derive(Clone)]
pub struct ModelClient {
    door: HttpDoor,
    endpoint: Endpoint,
    credentials: HeaderMap,
}

impl ModelClient {
    /// A client for an endpoint. Nothing is sent yet.
    pub fn new(door: HttpDoor, endpoint: Endpoint) -> Result<Self, ModelError> {
        door.guard().operator(&endpoint.base_url)?;
        let credentials = credentials(&endpoint)?;
        Ok(Self { door, endpoint, credentials })
    }

    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a request and reads its answer. Deltas are told as they arrive. Dropping the future closes the connection,
    /// which stops the provider.
    pub async fn answer(
        &self,
        request: &ModelRequest,
        told: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<ModelAnswer, ModelError> {
        let encoded = encode(self.endpoint.wire, request, &self.endpoint.quirks)?;
        let answer = timeout(MODEL_TOTAL, self.exchange(&encoded, told)).await;
        let answer = answer.unwrap_or(Err(ModelError::TookTooLong { after: MODEL_TOTAL }));
        answer.map_err(|error| self.explained(error, request))
    }

    async fn exchange(
        &self,
        encoded: &Encoded,
        told: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<ModelAnswer, ModelError> {
        let mut response = self.door.send(self.request(encoded)?).await?;
        if !response.status.is_success() {
            return Err(refused(response).await);
        }
        let header = |name: HeaderName| response.headers.get(name).and_then(|value| value.to_str().ok());
        let mut reader = encoded.reader(header(header::CONTENT_TYPE));
        let request_id = header(HeaderName::from_static("request-id"))
            .or_else(|| header(HeaderName::from_static("x-request-id")))
            .map(str::to_owned);
        response.body = response.body.at_most(MODEL_ANSWER_MAX_BYTES);
        while !reader.is_complete()
            && let Some(bytes) = response.body.chunk().await?
        {
            reader.push(&bytes, &mut |delta| told(delta))?;
        }
        let mut answer = reader.finish(&mut |delta| told(delta))?;
        answer.request_id = request_id.or(answer.request_id);
        Ok(answer)
    }

    fn request(&self, encoded: &Encoded) -> Result<Request, ModelError> {
        let url = self.door.guard().operator(&format!("{}{}", self.endpoint.base_url, encoded.path))?;
        let mut headers = self.credentials.clone();
        headers.extend(encoded.headers.clone());
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream, application/x-ndjson, */*"));
        let patience =
            Patience { connect: HTTP_CONNECT, first_byte: self.endpoint.first_byte, idle: MODEL_IDLE, total: None };
        Ok(Request::new(Method::POST, url)
            .headers(headers)
            .body(HeaderValue::from_static("application/json"), encoded.body.clone())
            .patience(patience)
            .redirects(Redirects::Unchanged)
            .for_events())
    }

    /// The error with the name of the tool that it is about, and without the key.
    fn explained(&self, error: ModelError, request: &ModelRequest) -> ModelError {
        let ModelError::Refused(mut refusal) = error else { return error };
        if let Some(key) = &self.endpoint.key
            && !key.expose().is_empty()
        {
            refusal.message = refusal.message.replace(key.expose(), REDACTED);
        }
        let tool = match refusal.kind {
            RefusalKind::BadTool { index } => request.tools.name_at(index).map(str::to_owned),
            _ => None,
        };
        match tool {
            Some(tool) => ModelError::ToolRejected { tool, refusal },
            None => ModelError::Refused(refusal),
        }
    }
}

/// The headers that carry the key, marked so that no redirect takes them elsewhere.
fn credentials(endpoint: &Endpoint) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    let Some(key) = &endpoint.key else { return Ok(headers) };
    let (name, value) = match endpoint.wire {
        WireKind::Anthropic => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
        WireKind::Gemini => (HeaderName::from_static("x-goog-api-key"), key.expose().to_owned()),
        WireKind::Responses | WireKind::Chat | WireKind::Ollama => {
            (header::AUTHORIZATION, format!("Bearer {}", key.expose()))
        }
    };
    let mut value = HeaderValue::from_str(value.trim()).map_err(|_| ModelError::BadKey)?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

async fn refused(response: Response) -> ModelError {
    let Response { status, headers, body, .. } = response;
    let mut body = body.at_most(MODEL_REFUSAL_MAX_BYTES);
    let mut held = Vec::new();
    // Whatever of the body cannot be had, the status alone says what to do.
    while let Ok(Some(bytes)) = body.chunk().await {
        held.extend_from_slice(&bytes);
    }
    Refusal::of(status, &headers, &held).into()
}
