//! A house that is connected to MCP servers, and servers to connect to.

use std::path::PathBuf;
use std::time::Duration;

use openfang_kernel::mcp_control::McpServerView;
use openfang_kernel::{Boot, Caller, Kernel, KernelError};
use openfang_testkit::{TestHome, TestServer, callers};
use openfang_types::config::{Config, McpServerConfigEntry, McpTransportEntry};
use openfang_types::content::ToolOutput;
use openfang_types::ids::ServerName;
use openfang_types::limits::Limits;
use openfang_types::mcp_status::McpServerState;
use serde_json::{Value, json};

use crate::support::peers::PeerServer;

/// Long enough for a loaded machine; nothing waits for it when things go well.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);
/// How often somebody looks whether something has happened.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A house with a direct agent, `hand`, that may use every tool of every MCP server.
pub(super) struct House {
    pub(super) home: TestHome,
    pub(super) server: TestServer,
}

impl House {
    /// A fresh house, connected to these.
    pub(super) async fn with(entries: impl IntoIterator<Item = McpServerConfigEntry>) -> Self {
        Self::on(TestHome::new().with_direct("hand", &["mcp_*"]), entries).await
    }

    /// This house, connected to these.
    pub(super) async fn on(home: TestHome, entries: impl IntoIterator<Item = McpServerConfigEntry>) -> Self {
        Self::furnished(home, entries, |boot| boot).await
    }

    /// This house, connected to these, and with something more.
    pub(super) async fn furnished(
        home: TestHome,
        entries: impl IntoIterator<Item = McpServerConfigEntry>,
        more: impl FnOnce(Boot) -> Boot,
    ) -> Self {
        let config = Config { mcp_servers: entries.into_iter().collect(), ..crate::http::any_port() };
        Self::configured(home, config, more).await
    }

    /// This house with this configuration, and with something more.
    pub(super) async fn configured(home: TestHome, config: Config, more: impl FnOnce(Boot) -> Boot) -> Self {
        let kernel = more(home.boot_with(config).helper(helper())).start().unwrap();
        kernel.connect_mcp_servers();
        Self { home, server: TestServer::start(kernel).await }
    }

    /// A fresh house with these limits, connected to these.
    pub(super) async fn limited(limits: Limits, entries: impl IntoIterator<Item = McpServerConfigEntry>) -> Self {
        let home = TestHome::new().with_direct("hand", &["mcp_*"]);
        let config = Config { mcp_servers: entries.into_iter().collect(), limits, ..crate::http::any_port() };
        let kernel = home.boot_with(config).helper(helper()).start().unwrap();
        kernel.connect_mcp_servers();
        Self { home, server: TestServer::start(kernel).await }
    }

    /// A fresh house, connected to this one and to a good one, `neighbour`.
    pub(super) async fn beside(entry: McpServerConfigEntry) -> Self {
        Self::with([entry, odd("neighbour", &[])]).await
    }

    /// Whatever one server does, calls of the other one are answered.
    pub(super) async fn neighbour_works(&self) {
        self.ready("neighbour").await;
        assert_eq!(self.says("mcp_neighbour_echo", json!({"text": "unharmed"})).await, "unharmed");
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.server.kernel
    }

    pub(super) fn operator(&self) -> Caller {
        callers::operator(self.kernel())
    }

    pub(super) fn status(&self, server: &str) -> McpServerView {
        self.kernel().mcp_server_details(&self.operator(), &named(server)).unwrap().connected
    }

    /// Waits until a server is as wanted.
    pub(super) async fn until(&self, server: &str, is_so: impl Fn(&McpServerView) -> bool) -> McpServerView {
        let begun = tokio::time::Instant::now();
        loop {
            let status = self.status(server);
            if is_so(&status) {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "{server} is still {status:?}\n{:?}", self.log(server));
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until a server can be used.
    pub(super) async fn ready(&self, server: &str) -> McpServerView {
        self.until(server, |status| matches!(status.state, McpServerState::Ready | McpServerState::Degraded))
            .await
    }

    /// Waits until a server is known to be down.
    pub(super) async fn failed(&self, server: &str) -> McpServerView {
        self.until(server, |status| status.state == McpServerState::Failed).await
    }

    pub(super) fn log(&self, server: &str) -> Vec<String> {
        self.kernel().mcp_server_log(&self.operator(), &named(server)).unwrap()
    }

    /// Connects to a server anew, and returns when it is ready or has failed.
    pub(super) async fn reconnect(&self, server: &str) -> McpServerView {
        self.kernel().restart_mcp_server(&self.operator(), &named(server)).await.unwrap()
    }

    /// Brings back tools that wait to be approved: one, or all. Returns which.
    pub(super) async fn approve(&self, server: &str, tool: Option<&str>) -> Vec<String> {
        let tool = tool.map(str::to_owned);
        self.kernel().approve_mcp_tools(&self.operator(), &named(server), tool).await.unwrap()
    }

    /// Calls a tool by the name that we list it under.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, KernelError> {
        crate::support::call(self.kernel(), &self.operator(), tool, arguments).await
    }

    /// Calls a tool, and returns what it says as text; a failure begins with an exclamation mark.
    pub(super) async fn says(&self, tool: &str, arguments: Value) -> String {
        match tokio::time::timeout(PATIENCE, self.call(tool, arguments)).await {
            Ok(Ok(output)) => format!("{}{}", if output.is_error { "!" } else { "" }, output.joined_text()),
            Ok(Err(error)) => format!("!{error}"),
            Err(_) => panic!("a call of {tool} hangs"),
        }
    }

    /// Makes a request in the newest revision.
    pub(super) async fn ask(&self, path: &str, method: &str, params: Value) -> Value {
        let mut messages = self.talk(path, method, params, json!({})).await;
        messages.pop().unwrap_or_else(|| panic!("no answer to {method} at {path}"))
    }

    /// Makes a request of a client with these capabilities in the newest revision; all that is said, the answer last.
    pub(super) async fn talk(&self, path: &str, method: &str, mut params: Value, capabilities: Value) -> Vec<Value> {
        const META: &str = "io.modelcontextprotocol";
        params["_meta"][format!("{META}/protocolVersion")] = json!("2026-07-28");
        params["_meta"][format!("{META}/clientCapabilities")] = capabilities;
        let client = self.server.client().with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        let name = ["name", "uri", "taskId"].iter().find_map(|member| params[*member].as_str());
        let client = name.map_or_else(|| client.clone(), |name| client.clone().with("mcp-name", name));
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = tokio::time::timeout(PATIENCE, client.post(path, &message)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{method} at {path} hangs"));
        match answer.header("content-type") {
            Some("text/event-stream") => events(&answer.body),
            _ => vec![answer.json()],
        }
    }

    /// Calls a tool through `/mcp` or `/mcp/servers/{name}`.
    pub(super) async fn call_at(&self, path: &str, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(path, "tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// The names of the tools that are listed there.
    pub(super) async fn names_at(&self, path: &str) -> Vec<String> {
        let answer = self.ask(path, "tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Lets everything go, and returns the home.
    pub(super) async fn close(self) -> TestHome {
        let kernel = self.server.kernel.clone();
        self.server.stop().await;
        kernel.close().await;
        self.home
    }
}

/// The messages of a stream of events.
fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

pub(super) fn named(server: &str) -> ServerName {
    server.parse().unwrap()
}

/// The binary that starts children for us.
pub(super) fn helper() -> PathBuf {
    env!("CARGO_BIN_EXE_openfang").into()
}

/// A server that is a program.
pub(super) fn program(name: &str, command: &[String]) -> McpServerConfigEntry {
    let (command, args) = command.split_first().unwrap();
    let transport = McpTransportEntry::Stdio { command: command.clone(), args: args.to_vec() };
    McpServerConfigEntry::new(named(name), transport)
}

/// A server at a URL.
pub(super) fn site(name: &str, url: String) -> McpServerConfigEntry {
    McpServerConfigEntry::new(named(name), McpTransportEntry::Http { url, headers: Default::default() })
}

/// A real server on stdio.
pub(super) fn real(name: &str, server: PeerServer) -> McpServerConfigEntry {
    program(name, &server.stdio())
}

/// A server with a tool for each way to misbehave; see `servers/peer.py`.
pub(super) fn odd(name: &str, options: &[&str]) -> McpServerConfigEntry {
    let script = script("peer.py");
    let command = ["/usr/bin/python3", "-B", &script].into_iter().chain(options.iter().copied());
    program(name, &command.map(str::to_owned).collect::<Vec<_>>())
}

/// The path of a file in `servers`.
pub(super) fn script(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/gateway/servers").join(name);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}
