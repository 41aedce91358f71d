//! rmcp as a client: does the job of the command line and prints one line of JSON, the same as the other drivers'.
//! Progress is always asked for, since rmcp puts a token on every request; `--progress` only shows it.

mod job;

use std::error::Error;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use job::{Era, Job};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    GetPromptRequestParams, Implementation, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient, serve_client_with_lifecycle};
use serde_json::{Map, Value, json};

/// What the server told us out of turn.
#[derive(Clone, Default)]
struct Listener {
    answer: Option<Value>,
    progress: Arc<Mutex<Vec<f64>>>,
    elicitations: Arc<Mutex<Vec<String>>>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.answer {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("client_rmcp", "1.0.0"))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        lock(&self.progress).push(params.progress);
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(answer) = &self.answer else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            lock(&self.elicitations).push(message);
        }
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answer.clone()))
    }
}

type Client = RunningService<RoleClient, Listener>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            let mut cause = error.source();
            while let Some(inner) = cause {
                eprintln!("  {inner}");
                cause = inner.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<Value, Box<dyn Error>> {
    let job = Job::parse(std::env::args().skip(1))?;
    let listener = Listener { answer: job.elicit.clone(), ..Listener::default() };
    let client = connect(&job, listener.clone()).await?;
    let info = client.peer_info().ok_or("connected, but nothing is known of the server")?;
    let offers = &info.capabilities;
    let tools = if offers.tools.is_some() { client.list_all_tools().await? } else { Vec::new() };
    let prompts = if offers.prompts.is_some() { client.list_all_prompts().await? } else { Vec::new() };
    let resources = if offers.resources.is_some() { client.list_all_resources().await? } else { Vec::new() };
    let (mut calls, mut got_prompts, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for (name, arguments) in &job.calls {
        calls.push(called(&job, &client, &listener, (name, object(arguments)?)).await?);
    }
    for (name, arguments) in &job.prompts {
        let params = GetPromptRequestParams::new(name).with_arguments(object(arguments)?);
        got_prompts.push(answer_or_error(name, client.get_prompt(params).await, &["messages"])?);
    }
    for uri in &job.reads {
        let result = client.read_resource(ReadResourceRequestParams::new(uri)).await;
        read.push(answer_or_error(uri, result, &["contents"])?);
    }
    let report = json!({
        "sdk": "rmcp",
        "protocolVersion": info.protocol_version,
        "serverName": info.server_info.as_ref().map(|server| &server.name),
        "tools": tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "prompts": prompts.iter().map(|prompt| &prompt.name).collect::<Vec<_>>(),
        "resources": resources.iter().map(|resource| &resource.uri).collect::<Vec<_>>(),
        "calls": calls,
        "gotPrompts": got_prompts,
        "read": read,
        "elicitations": *lock(&listener.elicitations),
    });
    client.cancel().await?;
    Ok(report)
}

async fn connect(job: &Job, listener: Listener) -> Result<Client, Box<dyn Error>> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match job.era {
        Era::Auto => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => ClientLifecycleMode::Discover { preferred_versions },
    };
    if let Some(url) = &job.http {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
        for (name, value) in &job.headers {
            config.custom_headers.insert(name.parse()?, value.parse()?);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        return Ok(serve_client_with_lifecycle(listener, transport, lifecycle).await?);
    }
    let (program, arguments) = job.server.split_first().ok_or("no command")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).envs(job.env.iter().map(|(key, value)| (key, value)));
    let (transport, _) = TokioChildProcess::builder(command).stderr(Stdio::inherit()).spawn()?;
    Ok(serve_client_with_lifecycle(listener, transport, lifecycle).await?)
}

/// One tool call: its result, the progress seen, or that it was cancelled. A call that is dropped is cancelled.
async fn called(
    job: &Job,
    client: &Client,
    listener: &Listener,
    (name, arguments): (&str, Map<String, Value>),
) -> Result<Value, Box<dyn Error>> {
    lock(&listener.progress).clear();
    let call = client.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(arguments));
    let mut answer = match job.cancel_after_ms {
        None => tool_answer(name, call.await)?,
        Some(after) => match tokio::time::timeout(Duration::from_millis(after), call).await {
            Ok(result) => tool_answer(name, result)?,
            Err(_) => {
                // The connection must survive it; and closing it at once would overtake the notification.
                client.list_tools(None).await?;
                json!({ "name": name, "cancelled": true })
            }
        },
    };
    let seen = if job.progress { lock(&listener.progress).clone() } else { Vec::new() };
    answer["progress"] = json!(seen);
    Ok(answer)
}

fn tool_answer(name: &str, result: Result<impl serde::Serialize, ServiceError>) -> Result<Value, Box<dyn Error>> {
    let mut answer = answer_or_error(name, result, &["content", "structuredContent", "isError"])?;
    if answer.get("isError").is_some_and(Value::is_null) {
        answer["isError"] = json!(false);
    }
    Ok(answer)
}

/// The named members of what the server answers; a JSON-RPC error is an answer too.
fn answer_or_error(
    name: &str,
    result: Result<impl serde::Serialize, ServiceError>,
    members: &[&str],
) -> Result<Value, Box<dyn Error>> {
    let mut answer = json!({ "name": name });
    match result {
        Ok(result) => {
            let result = serde_json::to_value(result)?;
            for member in members {
                answer[*member] = result.get(*member).cloned().unwrap_or_default();
            }
        }
        Err(ServiceError::McpError(error)) => {
            answer["error"] = json!({ "code": error.code.0, "message": error.message });
        }
        Err(error) => return Err(error.into()),
    }
    Ok(answer)
}

fn object(arguments: &Value) -> Result<Map<String, Value>, Box<dyn Error>> {
    arguments.as_object().cloned().ok_or_else(|| format!("no object: {arguments}").into())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
