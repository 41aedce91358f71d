//! `web_fetch`: a resource of the web, as text that a model can read.

use std::collections::BTreeMap;
use std::sync::Arc;

use openfang_egress::http::{Caps, Patience, Redirects, Request, Response};
use openfang_types::background;
use openfang_types::call::{Arguments, Outcome};
use openfang_types::config::WebConfig;
use openfang_types::content::ToolOutput;
use openfang_types::limits::{WEB_FETCH_TOTAL, WEB_HOST_SHOWN_BYTES};
use openfang_types::taint::{Label, Labels, SinkKind};
use openfang_types::tool::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::{Tool, ToolFailure, ToolFuture, name, parse};
use crate::call_room::CallRoom;
use crate::context::CallContext;
use crate::pipeline::{Permit, may_follow_redirects};
use crate::web::page::{self, Content, Form};
use crate::web::{Web, refusal};

mod headers;

pub(super) struct WebFetch {
    pub(super) web: Arc<dyn Web>,
    pub(super) calls: Arc<CallRoom>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// An http or https URL.
    url: String,
    /// The method. Methods other than GET and HEAD are only sent to hosts that the operator has listed.
    #[serde(default)]
    method: Method,
    /// Headers of the request, at most 16. Credentials and headers of the connection are refused.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body of the request.
    body: Option<String>,
    /// The characters of text to return.
    #[schemars(range(min = 1))]
    max_chars: Option<usize>,
    /// The character to begin with, to go on where an earlier call ended.
    #[serde(default)]
    offset: usize,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    const fn is_reading(self) -> bool {
        match self {
            Self::Get | Self::Head => true,
            Self::Post | Self::Put | Self::Patch | Self::Delete => false,
        }
    }
}

impl From<Method> for http::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Head => Self::HEAD,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
            Method::Delete => Self::DELETE,
        }
    }
}

/// What is said of a response beside its text.
#[derive(Serialize, JsonSchema)]
struct FetchReport {
    /// The URL that answered, after redirects.
    url: String,
    status: u16,
    /// The media type of the response.
    content_type: String,
    /// The title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The size of the response in bytes.
    bytes: usize,
    /// The characters of the whole text.
    chars: usize,
    /// The offset at which the text goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

impl Tool for WebFetch {
    fn definition(&self) -> ToolDefinition {
        let says = "Fetches a URL and returns its content: HTML as Markdown, text and JSON as text, images as images. \
                    Reaches public addresses only. What it returns was written by strangers.";
        // A listed host may do anything when it is written to.
        ToolDefinition::of::<Args>(name("web_fetch"), says, SinkKind::Fetches, ToolAnnotations::ANYTHING)
            .returning::<FetchReport>()
    }

    fn sink(&self, arguments: &Value, usual: SinkKind) -> SinkKind {
        let method = arguments.get("method").and_then(Value::as_str);
        if matches!(method, None | Some("GET" | "HEAD")) { usual } else { SinkKind::SendsOut }
    }

    fn target<'v>(&self, arguments: &'v Value) -> Option<&'v str> {
        arguments.get("url").and_then(Value::as_str)
    }

    fn call<'a>(&'a self, cx: &'a CallContext, arguments: Arguments<'a>, _: Permit) -> ToolFuture<'a> {
        Box::pin(async move {
            let args: Args = parse(arguments)?;
            check_change(cx, args.method)?;
            let _room = self.calls.begin(cx.principal.owner())?;
            let door = self.web.door().map_err(ToolFailure::new)?;
            let url = door.guard().foreign(&args.url).map_err(|refused| refusal::of_url(&refused))?;
            let host = Url::parse(url.as_str())
                .ok()
                .and_then(|url| url.host_str().map(str::to_owned))
                .unwrap_or_default();
            let labels = Labels::one(
                Label::ExternalNetwork,
                format!("web_fetch of {}", &host[..host.floor_char_boundary(WEB_HOST_SHOWN_BYTES)]),
            );
            let request = request_of(&args, &host, &cx.config.web, Request::new(args.method.into(), url))?;
            // A redirect could carry data to a host that nobody looked at. A call of its own is judged.
            let request = if may_follow_redirects(cx) { request } else { request.redirects(Redirects::None) };
            let response = door.send(request).await;
            let response = response.map_err(|error| refusal::of_request(&error).labelled(labels.clone()))?;
            let output = self.read(response, &args).await.map_err(|failure| failure.labelled(labels.clone()))?;
            Ok(Outcome::Done(output.labelled(&labels)))
        })
    }
}

/// A change is never sent on the word of content from outside: the policy of this tool judges what only fetches.
fn check_change(cx: &CallContext, method: Method) -> Result<(), ToolFailure> {
    let labels = cx.context_labels();
    match labels.iter().find(|label| label.is_foreign()) {
        Some(label) if !method.is_reading() => {
            let method = http::Method::from(method);
            let why = format!("{method} is not sent while {label} content is in the context; only GET and HEAD are");
            Err(ToolFailure::new(why))
        }
        Some(_) | None => Ok(()),
    }
}

fn request_of(args: &Args, host: &str, config: &WebConfig, request: Request) -> Result<Request, ToolFailure> {
    let is_reading = args.method.is_reading();
    if !is_reading && !config.may_write_to(host) {
        let method = http::Method::from(args.method);
        let why =
            format!("{method} is not sent to {host}; only GET and HEAD are, unless [web] write_hosts lists the host");
        return Err(ToolFailure::new(why));
    }
    let mut headers = headers::checked(&args.headers)?;
    let media_type = headers.remove(http::header::CONTENT_TYPE);
    let patience = Patience { total: Some(WEB_FETCH_TOTAL), ..Patience::default() };
    let caps = Caps { decoded_bytes: config.fetch_bytes, ..Caps::default() };
    let request = request.headers(headers).patience(patience).caps(caps);
    // A redirect must not carry a change to a host that is not listed.
    let request = if is_reading { request } else { request.redirects(Redirects::None) };
    match &args.body {
        None => Ok(request),
        Some(_) if is_reading => Err(ToolFailure::new("a GET or HEAD request has no body; leave out `body`")),
        Some(body) => {
            headers::check_body(body)?;
            let text = http::HeaderValue::from_static("text/plain; charset=utf-8");
            Ok(request.body(media_type.unwrap_or(text), body.clone().into_bytes()))
        }
    }
}

impl WebFetch {
    async fn read(&self, response: Response, args: &Args) -> Result<ToolOutput, ToolFailure> {
        let Response { status, headers, target, body, .. } = response;
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let (content_type, location) = (header(http::header::CONTENT_TYPE), header(http::header::LOCATION));
        let bytes = body.bytes().await.map_err(|error| refusal::of_request(&error))?;
        let url = Url::parse(target.as_str())?;
        let size = bytes.len();
        let at = url.clone();
        // A large page takes a fraction of a second.
        let content =
            tokio::task::spawn_blocking(move || background::run(|| page::read(&bytes, &content_type, &at))).await?;
        let moved = if status.is_redirection() && !location.is_empty() { url.join(&location).ok() } else { None };
        Ok(output_of(content, ResponseHead { url, status, size, moved }, args))
    }
}

/// The head of a response.
struct ResponseHead {
    url: Url,
    status: http::StatusCode,
    size: usize,
    /// Where a redirect leads that was not followed.
    moved: Option<Url>,
}

fn output_of(content: Content, answered: ResponseHead, args: &Args) -> ToolOutput {
    let ResponseHead { url, status, size, moved } = answered;
    let Content { media_type, title, form } = content;
    let mut blocks = Vec::new();
    let mut remarks = Vec::new();
    let (mut chars, mut next_offset) = (0, None);
    match form {
        Form::Text { text, is_cut } => {
            let piece = Piece::of(&text, args);
            (chars, next_offset) = (piece.of, piece.next);
            blocks.push(piece.text.to_owned());
            if let Some(next) = piece.next {
                remarks.push(format!(
                    "{} of {} characters; call again with offset {next} for more",
                    piece.shown, piece.of
                ));
            }
            if is_cut {
                remarks.push("the page makes more text than is kept; the rest is left out".to_owned());
            }
        }
        Form::Block(block) => {
            let output = ToolOutput::of_blocks(vec![block]);
            return described(output, status, FetchReport::new(&url, status, (media_type, title), size));
        }
        Form::Opaque if size == 0 => {}
        Form::Opaque => {
            remarks.push(format!("the response is {media_type}, {size} bytes, which is neither text nor an image"))
        }
    }
    if let Some(moved) = moved {
        remarks
            .push(format!("the response redirects to {moved}, which is not followed; fetch it in a call of its own"));
    }
    if !status.is_success() {
        blocks.insert(0, format!("the server answered {status}"));
    }
    blocks.extend(remarks.into_iter().map(|remark| format!("[{remark}]")));
    blocks.retain(|text| !text.is_empty());
    let fetched = FetchReport::new(&url, status, (media_type, title), size);
    described(ToolOutput::text(blocks.join("\n\n")), status, FetchReport { chars, next_offset, ..fetched })
}

fn described(mut output: ToolOutput, status: http::StatusCode, fetched: FetchReport) -> ToolOutput {
    output.is_error = status.is_client_error() || status.is_server_error();
    output.with_structured(&fetched)
}

impl FetchReport {
    fn new(url: &Url, status: http::StatusCode, (content_type, title): (String, Option<String>), bytes: usize) -> Self {
        let status = status.as_u16();
        Self { url: url.to_string(), status, content_type, title, bytes, chars: 0, next_offset: None }
    }
}

/// A part of a text.
struct Piece<'a> {
    text: &'a str,
    shown: usize,
    /// The characters of the whole text.
    of: usize,
    /// The character after the part, unless the text ends there.
    next: Option<usize>,
}

impl<'a> Piece<'a> {
    fn of(text: &'a str, args: &Args) -> Self {
        let of = text.chars().count();
        let at = |char: usize| text.char_indices().nth(char).map_or(text.len(), |(at, _)| at);
        let end = args.max_chars.map_or(of, |most| args.offset.saturating_add(most)).min(of);
        let shown = end.saturating_sub(args.offset);
        let text = if shown == 0 { "" } else { &text[at(args.offset)..at(end)] };
        Self { text, shown, of, next: (end < of).then_some(end) }
    }
}

#[cfg(test)]
#[path = "web_fetch_tests.rs"]
mod tests;
