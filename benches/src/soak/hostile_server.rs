//! MCP servers that mean harm, as child processes of the server under attack: `schemas` has tools whose schemas cost 2^60
//! steps to check, `noise` fills its standard output and standard error with lines that are no messages once its tool is
//! called, `late` answers late, and `asking` asks back before it answers.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

/// The server that asks back.
pub(super) const ASKING: &str = "asking";
/// All of them.
pub(super) const HOSTILE_SERVERS: [&str; 4] = ["schemas", "noise", "late", ASKING];
/// How late the late one answers.
const LATE: Duration = Duration::from_secs(20);
/// Steps of the chain; each one doubles the work.
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
            // The answer to a question; its id is the id of the call in a text.
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

/// Says it on a thread of its own, when its time has come.
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

/// Asks whoever called.
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

/// Every level of the value is tried twice, by a schema that is never right: the work doubles with each level.
fn nested_chain() -> Value {
    let branch = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "required": ["a"]});
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"anyOf": [branch, branch, {"type": "string", "maxLength": 0}]}}})
}

/// A value for the tool `nested`, so deep that the work is 2^60 steps.
pub(super) fn nested_value() -> Value {
    (0..CHAIN).fold(json!("wrong"), |inner, _| json!({"a": inner}))
}
