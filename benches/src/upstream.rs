//! The upstream behind the compared gateways: an MCP server of both eras with minimal cost, one echo tool and any
//! number of other tools. `upstream stdio` uses lines, `upstream http` uses Streamable HTTP without sessions. `silent`
//! and `crashing` start like the others, then never answer or crash.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use openfang_api::server::{self, Peer};
use openfang_types::limits::Limits;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The tool that is called.
pub(crate) const ECHO: &str = "echo";
/// Tools of one page of the list.
const PAGE: usize = 1_000;

/// The behavior of an upstream when a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpstreamBehavior {
    Answers,
    Silent,
    Crashing,
}

/// The role: `upstream (stdio|http|silent|crashing) TOOLS`.
pub(crate) fn run(kind: &str, tools: &str) -> Result<ExitCode> {
    let tools = tools.parse().context("how many tools?")?;
    match kind {
        "stdio" => lines(&Upstream { tools, manner: UpstreamBehavior::Answers }),
        "silent" => lines(&Upstream { tools, manner: UpstreamBehavior::Silent }),
        "crashing" => lines(&Upstream { tools, manner: UpstreamBehavior::Crashing }),
        "http" => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(listen(Arc::new(Upstream { tools, manner: UpstreamBehavior::Answers })))
        }
        unknown => bail!("no upstream is `{unknown}`"),
    }
}

/// A server with this many tools.
struct Upstream {
    tools: usize,
    manner: UpstreamBehavior,
}

/// The relevant members of a message, borrowed from it.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// What is read of the parameters.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Option<Arguments<'a>>,
    #[serde(borrow, default)]
    cursor: Option<&'a str>,
    #[serde(borrow, default)]
    protocol_version: Option<&'a str>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
}

impl Upstream {
    /// The answer to a message; none for a notification.
    fn answer(&self, message: &[u8]) -> Option<String> {
        let message: Message<'_> = serde_json::from_slice(message).ok()?;
        let (id, method) = (message.id?, message.method?);
        let params = message.params.and_then(|params| serde_json::from_str(params.get()).ok());
        let params: Params<'_> = params.unwrap_or_default();
        let result = match method {
            "tools/call" => match self.manner {
                UpstreamBehavior::Answers => called(&params),
                UpstreamBehavior::Silent => return None,
                UpstreamBehavior::Crashing => std::process::exit(3),
            },
            "tools/list" => self.listed(params.cursor.and_then(|from| from.parse().ok()).unwrap_or(0)),
            "initialize" => initialized(&params),
            "server/discover" => DISCOVERED.to_owned(),
            "ping" => "{}".to_owned(),
            _ => return Some(unknown(id)),
        };
        Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"))
    }

    /// A page of the list, for modern and legacy clients.
    fn listed(&self, from: usize) -> String {
        let to = self.tools.min(from.saturating_add(PAGE));
        let page: Vec<String> = (from..to).map(definition).collect();
        let next = if to < self.tools { format!(",\"nextCursor\":\"{to}\"") } else { String::new() };
        format!("{{\"resultType\":\"complete\",\"tools\":[{}]{next}}}", page.join(","))
    }
}

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench-upstream","version":"1"}}}"#;

fn initialized(params: &Params<'_>) -> String {
    let version = params.protocol_version.unwrap_or("2025-11-25");
    format!(
        "{{\"protocolVersion\":\"{version}\",\"capabilities\":{{\"tools\":{{}}}},\
         \"serverInfo\":{{\"name\":\"bench-upstream\",\"version\":\"1\"}}}}"
    )
}

fn called(params: &Params<'_>) -> String {
    let text = params
        .arguments
        .as_ref()
        .and_then(|arguments| arguments.text)
        .map_or("\"\"", RawValue::get);
    format!("{{\"resultType\":\"complete\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}")
}

fn unknown(id: &RawValue) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no such method\"}}}}")
}

/// The definition of a tool; the first one is the tool that is called.
pub(crate) fn definition(number: usize) -> String {
    let name = if number == 0 { ECHO.to_owned() } else { format!("look_up_record_{number:05}") };
    format!(
        "{{\"name\":\"{name}\",\"description\":\"Looks up records of the kind {number} and gives back what is known of \
         each, newest first, as far as the caller may see it.\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"text\":{{\"type\":\"string\",\
         \"description\":\"What to look for.\"}},\"limit\":{{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\
         \"description\":\"How many at most.\"}},\"kinds\":{{\"type\":\"array\",\"items\":{{\"type\":\"string\",\"enum\":\
         [\"open\",\"closed\",\"all\"]}}}}}},\"required\":[\"text\"]}},\"annotations\":{{\"readOnlyHint\":true}}}}"
    )
}

/// The size of the definitions of this many tools.
pub(crate) fn definition_bytes(tools: usize) -> usize {
    (0..tools).map(|number| definition(number).len()).sum()
}

/// Each line is a message. Answers are flushed when no further line is pending.
fn lines(upstream: &Upstream) -> Result<ExitCode> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(answer) = upstream.answer(&line) {
            answers.extend_from_slice(answer.as_bytes());
            answers.push(b'\n');
        }
        line.clear();
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Serves until it is killed, and prints its address to stdout.
async fn listen(upstream: Arc<Upstream>) -> Result<ExitCode> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?)?;
    stdout.flush()?;
    let answer = move |_: Peer, request: Request<Incoming>| reply(Arc::clone(&upstream), request);
    server::serve(listener, &Limits::default(), CancellationToken::new(), answer).await;
    Ok(ExitCode::SUCCESS)
}

async fn reply(
    upstream: Arc<Upstream>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
    let mut response = Response::new(Full::default());
    if request.method() != Method::POST {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        return Ok(response);
    }
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    match upstream.answer(&body) {
        Some(answer) => {
            let json = http::HeaderValue::from_static("application/json");
            response.headers_mut().insert(http::header::CONTENT_TYPE, json);
            *response.body_mut() = Full::new(answer.into());
        }
        None => *response.status_mut() = StatusCode::ACCEPTED,
    }
    Ok(response)
}

#[cfg(test)]
#[path = "upstream_tests.rs"]
mod tests;
