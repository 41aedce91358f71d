//! What is measured: the table of requests with their budgets, and the raised limits, so that the limiter is measured
//! but never triggered. A new row is one entry here.

/// A request that the product and the floor answer with the same bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario<'a> {
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'a str,
    /// Further headers, each with its line end.
    pub(crate) headers: &'static str,
    pub(crate) body: &'static str,
    /// A text that a correct response contains, checked once before the measurement.
    pub(crate) answer_contains: &'static str,
    pub(crate) connections: &'static [usize],
    pub(crate) budget: CpuBudget,
}

/// The budget of the server's CPU per request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CpuBudget {
    /// A multiple of the floor's CPU for the same response.
    TimesFloor(f64),
    /// In microseconds, with a minimum of requests per second: there is no floor for the other work of the request.
    Micros { most: f64, per_second: f64 },
}

pub(crate) const SCENARIOS: &[Scenario<'static>] = &[
    Scenario {
        name: "POST /api/tools/add_numbers",
        method: "POST",
        path: "/api/tools/add_numbers",
        headers: "",
        body: r#"{"arguments":{"a":3,"b":7}}"#,
        answer_contains: "10",
        connections: &[32, 64],
        budget: CpuBudget::TimesFloor(3.0),
    },
    Scenario {
        name: "durable message to starter",
        method: "POST",
        path: "/api/agents/starter/message",
        headers: "",
        body: r#"{"parts":[{"data":{"tool":"add_numbers","arguments":{"a":3,"b":7}}}]}"#,
        answer_contains: "add_numbers-result",
        connections: &[64],
        budget: CpuBudget::Micros { most: 80.0, per_second: 10_000.0 },
    },
    MCP_MODERN,
    MCP_LEGACY,
];

/// A call of MCP as the modern era makes it.
pub(crate) const MCP_MODERN: Scenario<'static> = Scenario {
    name: "tools/call on /mcp, 2026-07-28",
    method: "POST",
    path: "/mcp",
    headers: "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
              mcp-method: tools/call\r\nmcp-name: add_numbers\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_numbers","arguments":{"a":3,"b":7},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    answer_contains: "10",
    connections: &[32],
    budget: CpuBudget::TimesFloor(2.0),
};

/// A call of MCP as the legacy era makes it, without a session.
pub(crate) const MCP_LEGACY: Scenario<'static> = Scenario {
    name: "tools/call on /mcp, 2025-11-25",
    headers: "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_numbers","arguments":{"a":3,"b":7}}}"#,
    ..MCP_MODERN
};

/// A long list, which only has to be sent.
pub(crate) const MCP_LIST: Scenario<'static> = Scenario {
    name: "tools/list of 1,000 tools",
    headers: "accept: application/json\r\nmcp-protocol-version: 2025-11-25\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
    answer_contains: "openfang_agent_a0500",
    budget: CpuBudget::TimesFloor(2.0),
    ..MCP_MODERN
};

/// A call of an upstream's tool through the gateway, in the modern era.
pub(crate) const GATEWAY_MODERN: Scenario<'static> = Scenario {
    name: "tools/call on /mcp/servers, 10,000 tools against 10",
    path: "/mcp/servers/up",
    headers: "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
              mcp-method: tools/call\r\nmcp-name: echo\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    answer_contains: "hello",
    ..MCP_MODERN
};

/// The same in the legacy era, without a session.
pub(crate) const GATEWAY_LEGACY: Scenario<'static> = Scenario {
    name: "  2025-11-25",
    headers: MCP_LEGACY.headers,
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#,
    ..GATEWAY_MODERN
};

/// The same through the aggregated endpoint.
pub(crate) const GATEWAY_PREFIXED: Scenario<'static> = Scenario {
    name: "  on /mcp",
    path: "/mcp",
    headers: "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
              mcp-method: tools/call\r\nmcp-name: mcp_up_echo\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_up_echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ..GATEWAY_MODERN
};

/// A message that calls a tool and is answered when its task is done and stored.
pub(crate) const A2A_SEND: Scenario<'static> = Scenario {
    name: "SendMessage on /a2a, durable",
    method: "POST",
    path: "/a2a",
    headers: "a2a-version: 1.0\r\n",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"00000000-0000-0000-0000-000000000000","role":"ROLE_USER","parts":[{"data":{"tool":"add_numbers","arguments":{"a":3,"b":7}}}]}}}"#,
    answer_contains: "add_numbers-result",
    connections: &[64],
    budget: CpuBudget::Micros { most: 80.0, per_second: 10_000.0 },
};

/// The first page of the tasks.
pub(crate) const A2A_LIST: Scenario<'static> = Scenario {
    name: "ListTasks",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#,
    answer_contains: "nextPageToken",
    ..A2A_SEND
};

/// A message to an agent that repeats it.
pub(crate) const REMOTE_SEND: Scenario<'static> = Scenario {
    name: "SendMessage to an agent",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"00000000-0000-0000-0000-000000000000","role":"ROLE_USER","parts":[{"text":"hello"}]}}}"#,
    answer_contains: "hello",
    ..A2A_SEND
};

/// The same agent as a tool.
pub(crate) const BRIDGE_CALL: Scenario<'static> = Scenario {
    name: "tools/call of an A2A agent",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a2a_echo","arguments":{"message":"hello"}}}"#,
    answer_contains: "hello",
    ..MCP_LEGACY
};

/// The same agent, which speaks 1.0, for a client of 0.3.
pub(crate) const BRIDGE_OLD_CLIENT: Scenario<'static> = Scenario {
    name: "message/send to an A2A agent",
    path: "/a2a/agents/echo",
    headers: "",
    body: r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"00000000-0000-0000-0000-000000000000","role":"user","parts":[{"kind":"text","text":"hello"}]},"configuration":{"blocking":true}}}"#,
    answer_contains: "hello",
    ..A2A_SEND
};

/// A run of an agent with a model, whose provider answers at once.
pub(crate) const AGENT_WORK: Scenario<'static> = Scenario {
    name: "a run of an agent with a model",
    path: "/api/agents/thinker/message",
    headers: "",
    body: r#"{"text":"steps 49 of 00000000-0000-0000-0000-000000000000"}"#,
    answer_contains: "Done.",
    ..A2A_SEND
};

/// Requests to the provider in such a run.
pub(crate) const AGENT_STEPS: usize = 50;
/// CPU and commits of one of them, with everything durable and audited.
pub(crate) const AGENT_STEP_BUDGET: f64 = 300.0;
pub(crate) const AGENT_COMMITS_BUDGET: f64 = 2.0;
/// The part of a request, in percent, that the next one must repeat.
pub(crate) const AGENT_PREFIX_BUDGET: f64 = 99.0;
/// How much later than from the provider the first words may reach the client, in the median and for the slowest.
pub(crate) const AGENT_FIRST_DELTA_BUDGET_MS: [f64; 2] = [3.0, 15.0];
/// Runs that wait for their provider at the same time, and the memory of each.
pub(crate) const AGENT_WAITING: usize = 1_000;
pub(crate) const AGENT_WAIT_BUDGET_KB: f64 = 40.0;

/// CPU of a bridged call, with everything durable and audited.
pub(crate) const BRIDGE_BUDGET: f64 = 150.0;
/// How much later than from the agent itself its answer may come, in the median and for the slowest.
pub(crate) const BRIDGE_LATER_BUDGET_MS: [f64; 2] = [1.0, 5.0];
/// Tasks that are canceled at the same time, and how soon their agent must be told.
pub(crate) const BRIDGE_CANCELS: usize = 100;
pub(crate) const BRIDGE_CANCEL_BUDGET_MS: f64 = 1_000.0;
/// How late an event of a remote agent may reach its client, and the memory of its stream.
pub(crate) const BRIDGE_STREAM_BUDGET_MS: f64 = 20.0;
pub(crate) const BRIDGE_MEMORY_BUDGET_KIB: f64 = 48.0;
/// External agents that are configured, and how many of them are dead.
pub(crate) const CROWD: [usize; 2] = [1_000, 950];
/// What they may cost at the start, how long the living ones may take to be known, and the memory of all.
pub(crate) const CROWD_START_BUDGET_MS: f64 = 50.0;
pub(crate) const CROWD_FOUND_BUDGET_S: f64 = 60.0;
pub(crate) const CROWD_MEMORY_BUDGET_MB: f64 = 20.0;

/// The part of a config that A2A needs.
pub(crate) const A2A_CONFIG: &str = "[a2a]\nenabled = true\n";
/// CPU of a durable send, against a server of the official SDK that keeps tasks in memory.
pub(crate) const A2A_SDK_BUDGET: f64 = 1.8;
/// How much dearer a task and a page of them may be among many tasks.
pub(crate) const TASK_GROWTH_BUDGET: f64 = 1.3;
/// Streams that are open at the same time: few, and many.
pub(crate) const STREAMS: [usize; 2] = [50, 5_000];
/// Events a second on all of them together.
pub(crate) const STREAM_EVENTS_PER_SECOND: usize = 1_000;
/// How much later an event may arrive where many streams are open.
pub(crate) const STREAM_LATENCY_BUDGET: f64 = 3.0;
/// Resident memory with many streams.
pub(crate) const STREAM_MEMORY_BUDGET_MB: f64 = 150.0;

/// CPU of a call handed through, against another gateway's, by the number of connections.
pub(crate) const GATEWAY_BUDGETS: [(usize, f64); 2] = [(32, 0.6), (1, 0.9)];
/// CPU of a call through the aggregated endpoint, against the same call handed through.
pub(crate) const AGGREGATE_BUDGET: f64 = 1.25;
/// Upstreams with few tools and with many, and how much dearer a call may be among many.
pub(crate) const FEW_TOOLS: usize = 10;
pub(crate) const MANY_TOOLS: usize = 10_000;
pub(crate) const TOOL_GROWTH_BUDGET: f64 = 1.3;
/// An upstream as one is used, and resident memory with it.
pub(crate) const UPSTREAM_TOOLS: usize = 100;
pub(crate) const UPSTREAM_MEMORY_BUDGET_MB: f64 = 30.0;
/// What memory may grow by with many tools, in multiples of the bytes of their definitions.
pub(crate) const TOOL_MEMORY_BUDGET: f64 = 3.0;
/// How much longer calls of a good upstream may wait beside bad ones.
pub(crate) const FAIRNESS_BUDGET: f64 = 1.5;

/// Against the official SDK with the same tool: with everything on, and with reads left out of the audit log.
pub(crate) const RMCP_BUDGETS: [f64; 2] = [0.75, 0.5];

/// Resident memory with ten thousand legacy sessions.
pub(crate) const SESSIONS: usize = 10_000;
pub(crate) const SESSIONS_MEMORY_BUDGET_MB: f64 = 60.0;
/// From the start of `openfang mcp` to its answer to `initialize`.
pub(crate) const STDIO_BUDGET_MS: f64 = 50.0;

/// How much slower the store may be with many tasks than with few.
pub(crate) const STORE_GROWTH_BUDGET: f64 = 1.3;

/// Resident memory of a server that nobody has talked to.
pub(crate) const IDLE_MEMORY_BUDGET_MB: f64 = 20.0;

/// The credential that every request carries: auth is part of what is measured.
pub(crate) const API_KEY: &str = "bench-key-0123456789abcdef";

/// Keys of `[limits]` that differ from their defaults, shown with every report.
pub(crate) const RAISED_LIMITS: &[(&str, u32)] = &[
    ("rate_per_principal", 10_000_000),
    ("rate_per_principal_burst", 10_000_000),
    ("live_tasks_per_owner", 20_000),
    ("streams_per_owner", 10_000),
    ("connections", 10_000),
];

/// The same of `[storage]`.
pub(crate) const RAISED_STORAGE: &[(&str, u32)] = &[("finished_tasks", 10_000_000), ("owner_bytes", u32::MAX)];

/// The `config.toml` of the measured server.
pub(crate) fn config(more: &str) -> String {
    let lines = |raised: &[(&str, u32)]| raised.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let (limits, storage): (String, String) = (lines(RAISED_LIMITS), lines(RAISED_STORAGE));
    let listen = format!("api_listen = \"127.0.0.1:0\"\napi_key = \"{API_KEY}\"\n");
    format!("{listen}\n[limits]\n{limits}\n[storage]\n{storage}\n{more}")
}
