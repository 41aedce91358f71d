//! Hostile MCP servers, as child processes of the server under attack: `schemas` has tools whose schemas take 2^60
//! steps to check, `noise` fills stdout and stderr with invalid lines when its tool is called, `late` answers late, and
//! `asking` asks for input before it answers.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

/// The server that asks for input.
pub(super) const ASKING: &str = "asking";
pub(super) const HOSTILE_SERVERS: [&str; 4] = ["schemas", "noise", "late", ASKING];
/// The delay of the late server.
const LATE: Duration = Duration::from_secs(20);
/// The length of the chain; each step doubles the work.
const CHAIN: usize = 60;
/// Lines of noise for each call.
const NOISE_LINES: usize = 200_000;

/// The role: `hostile-server NAME`.
pub(crate) fn run(name: &str) -> Result<ExitCode> {
    let tools = match name {
        "schemas" => json!([tool("chain", reference_chain()), tool("nested", nested_chain())]),
        "noise" => json!([tool("shout", json!({"type": "object"}))]),
        "late" => json!([tool("wait", json!({"type": "object"}))]),
        ASKING => json!([tool("ask", json!({"type": "object"}))]),
        unknown => bail!("no hostile server is called `{unknown}`"),
    };
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        let Some(id) = message.get("id") else { continue };
        match (name, message["method"].as_str()) {
            // The answer to a question. Its id contains the id of the call.
            (ASKING, None) => {
                let call: Value = id.as_str().and_then(|id| serde_json::from_str(id).ok()).unwrap_or_default();
                say(&answer(&call, "tools/call", &Value::Null, &tools))?;
            }
            (_, None) => {}
            (ASKING, Some("tools/call")) => say(&question(id))?,
            ("late", Some("tools/call")) => say_late(answer(id, "tools/call", &Value::Null, &tools)),
            (_, Some(method)) => {
                if (name, method) == ("noise", "tools/call") {
                    make_noise()?;
                }
                say(&answer(id, method, &message["params"], &tools))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn say(message: &Value) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{message}")?;
    output.flush()
}

/// Sends the message later, on its own thread.
#[expect(clippy::disallowed_methods, reason = "this program has no runtime, and the thread has nothing else to do")]
fn say_late(message: Value) {
    std::thread::spawn(move || {
        std::thread::sleep(LATE);
        say(&message)
    });
}

fn make_noise() -> io::Result<()> {
    let (mut output, mut errors) = (io::stdout().lock(), io::stderr().lock());
    for number in 0..NOISE_LINES {
        writeln!(output, "noise {number}: this line is no message")?;
        writeln!(errors, "noise {number}: nobody asked for this line")?;
    }
    Ok(())
}

fn question(call: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": call.to_string(), "method": "elicitation/create", "params":
        {"message": "which?", "requestedSchema": {"type": "object", "properties": {}}}})
}

fn answer(id: &Value, method: &str, params: &Value, tools: &Value) -> Value {
    let result = match method {
        "initialize" => json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile", "version": "1"}}),
        "tools/list" => json!({"tools": tools}),
        "tools/call" => json!({"content": [{"type": "text", "text": "called"}]}),
        "ping" => json!({}),
        _ => return json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32_601, "message": "no such method"}}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn tool(name: &str, schema: Value) -> Value {
    json!({"name": name, "description": "Means harm.", "inputSchema": schema})
}

/// Every step refers to the next one twice.
fn reference_chain() -> Value {
    let mut steps = serde_json::Map::new();
    for number in 0..CHAIN {
        let next = json!({"$ref": format!("#/$defs/s{}", number + 1)});
        steps.insert(format!("s{number}"), json!({"allOf": [next, next]}));
    }
    steps.insert(format!("s{CHAIN}"), json!({"type": "object"}));
    json!({"type": "object", "allOf": [{"$ref": "#/$defs/s0"}], "$defs": steps})
}

/// Every level of the value is tried twice, by a schema that never matches: each level doubles the work.
fn nested_chain() -> Value {
    let branch = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "required": ["a"]});
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"anyOf": [branch, branch, {"type": "string", "maxLength": 0}]}}})
}

/// A value for the tool `nested`, deep enough for 2^60 steps.
pub(super) fn nested_value() -> Value {
    (0..CHAIN).fold(json!("wrong"), |inner, _| json!({"a": inner}))
}
