//! One call of a tool, through every interface: the command line, HTTP, MCP, an agent and A2A.

use openfang_testkit::http::Client;
use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::{A2aConfig, Config};
use openfang_types::limits::Limits;
use openfang_types::secret::Secret;
use serde_json::{Value, json};

use crate::a2a::wire::{fresh, request};
use crate::mcp::wire::ask_modern;
use crate::support::binary::Openfang;

const KEY: &str = "0123456789abcdef0123";

/// A server whose agent `allowed` may use every tool, and whose agent `other` may use none.
pub(super) struct Site {
    pub(super) home: TestHome,
    pub(super) server: TestServer,
    pub(super) client: Client,
}

/// A config with a key and A2A on a free port.
pub(super) fn config() -> Config {
    let a2a = A2aConfig { enabled: true, ..A2aConfig::default() };
    let limits = Limits { drain_secs: 0, ..Limits::default() };
    Config { a2a, limits, api_key: Some(Secret::new(KEY.to_owned())), ..crate::http::any_port() }
}

impl Site {
    pub(super) async fn start(config: Config) -> Self {
        let home = TestHome::new().with_direct("allowed", &["*"]).with_direct("other", &["get_*"]);
        let server =
            TestServer::start(home.boot_with(config).helper(env!("CARGO_BIN_EXE_openfang").into()).start().unwrap())
                .await;
        let client = server.client().bearer(KEY);
        Self { home, server, client }
    }

    /// What the tool says through each interface, with the name of the interface.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Vec<(&'static str, String)> {
        let rest = self.client.post(&format!("/api/tools/{tool}"), &json!({ "arguments": arguments })).await;
        let mcp = ask_modern(&self.client, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let line = format!("/{tool} {arguments}");
        let agent = self.client.post("/api/agents/allowed/message", &json!({ "text": line })).await;
        vec![("http", rest.body), ("mcp", mcp.body), ("agent", agent.body), ("a2a", self.a2a("allowed", &line).await)]
    }

    /// What those get who may not use the tool: callers without a credential, and an agent without the tool.
    pub(super) async fn call_refused(&self, tool: &str, arguments: &Value) -> Vec<(&'static str, String)> {
        let stranger = self.server.client();
        let rest = stranger.post(&format!("/api/tools/{tool}"), &json!({ "arguments": arguments })).await;
        let mcp = ask_modern(&stranger, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let line = format!("/{tool} {arguments}");
        let agent = self.client.post("/api/agents/other/message", &json!({ "text": line })).await;
        vec![("http", rest.body), ("mcp", mcp.body), ("agent", agent.body), ("a2a", self.a2a("other", &line).await)]
    }

    async fn a2a(&self, agent: &str, text: &str) -> String {
        let message = json!({ "messageId": fresh(), "role": "ROLE_USER", "parts": [{ "text": text }] });
        let client = self.client.clone().with("a2a-version", "1.0");
        client
            .post("/a2a", &request(1, "SendMessage", json!({ "tenant": agent, "message": message })))
            .await
            .body
    }

    pub(super) async fn stop(self) {
        self.server.stop().await;
    }
}

/// The command line in a home of its own, with this configuration.
pub(super) fn command_line(config: &str) -> Openfang {
    let openfang = Openfang::new();
    openfang.write("config.toml", config);
    openfang
}

/// What the tool prints at the command line, and the exit code.
pub(super) fn at_command_line(openfang: &Openfang, tool: &str, arguments: &Value) -> (i32, String) {
    let ran = openfang.run(&["tool", "call", tool, "--args", &arguments.to_string()]);
    (ran.code, ran.stdout + &ran.stderr)
}
