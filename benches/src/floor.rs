//! The floor: the minimum work for the same response. It uses the product's accept loop, reads the body, parses it as
//! JSON without copying, and returns bytes recorded from the product. The difference is the product's own work: routes,
//! auth, limits, checks, audit, metrics.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use openfang_api::server::{self, Peer};
use openfang_types::limits::Limits;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Headers that hyper adds by itself.
const WRITTEN_BY_HYPER: &[&str] = &["date", "content-length", "connection"];

type Answered = Result<Response<Full<Bytes>>, std::convert::Infallible>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// The shapes of the measured requests. Their content is borrowed and scanned completely.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl Call<'_> {
    /// Whether it is a tool call or a JSON-RPC call.
    fn is_one(&self) -> bool {
        std::hint::black_box(self.arguments).is_some()
            || (self.method.is_some() && std::hint::black_box(self.params).is_some())
    }
}

impl Answer {
    /// The product's response, without the headers that the floor's server adds.
    pub(crate) fn recorded(status: u16, headers: Vec<(String, String)>, body: &[u8]) -> Result<Self> {
        let headers = headers
            .into_iter()
            .filter(|(name, _)| !WRITTEN_BY_HYPER.contains(&name.as_str()))
            .collect();
        let body = std::str::from_utf8(body)
            .context("the product answered something that is not UTF-8")?
            .to_owned();
        Ok(Self { status, headers, body })
    }

    fn response(&self) -> Result<Response<Full<Bytes>>> {
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        Ok(response.body(Full::new(Bytes::from(self.body.clone())))?)
    }
}

/// The role: serves until it is killed, and prints its address to stdout.
pub(crate) fn run(answer: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(answer).with_context(|| format!("cannot read {}", answer.display()))?;
    let answer: Answer = serde_json::from_str(&text)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?)?;
        stdout.flush()?;
        serve(listener, answer.response()?).await
    })
}

async fn serve(listener: TcpListener, response: Response<Full<Bytes>>) -> Result<ExitCode> {
    let response = Arc::new(response);
    let answer = move |_: Peer, request: Request<Incoming>| reply(request, response.clone());
    server::serve(listener, &Limits::default(), CancellationToken::new(), answer).await;
    Ok(ExitCode::SUCCESS)
}

async fn reply(request: Request<Incoming>, answer: Arc<Response<Full<Bytes>>>) -> Answered {
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let mut response = Response::clone(&answer);
    if !serde_json::from_slice::<Call<'_>>(&body).is_ok_and(|call| call.is_one()) {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    Ok(response)
}

#[cfg(test)]
#[path = "floor_tests.rs"]
mod tests;
