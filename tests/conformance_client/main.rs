//! The client that the official conformance suite drives: it does what a scenario wants, by `openfang_mcp::client` alone.
//!
//! The suite starts it with the URL of its server as the last argument, and says in the environment which scenario it
//! is and what the scenario needs. It does the same in every scenario as far as it can: connect, list, call.

#[path = "answers.rs"]
mod answers;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use openfang_egress::http::{HttpConfig, HttpDoor};
use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{
    ClientError, Connecting, Connection, Endpoint, Mirror, OutgoingRequest, RawMembers, Silent, Step, connect,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

type Failure = Box<dyn std::error::Error>;

/// Far above what any scenario takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// A server that asks more often than this in one call asks for ever.
const ROUNDS: usize = 10;

#[expect(clippy::print_stderr, reason = "the suite shows what its client says there")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance_client: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("the suite gives a URL")?;
    let scenario = variable("MCP_CONFORMANCE_SCENARIO").ok_or("the suite names a scenario")?;
    let tracker = TaskTracker::new();
    let server = Server::at(&url, &tracker).await?;
    match scenario.as_str() {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {}
        "tools_call" => drop(server.call("add_numbers", &json!({"a": 5, "b": 3})).await?),
        "elicitation-sep1034-client-defaults" | "sse-retry" | "sep-2322-client-request-state" => {
            server.call_all(&json!({})).await?;
        }
        "http-invalid-tool-headers" => server.call_all(&json!({"region": "us-west1"})).await?,
        "http-standard-headers" => {
            server.call_all(&json!({})).await?;
            server.read_and_get_all().await?;
        }
        "http-custom-headers" => server.call_as_told().await?,
        "json-schema-2020-12-preservation" => {
            let schema = server.tools.get("json_schema_2020_12_tool").ok_or("there is no such tool")?;
            server.call("json_schema_echo", &json!({"schema": schema.schema})).await?;
        }
        other => return Err(format!("the scenario {other} is not known").into()),
    }
    server.connection.close("the scenario is over");
    tracker.close();
    tracker.wait().await;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the suite says in the environment what it wants")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The server of the suite, and its tools that can be called.
struct Server {
    connection: Connection,
    tools: BTreeMap<String, Tool>,
}

struct Tool {
    schema: Box<RawValue>,
    mirror: Mirror,
}

impl Server {
    async fn at(url: &str, tracker: &TaskTracker) -> Result<Self, Failure> {
        let door = HttpDoor::new(HttpConfig::default())?;
        let endpoint = Endpoint::Url { url: door.guard().operator(url)?, door, headers: Vec::new() };
        let everything = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
        let connection = connect(Connecting {
            endpoint,
            redactor: std::sync::Arc::default(),
            only: None,
            known: None,
            declared: ClientCapabilities::read(&raw(&everything)?),
            patience: PATIENCE,
            tracker: tracker.clone(),
            counts: std::sync::Arc::default(),
        })
        .await
        .map_err(|(error, _)| error)?;
        let mut server = Self { connection, tools: BTreeMap::new() };
        server.list_tools().await?;
        Ok(server)
    }

    /// Keeps the tools that can be called: one with a bad mark cannot, and takes no other with it.
    async fn list_tools(&mut self) -> Result<(), Failure> {
        #[derive(Deserialize)]
        struct Listed {
            tools: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            name: String,
            #[serde(rename = "inputSchema")]
            schema: Box<RawValue>,
        }
        let listed = self.connection.ask("tools/list", RawMembers::none(), PATIENCE).await?;
        for Entry { name, schema } in serde_json::from_str::<Listed>(listed.get())?.tools {
            if let Ok(mirror) = Mirror::of(&schema) {
                self.tools.insert(name, Tool { schema, mirror });
            }
        }
        Ok(())
    }

    async fn call_all(&self, arguments: &Value) -> Result<(), Failure> {
        for name in self.tools.keys() {
            self.call(name, arguments).await?;
        }
        Ok(())
    }

    /// Makes the calls that the suite gives along.
    async fn call_as_told(&self) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Context {
            tool_calls: Vec<Call>,
        }
        #[derive(Deserialize)]
        struct Call {
            name: String,
            arguments: Value,
        }
        let context = variable("MCP_CONFORMANCE_CONTEXT").ok_or("the suite gives calls along")?;
        for call in serde_json::from_str::<Context>(&context)?.tool_calls {
            self.call(&call.name, &call.arguments).await?;
        }
        Ok(())
    }

    /// Reads every resource and gets every prompt.
    async fn read_and_get_all(&self) -> Result<(), Failure> {
        let resources = self.list("resources/list", "resources", "uri").await?;
        for uri in &resources {
            let members = RawMembers::none().with("uri", uri);
            self.request(OutgoingRequest {
                named: Some(uri),
                ..OutgoingRequest::new("resources/read", members, PATIENCE)
            })
            .await?;
        }
        for name in &self.list("prompts/list", "prompts", "name").await? {
            let members = RawMembers::none().with("name", name);
            self.request(OutgoingRequest {
                named: Some(name),
                ..OutgoingRequest::new("prompts/get", members, PATIENCE)
            })
            .await?;
        }
        Ok(())
    }

    async fn list(&self, method: &str, member: &str, name: &str) -> Result<Vec<String>, Failure> {
        let listed = self.connection.ask(method, RawMembers::none(), PATIENCE).await?;
        let listed: Value = serde_json::from_str(listed.get())?;
        let entries = listed[member].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(entries.iter().filter_map(|entry| entry[name].as_str()).map(str::to_owned).collect())
    }

    /// Calls a tool, and answers whatever it asks, in either era.
    async fn call(&self, name: &str, arguments: &Value) -> Result<Box<RawValue>, Failure> {
        let tool = self.tools.get(name).ok_or_else(|| format!("there is no tool {name}"))?;
        let arguments = raw(arguments)?;
        let mut more = RawMembers::none();
        for _ in 0..ROUNDS {
            let members = more.with("name", name).with("arguments", &*arguments);
            let asked = OutgoingRequest {
                named: Some(name),
                mirrored: tool.mirror.headers(Some(&arguments)),
                takes_questions: true,
                ..OutgoingRequest::new("tools/call", members, PATIENCE)
            };
            let result = self.request(asked).await?;
            match answers::wanted(&result)? {
                Some(answers) => more = answers,
                None => return Ok(result),
            }
        }
        Err(format!("{name} asks for ever").into())
    }

    /// Makes a request; questions of a legacy server are answered while it runs.
    async fn request(&self, asked: OutgoingRequest<'_>) -> Result<Box<RawValue>, Failure> {
        let mut ongoing = self.connection.begin(asked)?;
        loop {
            match ongoing.advance(&Silent).await? {
                Step::Done(result) => return Ok(result),
                Step::OutgoingRequest(questions) => {
                    for question in questions {
                        let params = question.params.as_deref().map(RawValue::get).unwrap_or("{}");
                        let answer = raw(&answers::to(&question.method, &serde_json::from_str(params)?))?;
                        self.connection.reply(&question, Ok(&answer)).await?;
                    }
                }
            }
        }
    }
}

fn raw(value: &Value) -> Result<Box<RawValue>, ClientError> {
    serde_json::value::to_raw_value(value).map_err(|error| ClientError::Start(error.to_string()))
}
