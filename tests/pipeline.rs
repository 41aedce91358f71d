//! What the guards do with a call, whoever makes it.

use std::time::Duration;

use openfang_kernel::{KernelError, ToolError};
use openfang_testkit::probes::Probe;
use openfang_testkit::{TestHome, callers};
use openfang_types::config::Config;
use openfang_types::limits::Limits;
use serde_json::json;

use crate::support::call;

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_the_place_and_the_tool_does_not_run() {
    let home = TestHome::new();
    let probe = Probe::say("hi");
    let kernel = home.boot().tool(probe.boxed()).start().unwrap();
    let admin = callers::admin(&kernel);

    let bad = [
        json!({"text": 1}),
        json!({"other": "x"}),
        json!({"text": "x".repeat(1001)}),
        json!([]),
        json!("x"),
        json!(null),
    ];
    for arguments in bad {
        let error = call(&kernel, &admin, "probe_say", arguments.clone()).await.unwrap_err();
        assert!(matches!(error, KernelError::Tool(ToolError::InvalidArguments { .. })), "{arguments}: {error}");
    }
    assert_eq!(probe.calls(), 0);
    let error = call(&kernel, &admin, "probe_say", json!({"text": 1})).await.unwrap_err().to_string();
    assert!(error.contains("at /text: 1 is not of type \"string\""), "{error}");
}

#[tokio::test]
async fn add_numbers_is_exact_and_says_when_it_cannot_be() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let rows = [
        (json!({"a": 3, "b": 7}), "10"),
        (json!({"a": 9_007_199_254_740_993_i64, "b": 1}), "9007199254740994"),
        (json!({"a": 0.5, "b": 0.25}), "0.75"),
        (json!({"a": i64::MAX, "b": 1}), "9223372036854775808"),
        (json!({"a": -3, "b": 1.5}), "-1.5"),
    ];
    for (arguments, expected) in rows {
        let output = call(&kernel, &admin, "add_numbers", arguments).await.unwrap();
        assert_eq!((output.joined_text().as_str(), output.is_error), (expected, false));
    }
    let overflow = call(&kernel, &admin, "add_numbers", json!({"a": u64::MAX, "b": u64::MAX})).await.unwrap();
    assert!(overflow.is_error && overflow.joined_text().contains("out of range"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_answers_is_ended_by_its_time() {
    let home = TestHome::new();
    let kernel = home.boot().tool(Probe::hang().boxed()).start().unwrap();

    let error = call(&kernel, &callers::admin(&kernel), "probe_hang", json!({})).await.unwrap_err();

    let after = Duration::from_secs(60);
    assert_eq!(error, KernelError::Tool(ToolError::TimedOut { tool: "probe_hang".parse().unwrap(), after }));
}

#[tokio::test]
async fn a_tool_that_panics_is_one_error_and_the_next_call_works() {
    let home = TestHome::new();
    let kernel = home.boot().tool(Probe::panic().boxed()).start().unwrap();
    let admin = callers::admin(&kernel);

    let error = call(&kernel, &admin, "probe_panic", json!({})).await.unwrap_err();
    assert!(matches!(error, KernelError::Tool(ToolError::Panicked(_))), "{error}");
    assert!(call(&kernel, &admin, "add_numbers", json!({"a": 1, "b": 2})).await.is_ok());
}

#[tokio::test]
async fn a_long_result_is_cut_with_a_marker() {
    let home = TestHome::new();
    let config = Config { limits: Limits { tool_result_chars: 10, ..Limits::default() }, ..Config::default() };
    let kernel = home.boot_with(config).tool(Probe::say(&"ä".repeat(25)).boxed()).start().unwrap();

    let output = call(&kernel, &callers::admin(&kernel), "probe_say", json!({})).await.unwrap();

    let said = output.joined_text();
    assert!(said.starts_with(&format!("{}\n[truncated: 20 more characters; read on", "ä".repeat(5))), "{said}");
}

#[tokio::test]
async fn every_built_in_tool_has_a_description_a_closed_schema_and_an_example_of_use() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let tools = kernel.available_tools(&callers::operator(&kernel), None).unwrap();

    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let expected = [
        "a2a_discover",
        "a2a_send",
        "add_numbers",
        "agent_find",
        "agent_list",
        "agent_send",
        "current_time",
        "event_publish",
        "file_list",
        "file_read",
        "file_write",
        "get_counter",
        "get_greeting",
        "image_analyze",
        "is_admin",
        "memory_recall",
        "memory_store",
        "result_read",
        "schedule_create",
        "schedule_delete",
        "schedule_list",
        "shell_exec",
        "task_claim",
        "task_complete",
        "task_list",
        "task_post",
        "web_fetch",
        "web_search",
    ];
    assert_eq!(names, expected);
    for tool in &tools {
        assert!(tool.description.ends_with('.'), "{}", tool.name);
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
    }
}

#[tokio::test]
async fn the_starter_tools_say_what_they_know() {
    let home = TestHome::new();
    let kernel = home.kernel();
    let admin = callers::admin(&kernel);
    let text = async |tool: &str, arguments| call(&kernel, &admin, tool, arguments).await.unwrap().joined_text();

    assert_eq!(text("get_greeting", json!({})).await, "Hello, world!");
    assert_eq!(text("is_admin", json!({})).await, "true");
    assert_eq!([text("get_counter", json!({})).await, text("get_counter", json!({})).await], ["1", "2"]);
    assert!(text("current_time", json!({"zone": "Europe/Berlin"})).await.contains("+0"));
    let nowhere = call(&kernel, &admin, "current_time", json!({"zone": "Mars/Base"})).await.unwrap();
    assert!(nowhere.is_error && nowhere.joined_text().contains("no time zone"));
    let local = call(&kernel, &callers::local(&kernel), "is_admin", json!({})).await.unwrap();
    assert_eq!(local.joined_text(), "false");
}
