//! The agent of agent_a2a13.py on the official Rust SDK. `agent_a2a_lf PORT` prints the address it listens on; port 0 takes
//! a free one.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use a2a::{A2AError, AgentCapabilities, AgentCard, StreamResponse, TaskState};
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore, StaticAgentCard};
use axum::serve::ListenerExt;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};

const PAUSE: Duration = Duration::from_millis(50);
const CHUNKS: usize = 5;

type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

struct Agent;

impl AgentExecutor for Agent {
    fn execute(&self, context: ExecutorContext) -> Events {
        let said = context.message.as_ref().and_then(|message| message.text()).unwrap_or_default().to_owned();
        let has_asked =
            context.stored_task.as_ref().is_some_and(|task| task.status.state == TaskState::InputRequired);
        let turn = Turn { task: context.task_id, context: context.context_id };
        if said.starts_with("say") {
            return all(vec![json!({ "message": turn.message(&format!("said: {said}")) })]);
        }
        if has_asked {
            return all(vec![
                turn.status("WORKING", None),
                turn.chunk(&format!("chosen: {said}"), false, true),
                turn.status("COMPLETED", None),
            ]);
        }
        let mut events = vec![turn.begun(&context.message), turn.status("WORKING", Some("working on it"))];
        match said.split(' ').next() {
            Some("ask") => {
                events.push(turn.status("INPUT_REQUIRED", Some("which one?")));
                all(events)
            }
            Some("hang") => all(events).chain(stream::pending()).boxed(),
            Some("slow") => {
                let chunk = |number| turn.chunk(&format!("chunk {number};"), number > 0, number + 1 == CHUNKS);
                let mut later: Vec<Value> = (0..CHUNKS).map(chunk).collect();
                later.push(turn.status("COMPLETED", None));
                let later = stream::iter(later).then(|event| async {
                    tokio::time::sleep(PAUSE).await;
                    read(event)
                });
                all(events).chain(later).boxed()
            }
            _ => {
                events.extend([turn.chunk(&format!("echo: {said}"), false, true), turn.status("COMPLETED", None)]);
                all(events)
            }
        }
    }

    fn cancel(&self, context: ExecutorContext) -> Events {
        let turn = Turn { task: context.task_id, context: context.context_id };
        all(vec![turn.status("CANCELED", None)])
    }
}

/// The names of a task, and events about it as they are on the wire.
struct Turn {
    task: String,
    context: String,
}

impl Turn {
    fn message(&self, text: &str) -> Value {
        let id = format!("{}-{}", self.task, text.len());
        json!({ "messageId": id, "contextId": self.context, "role": "ROLE_AGENT", "parts": [{ "text": text }] })
    }

    fn begun(&self, message: &impl serde::Serialize) -> Value {
        let status = json!({ "state": "TASK_STATE_SUBMITTED" });
        json!({ "task": { "id": self.task, "contextId": self.context, "status": status, "history": [message] } })
    }

    fn status(&self, state: &str, says: Option<&str>) -> Value {
        let mut status = json!({ "state": format!("TASK_STATE_{state}") });
        if let Some(text) = says {
            status["message"] = self.message(text);
        }
        json!({ "statusUpdate": { "taskId": self.task, "contextId": self.context, "status": status } })
    }

    fn chunk(&self, text: &str, append: bool, is_last: bool) -> Value {
        let artifact = json!({ "artifactId": "out", "parts": [{ "text": text }] });
        json!({ "artifactUpdate": {
            "taskId": self.task, "contextId": self.context, "artifact": artifact, "append": append, "lastChunk": is_last,
        } })
    }
}

fn all(events: Vec<Value>) -> Events {
    stream::iter(events).map(read).boxed()
}

fn read(event: Value) -> Result<StreamResponse, A2AError> {
    serde_json::from_value(event).map_err(|error| A2AError::internal(error.to_string()))
}

fn card(url: &str) -> Result<AgentCard, serde_json::Error> {
    serde_json::from_value(json!({
        "name": "tried",
        "description": "Does what clients are tried with.",
        "version": "1",
        "supportedInterfaces": [{ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "capabilities": { "streaming": true },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{ "id": "echo", "name": "echo", "description": "Says it again.", "tags": ["echo"] }],
    }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: agent_a2a_lf PORT")?.parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    let card = card(&format!("http://{address}/"))?;
    let capabilities = AgentCapabilities { streaming: Some(true), ..AgentCapabilities::default() };
    let handler = DefaultRequestHandler::new(Agent, InMemoryTaskStore::new()).with_capabilities(capabilities);
    let router = a2a_server::jsonrpc::jsonrpc_router(Arc::new(handler))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card))));
    println!("{address}");
    // Without this an answer in two writes waits for the peer's delayed acknowledgement.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
