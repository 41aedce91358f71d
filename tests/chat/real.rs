//! A chat with a real small model. Its words are its own, so only what follows from the protocol is asserted.

use super::fixture::{Terminal, home_with};
use crate::support::peers::models::LlamaServer;

/// The first answer of each turn calls a tool, so that a small model does too.
const MODEL: &str = "max_tokens = 60\ntool_choice = \"required\"";

#[test]
fn a_real_model_streams_calls_a_tool_waits_for_an_approval_and_goes_on_after_kills() {
    let server = LlamaServer::start();
    let openfang = home_with(&server.url(), "smollm2", MODEL);
    openfang.write(
        "agents/thinker/agent.toml",
        &std::fs::read_to_string(openfang.home().join("agents/thinker/agent.toml"))
            .unwrap()
            .replace("\"add_numbers\", ", ""),
    );
    let mut daemon = openfang.start();
    while openfang.run(&["tool", "show", "mcp_quick_hello"]).code != 0 {
        std::thread::yield_now();
    }
    let mut chat = Terminal::open(&openfang, "thinker");
    chat.say("Say hello with the tool.");
    chat.wait_for("mcp_quick_hello(");
    chat.wait_for(" ms");
    chat.wait_for(" out, ");
    chat.say("Say it once more with the tool.");
    chat.wait_for("waits for your approval");
    chat.wait_for("y / n / show: ");

    chat.kill();
    daemon.signal("KILL");
    daemon.wait();
    let _daemon = openfang.start();
    let mut chat = Terminal::open(&openfang, "thinker --continue");

    chat.wait_for("> Say it once more with the tool.");
    chat.wait_for("y / n / show: ");
    chat.press("y\r");
    chat.wait_for("mcp_quick_hello(");
    chat.wait_for(" out, ");
    chat.wait_for("thinker> ");
    chat.press("\x04");
    let (code, shown) = chat.left();
    assert_eq!(code, 0, "{shown}");
}
