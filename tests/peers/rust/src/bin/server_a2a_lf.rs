//! The smallest server of the official Rust SDK worth measuring against: every message makes a completed task with one
//! artifact, kept in the SDK's own memory store, over JSON-RPC on /. `server_a2a_lf PORT` prints the address it listens
//! on; port 0 takes a free one.

use std::error::Error;
use std::sync::Arc;

use a2a::{A2AError, Artifact, Message, Part, StreamResponse, Task, TaskState, TaskStatus};
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore};
use axum::serve::ListenerExt;
use futures_util::stream::{self, BoxStream};
use serde_json::json;

struct Echo;

impl AgentExecutor for Echo {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let parts = vec![Part::data(json!({ "sum": 10 }))];
        let artifact = Artifact {
            artifact_id: a2a::new_artifact_id(),
            name: Some("add_numbers-result".to_owned()),
            description: None,
            parts,
            metadata: None,
            extensions: None,
        };
        task(context, TaskState::Completed, Some(vec![artifact]))
    }

    fn cancel(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        task(context, TaskState::Canceled, None)
    }
}

fn task(
    context: ExecutorContext,
    state: TaskState,
    artifacts: Option<Vec<Artifact>>,
) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
    let said = context.message.map(|message| Message {
        context_id: Some(context.context_id.clone()),
        task_id: Some(context.task_id.clone()),
        ..message
    });
    let task = Task {
        id: context.task_id,
        context_id: context.context_id,
        status: TaskStatus { state, message: None, timestamp: Some(std::time::SystemTime::now().into()) },
        artifacts,
        history: said.map(|message| vec![message]),
        metadata: None,
    };
    Box::pin(stream::once(async move { Ok(StreamResponse::Task(task)) }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: server_a2a_lf PORT")?.parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", listener.local_addr()?);
    let handler = DefaultRequestHandler::new(Echo, InMemoryTaskStore::new());
    let router = a2a_server::jsonrpc::jsonrpc_router(Arc::new(handler));
    // Without this an answer in two writes waits for the peer's delayed acknowledgement.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
