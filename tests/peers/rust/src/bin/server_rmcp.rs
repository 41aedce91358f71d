//! The smallest rmcp server worth measuring against: one tool, `add_numbers`, over Streamable HTTP on /mcp without
//! sessions and with JSON answers. `server_rmcp PORT` prints the address it listens on; port 0 takes a free one.

use std::error::Error;
use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

const NAME: &str = "add_numbers";

#[derive(Clone)]
struct Adder {
    tool: Tool,
}

impl Adder {
    fn new() -> Self {
        let number = json!({ "type": "integer" });
        let input = json!({ "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"] });
        let schema = input.as_object().cloned().unwrap_or_default();
        Self { tool: Tool::new(NAME, "Adds two integers; the result is structured.", Arc::new(schema)) }
    }
}

impl ServerHandler for Adder {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("peer-rmcp", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == NAME).then(|| self.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != NAME {
            return Err(ErrorData::invalid_params(format!("no tool {}", request.name), None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let sum = number(&arguments, "a")?.checked_add(number(&arguments, "b")?);
        let sum = sum.ok_or_else(|| ErrorData::invalid_params("the sum is too large", None))?;
        Ok(CallToolResult::structured(json!({ "sum": sum })).into())
    }
}

fn number(arguments: &Map<String, Value>, name: &str) -> Result<i64, ErrorData> {
    let number = arguments.get(name).and_then(Value::as_i64);
    number.ok_or_else(|| ErrorData::invalid_params(format!("`{name}` is no integer"), None))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: server_rmcp PORT")?.parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", listener.local_addr()?);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None);
    let adder = Adder::new();
    let service: StreamableHttpService<Adder, NeverSessionManager> =
        StreamableHttpService::new(move || Ok(adder.clone()), Arc::default(), config);
    let router = axum::Router::new().nest_service("/mcp", service);
    // Without this an answer in two writes waits for the peer's delayed acknowledgement.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
