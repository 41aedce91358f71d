//! What an agent answers, as one result.

use openfang_testkit::{TestHome, TestServer};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::{Value, json};

use super::wire::{ask_modern, request, session, texts};

/// What `agent` answers over MCP, in both eras.
async fn answers(home: &TestHome, limits: Limits) -> [Value; 2] {
    let config = Config { limits, ..crate::http::any_port() };
    let server = TestServer::start(home.boot_with(config).start().unwrap()).await;
    let call = json!({"name": "openfang_agent_talks", "arguments": {"message": "go on"}});
    let modern = ask_modern(&server.client(), "tools/call", call.clone()).await.json();
    let client = session(&server.client(), "2025-11-25", json!({})).await;
    let legacy = client.post("/mcp", &request(2, "tools/call", call)).await.json();
    server.stop().await;
    [modern["result"].clone(), legacy["result"].clone()]
}

fn talking(chunks: usize, chunk: &str) -> TestHome {
    let steps = format!("{{ chunk = {} }}, ", Value::from(chunk)).repeat(chunks);
    TestHome::new().with_script("talks", &[], &format!("[[rules]]\nsteps = [{steps}]"))
}

#[tokio::test]
async fn an_answer_that_came_in_pieces_is_one_text() {
    for result in answers(&talking(100, "piece "), Limits::default()).await {
        assert_eq!(texts(&result), ["piece ".repeat(100)]);
        assert_ne!(result["isError"], true);
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_cut_like_any_result() {
    let limits = Limits { tool_result_chars: 20, ..Limits::default() };
    for result in answers(&talking(10, "0123456789"), limits).await {
        let said = texts(&result).concat();
        let begin = "0123456789\n[truncated: 90 more characters; all of it is at openfang://tasks/";
        assert!(said.starts_with(begin), "{said}");
    }
}
